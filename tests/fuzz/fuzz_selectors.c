/* fuzz_selectors: any bytes as a device selector: compiled and, when that works, asked about a
 * device twice. What must hold: an answer within the cost limit and the memory given, the same both
 * times, and an error with a text whenever there is no verdict. */
#include "proto/base/must.h"
#include "scheduler/cel/cel.h"

#include <string.h>

static const struct cel_dialect dialect = {.release = 37};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct cel_attribute attributes[] = {
    {.name = {"a", 1}, .kind = CEL_ATTRIBUTE_bool, .truth = true},
    {.name = {"i", 1}, .kind = CEL_ATTRIBUTE_int, .number = 7},
    {.name = {"s", 1}, .kind = CEL_ATTRIBUTE_string, .text = {"abc", 3}},
    {.name = {"o.x/v", 5}, .kind = CEL_ATTRIBUTE_version, .text = {"1.2.3", 5}},
};
static const struct cel_capacity capacities[] = {{{"m", 1}, {"40Gi", 4}}};
static const struct cel_device device = {.driver = {"d.x", 3},
                                         .attributes = attributes,
                                         .attribute_count = 4,
                                         .capacities = capacities,
                                         .capacity_count = 1};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena kept, scratch = {.limit = 8u << 20};
    static const struct cel_subject *subject;
    struct cel_report first = {0}, second = {0};
    struct buffer error = {0};
    if (subject == NULL)
        subject = cel_subject_new(&kept, &device);
    struct cel_program *program =
        cel_compile(&dialect, (struct str){(const char *)data, (uint32_t)size}, &error);
    must((program == NULL) == (error.len > 0));
    if (program != NULL) {
        enum cel_verdict verdict = cel_match(program, subject, &scratch, &first);
        must((verdict == CEL_FAILED) == (first.error.at != NULL && first.error.len > 0));
        arena_reset(&scratch);
        must(cel_match(program, subject, &scratch, &second) == verdict);
        must(first.cost == second.cost);
        arena_reset(&scratch);
    }
    buffer_free(&error);
    cel_free(&program);
    return 0;
}
