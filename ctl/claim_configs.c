/* claim_configs: a map from claims to the allocation that they were last given or read with.
 *
 * What must stay true: a claim's entry is that of its newest allocation; whether it still has one
 * is for the claim's record to say. What is no object to the API server is none here. */
#include "ctl/claim_configs.h"

#include "ctl/scenario_check.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "scheduler/table/packed.h"

struct claim_configs {
    struct map *by_claim; /* namespace/name → struct packed, a device_allocation */
};

struct claim_configs *claim_configs_new(void)
{
    struct claim_configs *configs = memory_take(sizeof(*configs));
    configs->by_claim = map_new();
    return configs;
}

void claim_configs_free(struct claim_configs **configs)
{
    size_t at = 0;
    void *kept;
    if (*configs == NULL)
        return;
    while (map_next((*configs)->by_claim, &at, NULL, &kept)) {
        packed_free(kept);
        memory_free(kept);
    }
    map_free(&(*configs)->by_claim);
    memory_free(*configs);
    *configs = NULL;
}

static struct str key_of(struct str space, struct str name, struct arena *a)
{
    return arena_print(a, "%.*s/%.*s", STR_ARG(space), STR_ARG(name));
}

void claim_configs_set(struct claim_configs *configs, struct str space, struct str name,
                       const struct device_allocation *given)
{
    struct arena a = {0};
    struct str key = key_of(space, name, &a);
    struct packed *kept = map_get(configs->by_claim, key);
    if (kept == NULL) {
        kept = memory_take(sizeof(*kept));
        map_set(configs->by_claim, key, kept);
    }
    packed_set(kept, &device_allocation_record, given);
    arena_free(&a);
}

static struct strs texts_of(const struct kube_json *list, struct arena *a)
{
    struct strs texts = {0, arena_take(a, (kube_json_count(list) + 1) * sizeof(struct str))};
    for (const struct kube_json *i = kube_json_first(list); i != NULL; i = kube_json_next(i))
        texts.at[texts.count++] = kube_json_text(i);
    return texts;
}

static struct opaque_config config_of(const struct kube_json *config, struct arena *a)
{
    struct buffer parameters = {0};
    const struct kube_json *given = kube_json_path(config, "opaque.parameters");
    if (given != NULL)
        kube_json_write(given, &parameters);
    struct opaque_config read = {.requests = texts_of(kube_json_get(config, "requests"), a),
                                 .source = kube_json_text(kube_json_get(config, "source")),
                                 .driver = kube_json_text(kube_json_path(config, "opaque.driver")),
                                 .parameters = arena_copy(a, buffer_str(&parameters))};
    buffer_free(&parameters);
    return read;
}

void claim_configs_note(struct claim_configs *configs, const struct kube_json *object)
{
    const struct kube_json *list = kube_json_path(object, "status.allocation.devices.config");
    struct str space = kube_json_text(kube_json_path(object, "metadata.namespace"));
    struct device_allocation read = {0};
    struct arena a = {0};
    if (!str_is(kube_json_text(kube_json_get(object, "kind")), "ResourceClaim"))
        return;
    read.config.at = arena_take(&a, (kube_json_count(list) + 1) * sizeof(*read.config.at));
    for (const struct kube_json *i = kube_json_first(list); i != NULL; i = kube_json_next(i))
        read.config.at[read.config.count++] = config_of(i, &a);
    claim_configs_set(configs, space.len > 0 ? space : STR_LITERAL("default"),
                      kube_json_text(kube_json_path(object, "metadata.name")), &read);
    arena_free(&a);
}

struct device_allocation claim_configs_get(const struct claim_configs *configs, struct str space,
                                           struct str name, struct arena *a)
{
    struct device_allocation found = {0};
    const struct packed *kept = map_get(configs->by_claim, key_of(space, name, a));
    if (kept != NULL)
        packed_get(kept, &device_allocation_record, &found, a);
    return found;
}

/* ---- what may be told ---- */

/* Where configuration stands, by kind. */
static const struct place {
    const char *kind, *list;
} places[] = {{"ResourceClaim", "spec.devices.config"},
              {"ResourceClaim", "status.allocation.devices.config"},
              {"ResourceClaimTemplate", "spec.spec.devices.config"},
              {"DeviceClass", "spec.config"}};

static struct str check_list(const struct kube_json *list, struct str path, struct arena *a)
{
    uint32_t index = 0;
    const struct kube_json *i = kube_json_is_array(list) ? kube_json_first(list) : NULL;
    for (; i != NULL; i = kube_json_next(i), index++) {
        const struct kube_json *told = kube_json_path(i, "opaque.parameters");
        if (told != NULL && !kube_json_is_object(told))
            return arena_print(a, "%.*s[%u].opaque.parameters: must be an object, not %s",
                               STR_ARG(path), index, kube_json_kind(told));
    }
    return (struct str){0};
}

static struct str check_object(const struct kube_json *object, struct str path, struct arena *a)
{
    struct str kind = kube_json_text(kube_json_get(object, "kind")), error = {0};
    for (size_t i = 0; error.len == 0 && i < sizeof(places) / sizeof(*places); i++)
        if (str_is(kind, places[i].kind))
            error = check_list(kube_json_path(object, places[i].list),
                               arena_print(a, "%.*s.%s", STR_ARG(path), places[i].list), a);
    return error;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as lists in lists, which the reader bounds */
static struct str check_objects(const struct kube_json *list, struct str path, struct arena *a)
{
    uint32_t index = 0;
    struct str error = {0};
    const char *items = kube_json_is_array(list) ? "" : ".items";
    const struct kube_json *i = scenario_items(list);
    for (; i != NULL && error.len == 0; i = kube_json_next(i)) {
        struct str at = arena_print(a, "%.*s%s[%u]", STR_ARG(path), items, index++);
        if (str_is(kube_json_text(kube_json_get(i, "kind")), "List"))
            error = check_objects(i, at, a);
        else
            error = check_object(i, at, a);
    }
    return error;
}

struct str claim_configs_check(const struct kube_json *scenario, struct arena *a)
{
    uint32_t index = 0;
    struct str error = check_objects(kube_json_get(scenario, "objects"), STR_LITERAL("objects"), a);
    const struct kube_json *i = scenario_items(kube_json_get(scenario, "pods"));
    for (; i != NULL && error.len == 0; i = kube_json_next(i))
        error =
            check_object(kube_json_get(i, "object"), arena_print(a, "pods[%u].object", index++), a);
    return error;
}
