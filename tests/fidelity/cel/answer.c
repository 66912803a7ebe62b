/* answer: the device selectors of scheduler/cel, asked as tests/fidelity/oracle/cel asks
 * upstream's: a JSON object a line with an expression and devices, an answer a line; `answer 1.37`
 * as that release, `answer 1.37 lists` with DRAListTypeAttributes. What must stay true: the two
 * programs read and write the same lines, so that a comparison is one of texts. */
#include "proto/base/json_string.h"
#include "proto/base/memory.h"
#include "tests/fidelity/cel/cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_text(struct str text)
{
    struct buffer quoted = {0};
    json_string(&quoted, text);
    printf("%s", quoted.at);
    buffer_free(&quoted);
}

static void print_outcome(const struct cel_program *program, const struct kube_json *device)
{
    struct arena arena = {0}, scratch = {.limit = CEL_SCRATCH_BYTES};
    struct cel_report report;
    enum cel_verdict verdict = cel_match(program, case_subject(device, &arena), &scratch, &report);
    printf("{\"verdict\":\"%s\"", case_verdicts[verdict]);
    if (verdict == CEL_FAILED) {
        printf(",\"error\":");
        print_text(report.error);
    }
    printf(",\"cost\":%" PRIu64 "}", report.cost);
    arena_free(&scratch);
    arena_free(&arena);
}

static void print_answer(const struct cel_dialect *dialect, const struct kube_json *question)
{
    struct buffer error = {0};
    struct cel_program *program =
        cel_compile(dialect, kube_json_text(kube_json_get(question, "expression")), &error);
    const struct kube_json *device = kube_json_first(kube_json_get(question, "devices"));
    printf(program != NULL ? "{\"outcomes\":[" : "{\"compileError\":");
    if (program == NULL)
        print_text(buffer_str(&error));
    for (const char *between = ""; program != NULL && device != NULL;
         device = kube_json_next(device), between = ",") {
        printf("%s", between);
        print_outcome(program, device);
    }
    printf(program != NULL ? "]}\n" : "}\n");
    buffer_free(&error);
    cel_free(&program);
}

int main(int count, char **args)
{
    const struct cel_dialect dialect = {.release =
                                            count > 1 && strcmp(args[1], "1.37") == 0 ? 37 : 36,
                                        .lists = count > 2 && strcmp(args[2], "lists") == 0};
    char *line = NULL;
    size_t room = 0;
    ssize_t len = 0;
    while ((len = getline(&line, &room, stdin)) > 0) {
        struct arena arena = {0};
        struct str error = {NULL, 0};
        struct kube_json *json = kube_json_parse((struct str){line, (uint32_t)len}, &error, &arena);
        if (json == NULL) {
            fprintf(stderr, "answer: %.*s\n", STR_ARG(error));
            return 1;
        }
        print_answer(&dialect, json);
        kube_json_free(&json);
        arena_free(&arena);
    }
    memory_free(line);
    return 0;
}
