/* fuzz_extenders: any bytes as an HTTP extender's answer to each verb. Reading stays within bounds,
 * says why when it says no, and what it gives can be told to the next extender. */
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/extenders/extender_wire.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct arena arena = {.limit = 8u << 20};

/* Names lie in memory to their last byte. */
static void touch(struct str text)
{
    char *copy = memory_copy(text.at, text.len);
    memory_free(copy);
}

static void read_filtered(struct str text, struct str *error)
{
    struct wire_filtered said;
    struct buffer body = {0};
    if (!wire_filtered_read(text, &said, &arena, error)) {
        must(error->len > 0);
        return;
    }
    touch(said.error);
    for (uint32_t i = 0; i < said.objects.count; i++)
        touch(said.objects.at[i]);
    for (uint32_t i = 0; i < said.refused.count; i++) {
        touch(said.refused.at[i].node);
        touch(said.refused.at[i].reason);
    }
    wire_nodes_body(&body, &(struct wire_nodes){.pod = {"{}", 2}, .names = said.names});
    buffer_free(&body);
}

static void read_scores(struct str text, struct str *error)
{
    struct wire_scores said;
    if (!wire_scores_read(text, &said, &arena, error)) {
        must(error->len > 0);
        return;
    }
    for (uint32_t i = 0; i < said.count; i++)
        touch(said.at[i].node);
}

static void read_candidates(struct str text, struct str *error)
{
    struct wire_candidates said;
    struct buffer body = {0};
    if (!wire_candidates_read(text, &said, &arena, error)) {
        must(error->len > 0);
        return;
    }
    struct wire_victims ask = {.pod = {"{}", 2}, .at = said.at, .count = said.count};
    wire_victims_body(&body, &ask);
    buffer_free(&body);
}

static void read_bound(struct str text, struct str *error)
{
    struct str failed = {0};
    if (wire_bound_read(text, &failed, &arena, error))
        touch(failed);
    else
        must(error->len > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str error = {0};
    if (size == 0)
        return 0;
    /* A copy of its own, so that reading past the end is seen. */
    char *copy = memory_copy(data + 1, size - 1);
    struct str text = {copy, (uint32_t)(size - 1)};
    switch (data[0] % 4) {
    case 0: read_filtered(text, &error); break;
    case 1: read_scores(text, &error); break;
    case 2: read_candidates(text, &error); break;
    default: read_bound(text, &error); break;
    }
    memory_free(copy);
    arena_reset(&arena);
    return 0;
}
