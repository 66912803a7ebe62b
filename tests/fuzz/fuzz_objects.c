/* fuzz_objects: any bytes as what we read from the API server and from users: the first byte picks
 * a kind of object as JSON, YAML or protobuf, configuration, quantity or duration. What is read
 * must stay within its bounds; a configuration that is accepted must read back from its own print.
 */
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/config/config_internal.h"
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/documents/protobuf_put.h"
#include "proto/kube/documents/quantity.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/objects/selector.h"

#include <string.h>

#define LIMIT (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct arena arena = {.limit = LIMIT};

static void check_terms(const struct pod *pod)
{
    static const struct node node = {.name = {"n", 1}};
    struct buffer why = {0};
    for (uint32_t i = 0; i < pod->required_terms.count; i++)
        node_term_matches(&pod->required_terms.at[i], &node, &why);
    buffer_free(&why);
}

/* The message of an object of this kind, in protobuf. */
static struct kube_json *parse_message(size_t kind, struct str text, struct str *error)
{
    static struct buffer body;
    buffer_reset(&body);
    size_t raw = protobuf_begin(&body, STR_LITERAL("v1"), str_of(kube_resources[kind].kind));
    buffer_add_str(&body, text);
    protobuf_close(&body, raw);
    return kube_protobuf_parse(buffer_str(&body), error, &arena);
}

enum form { FORM_json, FORM_yaml, FORM_protobuf };

/* As the watcher does, from any form. */
static void read_object(size_t kind, struct str text, enum form form)
{
    struct message m;
    struct str key = {0}, error = {0};
    struct kube_json *json = form == FORM_yaml   ? kube_json_parse_yaml(text, &error, &arena)
                             : form == FORM_json ? kube_json_parse(text, &error, &arena)
                                                 : parse_message(kind, text, &error);
    if (json == NULL)
        return;
    if (kube_resources[kind].set(json, &m, &key, &arena, &error)) {
        must(key.len > 0);
        if (m.type == MSG_pod_set)
            check_terms(&m.pod_set.pod);
        struct buffer frame = {0};
        codec_encode(message_info[m.type].record, message_body(&m), &frame);
        buffer_free(&frame);
    } else {
        must(error.len > 0);
    }
    kube_json_free(&json);
}

static void read_config(struct str text)
{
    struct scheduler_config config;
    struct str error = {0};
    struct buffer once = {0}, twice = {0};
    if (!scheduler_config_parse(text, release_features(36), &config, &arena, &error)) {
        must(error.len > 0 || arena.total > LIMIT / 2);
        return;
    }
    scheduler_config_print(&config, &once);
    must(scheduler_config_parse(buffer_str(&once), release_features(36), &config, &arena, &error));
    scheduler_config_print(&config, &twice);
    must(once.len == twice.len && memcmp(once.at, twice.at, once.len) == 0);
    buffer_free(&once);
    buffer_free(&twice);
}

static void read_quantity(struct str text)
{
    struct kube_quantity q = {0};
    if (!kube_quantity_parse(text, &q))
        return;
    int64_t value = kube_quantity_value(q), milli = kube_quantity_milli(q);
    must(value == INT64_MAX || value == INT64_MIN || milli / 1000 == value || milli == INT64_MAX ||
         milli == INT64_MIN || milli / 1000 == value - 1 || milli / 1000 == value + 1);
    must(kube_quantity_compare(q, kube_quantity_add(q, (struct kube_quantity){0})) == 0);
}

static void read_duration(struct str text)
{
    struct span span, again;
    struct buffer printed = {0};
    if (!config_duration_parse(text, &span))
        return;
    config_duration_print(span, &printed);
    must(config_duration_parse(buffer_str(&printed), &again));
    must(again.ns == span.ns);
    buffer_free(&printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    /* A copy of its own, so that reading past the end is seen. */
    char *copy = memory_copy(data + 1, size - 1);
    struct str text = {copy, (uint32_t)(size - 1)};
    size_t pick = data[0] % 64;
    if (pick < 16)
        read_object(pick % kube_resource_count, text, FORM_json);
    else if (pick < 32)
        read_object((pick - 16) % kube_resource_count, text, FORM_yaml);
    else if (data[0] >= 240)
        read_object(data[0] % kube_resource_count, text, FORM_protobuf);
    else if (pick < 36)
        read_quantity(text);
    else if (pick < 40)
        read_duration(text);
    else
        read_config(text);
    memory_free(copy);
    arena_reset(&arena);
    return 0;
}
