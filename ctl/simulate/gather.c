/* gather: the one idea: whatever describes a cluster is written down as the objects and steps of a
 * scenario, and read there, so that there is one strict reader and one way to decide.
 *
 * What must stay true: whatever is not taken is counted by its kind; what came out of a cluster (it
 * has a UID) has its pods beside it already, so none are made of it. */
#include "ctl/simulate/gather.h"

#include "ctl/scenario.h"
#include "ctl/scenario_check.h"
#include "ctl/schema.h"
#include "ctl/whatif/amounts_check.h"
#include "ctl/whatif/claim_templates.h"
#include "ctl/whatif/words_check.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct str text_at(const struct kube_json *object, const char *path)
{
    return kube_json_text(kube_json_path(object, path));
}

static bool refuse(struct gather *g, struct str place, const char *what, struct str more)
{
    g->error = arena_print(&g->arena, "%.*s: %s%.*s", STR_ARG(place), what, STR_ARG(more));
    return false;
}

static void note_place(struct gather *g, struct strs *places, struct str place)
{
    places->at = manifests_room(&g->arena, places->at, places->count, sizeof(struct str));
    places->at[places->count++] = place;
}

/* ---- objects ---- */

static void pass_over(struct gather *g, struct str kind)
{
    if (g->passed_over == NULL)
        g->passed_over = map_new();
    int64_t *count = map_get(g->passed_over, kind);
    if (count == NULL) {
        count = arena_take(&g->arena, sizeof(*count));
        *count = 0;
        map_set(g->passed_over, kind, count);
    }
    ++*count;
}

/* Whether a claim of that name is among the objects; from now on one is. */
static bool is_second_claim(struct gather *g, struct str space, struct str name)
{
    struct str key = arena_print(&g->arena, "%.*s/%.*s", STR_ARG(space), STR_ARG(name));
    if (g->claims == NULL)
        g->claims = map_new();
    return map_set(g->claims, key, g) != NULL;
}

static void note_claim(struct gather *g, const struct kube_json *object, struct str kind)
{
    struct str space = text_at(object, "metadata.namespace");
    if (str_is(kind, "PersistentVolumeClaim"))
        (void)is_second_claim(g, space.len > 0 ? space : g->space,
                              text_at(object, "metadata.name"));
}

/* Its metadata, with a namespace. */
static void write_metadata(struct json_out *j, const struct kube_json *metadata, struct str space)
{
    json_open(j, "metadata", '{');
    for (const struct kube_json *i = kube_json_first(metadata); i != NULL; i = kube_json_next(i))
        if (!str_is(kube_json_name(i), "namespace"))
            json_value(j, i);
    json_str(j, "namespace", space);
    json_close(j, '}');
}

/* A new volume that nobody claims yet, as its controller finds it: it can be claimed. */
static bool is_new_volume(const struct kube_json *object, struct str kind)
{
    const struct kube_json *status = kube_json_get(object, "status");
    return str_is(kind, "PersistentVolume") && text_at(object, "metadata.uid").len == 0 &&
           (status == NULL || kube_json_is_object(status)) &&
           kube_json_get(status, "phase") == NULL;
}

static void write_available(struct json_out *j, const struct kube_json *status)
{
    json_open(j, "status", '{');
    for (const struct kube_json *i = kube_json_first(status); i != NULL; i = kube_json_next(i))
        if (!str_is(kube_json_name(i), "phase"))
            json_value(j, i);
    json_str(j, "phase", STR_LITERAL("Available"));
    json_close(j, '}');
}

/* What a list says of its items, they need not say. */
struct item {
    struct str api, kind, place;
};

static void add_object(struct gather *g, const struct kube_json *object, const struct item *as)
{
    struct json_out j = {.out = &g->objects};
    bool has_space = text_at(object, "metadata.namespace").len > 0;
    bool is_new = is_new_volume(object, as->kind);
    note_claim(g, object, as->kind);
    if (g->object_at.count > 0)
        buffer_add_text(&g->objects, ",");
    json_open(&j, NULL, '{');
    if (kube_json_get(object, "apiVersion") == NULL)
        json_str_if(&j, "apiVersion", as->api);
    if (kube_json_get(object, "kind") == NULL)
        json_str(&j, "kind", as->kind);
    for (const struct kube_json *i = kube_json_first(object); i != NULL; i = kube_json_next(i))
        if (str_is(kube_json_name(i), "metadata") && kube_json_is_object(i) && !has_space &&
            scenario_is_namespaced(as->kind))
            write_metadata(&j, i, g->space);
        else if (!is_new || !str_is(kube_json_name(i), "status"))
            json_value(&j, i);
    if (is_new)
        write_available(&j, kube_json_get(object, "status"));
    json_close(&j, '}');
    note_place(g, &g->object_at, as->place);
}

/* ---- workloads ---- */

/* The Deployment's, and what tells the ReplicaSet's pods from those of another template. */
static void write_selector(struct json_out *j, const struct kube_json *selector,
                           const struct workload *load)
{
    const struct kube_json *labels = kube_json_get(selector, "matchLabels");
    json_open(j, "selector", '{');
    for (const struct kube_json *i = kube_json_first(selector); i != NULL; i = kube_json_next(i))
        if (!str_is(kube_json_name(i), "matchLabels"))
            json_value(j, i);
    json_open(j, "matchLabels", '{');
    for (const struct kube_json *i = kube_json_first(labels); i != NULL; i = kube_json_next(i))
        if (!str_equal(kube_json_name(i), load->revision_label))
            json_value(j, i);
    json_str(j, load->revision_label.at, load->revision);
    json_close(j, '}');
    json_close(j, '}');
}

/* A Deployment's pods are a ReplicaSet's, by which they are spread. */
static void add_replica_set(struct gather *g, const struct workload *load,
                            const struct kube_json *selector)
{
    struct json_out j = {.out = &g->objects};
    if (g->object_at.count > 0)
        buffer_add_text(&g->objects, ",");
    json_open(&j, NULL, '{');
    json_str(&j, "apiVersion", load->owner_api);
    json_str(&j, "kind", load->owner_kind);
    json_open(&j, "metadata", '{');
    json_str(&j, "name", load->name);
    json_str(&j, "namespace", load->space);
    json_str(&j, "uid", load->owner_uid);
    json_close(&j, '}');
    json_open(&j, "spec", '{');
    if (selector != NULL)
        write_selector(&j, selector, load);
    json_close(&j, '}');
    json_close(&j, '}');
    note_place(g, &g->object_at, load->place);
}

/* They may be there, in a file that comes yet. */
static void want_claims(struct gather *g, const struct workload *load, struct str pod)
{
    for (uint32_t i = 0; i < claim_templates_count(load); i++) {
        struct kube_json *claim = claim_templates_object(load, i, pod, &g->arena);
        struct buffer text = {0};
        kube_json_write(claim, &text);
        g->wanted.at =
            manifests_room(&g->arena, g->wanted.at, g->wanted.count, sizeof(struct wanted_claim));
        g->wanted.at[g->wanted.count++] = (struct wanted_claim){
            .space = load->space,
            .name = claim_templates_name(load, i, pod, &g->arena),
            .text = arena_copy(&g->arena, buffer_str(&text)),
            .place = arena_print(&g->arena, "%.*s: spec.volumeClaimTemplates[%" PRIu32 "]",
                                 STR_ARG(load->place), i)};
        kube_json_free(&claim);
        buffer_free(&text);
    }
}

static void add_wanted_claims(struct gather *g)
{
    const struct kube_json *own = scenario_items(kube_json_get(g->scenario, "objects"));
    for (const struct kube_json *i = own; g->wanted.count > 0 && i != NULL; i = kube_json_next(i))
        note_claim(g, i, text_at(i, "kind"));
    for (uint32_t i = 0; i < g->wanted.count; i++) {
        const struct wanted_claim *wanted = &g->wanted.at[i];
        if (is_second_claim(g, wanted->space, wanted->name))
            continue;
        if (g->object_at.count > 0)
            buffer_add_text(&g->objects, ",");
        buffer_add_str(&g->objects, wanted->text);
        note_place(g, &g->object_at, wanted->place);
    }
    g->wanted.count = 0;
}

static bool add_pods(struct gather *g, const struct workload *load)
{
    const struct item as = {.kind = STR_LITERAL("Pod"),
                            .place = arena_print(&g->arena, "%.*s: %.*s", STR_ARG(load->place),
                                                 STR_ARG(load->template_path))};
    for (int64_t n = 0; n < load->count; n++) {
        struct arena a = {0};
        struct kube_json *pod = manifests_pod_object(load, load->first + n, &a);
        if (pod != NULL)
            add_object(g, pod, &as);
        want_claims(g, load, manifests_pod_name(load, load->first + n, &g->arena));
        kube_json_free(&pod);
        arena_free(&a);
    }
    g->waits |= load->count > 0;
    return true;
}

/* One step, as its pods depend on the nodes. */
static bool add_daemons(struct gather *g, const struct workload *load)
{
    struct json_out j = {.out = &g->daemons};
    struct buffer text = {0};
    struct arena a = {0};
    struct kube_json *pod = manifests_pod_object(load, MANIFESTS_ALONE, &a);
    if (g->daemon_at.count > 0)
        buffer_add_text(&g->daemons, ",");
    kube_json_write(pod, &text);
    json_open(&j, NULL, '{');
    json_str(&j, "op", STR_LITERAL("daemons"));
    json_raw(&j, "pod", buffer_str(&text));
    json_close(&j, '}');
    note_place(g, &g->daemon_at, load->place);
    kube_json_free(&pod);
    buffer_free(&text);
    arena_free(&a);
    g->waits = true;
    return true;
}

#define PODS_MAX 1000000

static bool take_workload(struct gather *g, const struct kube_json *object, const struct item *as)
{
    struct manifests *m = &g->workloads;
    m->release = g->release;
    m->space = g->space;
    m->revisions = true;
    if (!manifests_take_workload(m, object, as->place)) {
        g->error = m->error;
        return false;
    }
    const struct workload *load = &m->workloads.at[m->workloads.count - 1];
    const struct schema_place at = {
        .release = g->release, .kind = "Pod", .path = load->template_path};
    struct str why;
    if (!amounts_check(load->pod, load->template_path, &why, &g->arena) ||
        !words_check(load->pod, &at, &why, &g->arena))
        return refuse(g, as->place, "", why);
    if (str_is(as->kind, "DaemonSet"))
        return add_daemons(g, load);
    if (load->count > PODS_MAX)
        return refuse(g, as->place, "more than 1,000,000 pods", (struct str){0});
    if (str_is(as->kind, "Deployment"))
        add_replica_set(g, load, kube_json_path(object, "spec.selector"));
    else if (schema_has_kind(g->release, as->kind))
        add_object(g, object, as);
    return add_pods(g, load);
}

/* ---- one object ---- */

static bool take_pod(struct gather *g, const struct kube_json *object, const struct item *as)
{
    bool is_named = text_at(object, "metadata.name").len > 0;
    struct str generated = text_at(object, "metadata.generateName"), why;
    struct str space = text_at(object, "metadata.namespace");
    bool is_live = text_at(object, "metadata.uid").len > 0;
    const struct schema_place at = {.release = g->release, .kind = "Pod"};
    if (!is_live && (!amounts_check(object, at.path, &why, &g->arena) ||
                     !words_check(object, &at, &why, &g->arena)))
        return refuse(g, as->place, "", why);
    if (is_named || generated.len == 0) {
        g->waits |= text_at(object, "spec.nodeName").len == 0;
        add_object(g, object, as);
        return true;
    }
    return add_pods(g, &(struct workload){.place = as->place,
                                          .template_path = STR_LITERAL("pod"),
                                          .pod = object,
                                          .space = space.len > 0 ? space : g->space,
                                          .name = generated,
                                          .count = 1,
                                          .first = g->object_at.count + 1});
}

/* Near to a kind that scenarios do not know. */
static bool is_misspelt(struct gather *g, const struct item *as)
{
    static const char *const kinds[] = {"Deployment", "DaemonSet", "Job", "CronJob", "List", NULL};
    struct str near = schema_suggest(as->kind, kinds, &g->arena);
    if (near.len > 0)
        (void)refuse(
            g, as->place, "kind: no objects of kind ",
            arena_print(&g->arena, "%.*s are known here%.*s", STR_ARG(as->kind), STR_ARG(near)));
    return near.len > 0;
}

static bool take_object(struct gather *g, const struct kube_json *object, const struct item *list)
{
    struct item as = *list;
    struct str own = text_at(object, "kind");
    bool is_live = text_at(object, "metadata.uid").len > 0;
    if (!kube_json_is_object(object))
        return refuse(g, as.place, "must be an object, not ", str_of(kube_json_kind(object)));
    as.kind = own.len > 0 ? own : as.kind;
    if (as.kind.len == 0)
        return refuse(g, as.place, "kind: is missing", (struct str){0});
    if (str_is(as.kind, "Pod"))
        return take_pod(g, object, &as);
    if (manifests_makes_pods(as.kind) && !is_live)
        return take_workload(g, object, &as);
    bool is_known = schema_has_kind(g->release, as.kind);
    if (!is_known && (is_live || manifests_ignores(as.kind))) {
        pass_over(g, as.kind);
        return true;
    }
    if (!is_known && is_misspelt(g, &as))
        return false;
    struct str why;
    if (str_is(as.kind, "Node") && !is_live && !amounts_check_node(object, &why, &g->arena))
        return refuse(g, as.place, "", why);
    add_object(g, object, &as); /* of an unknown kind: refused where scenarios are read */
    return true;
}

/* ---- documents ---- */

static bool is_list(const struct kube_json *document, struct str kind)
{
    static const char list[] = "List";
    return kube_json_get(document, "items") != NULL && kind.len >= sizeof(list) - 1 &&
           memcmp(kind.at + kind.len - (sizeof(list) - 1), list, sizeof(list) - 1) == 0;
}

static bool take_list(struct gather *g, const struct kube_json *list, struct str kind,
                      struct str place)
{
    static const char *const members[] = {"apiVersion", "kind", "metadata", "items", NULL};
    const struct kube_json *items = kube_json_get(list, "items");
    struct item as = {.kind = {kind.at, kind.len - 4}};
    unsigned index = 0;
    if (as.kind.len > 0) /* PodList and so on: all are of one kind */
        as.api = text_at(list, "apiVersion");
    for (const struct kube_json *i = kube_json_first(list); i != NULL; i = kube_json_next(i)) {
        const char *const *known = members;
        while (*known != NULL && !str_is(kube_json_name(i), *known))
            known++;
        if (*known == NULL)
            return refuse(
                g, arena_print(&g->arena, "%.*s: %.*s", STR_ARG(place), STR_ARG(kube_json_name(i))),
                "unknown field", schema_suggest(kube_json_name(i), members, &g->arena));
    }
    if (!kube_json_is_array(items))
        return refuse(g, place, "items: must be a list, not ", str_of(kube_json_kind(items)));
    for (const struct kube_json *i = kube_json_first(items); i != NULL; i = kube_json_next(i)) {
        as.place = arena_print(&g->arena, "%.*s: items[%u]", STR_ARG(place), index++);
        if (!take_object(g, i, &as))
            return false;
    }
    return true;
}

/* Its objects and steps come first. */
static bool take_scenario(struct gather *g, const struct kube_json *document, struct str place)
{
    if (g->scenario != NULL)
        return refuse(g, place, "is a scenario, and there was one before", (struct str){0});
    g->scenario = document;
    g->scenario_at = place;
    return true;
}

/* A scenario has no kind; whatever else has none is refused, and this says so best. */
static bool is_scenario(const struct kube_json *document)
{
    return kube_json_is_object(document) && kube_json_get(document, "kind") == NULL &&
           kube_json_get(document, "apiVersion") == NULL;
}

static bool take_document(struct gather *g, const struct kube_json *document, struct str place)
{
    struct str kind = text_at(document, "kind");
    if (is_scenario(document))
        return take_scenario(g, document, place);
    if (is_list(document, kind))
        return take_list(g, document, kind, place);
    return take_object(g, document, &(struct item){.place = place});
}

bool gather_take(struct gather *g, const char *file, struct str text)
{
    struct str error = {0};
    unsigned number = 1;
    struct kube_json *all = kube_json_parse_yaml(text, &error, &g->arena);
    if (all == NULL)
        return refuse(g, str_of(file), "", error);
    uint32_t kept = g->documents.count++;
    g->documents.at = manifests_room(&g->arena, g->documents.at, kept, sizeof(struct kube_json *));
    g->documents.at[kept] = all;
    if (kube_json_is_null(all))
        return refuse(g, str_of(file), "there is no document in it", (struct str){0});
    if (!kube_json_is_array(all))
        return take_document(g, all, str_of(file));
    for (const struct kube_json *i = kube_json_first(all); i != NULL; i = kube_json_next(i))
        if (!take_document(g, i, arena_print(&g->arena, "%s: document %u", file, number++)))
            return false;
    return true;
}

static bool read_file(struct gather *g, const char *path, struct buffer *text)
{
    FILE *from = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char chunk[65536];
    size_t got;
    g->unreadable = from == NULL;
    if (from == NULL)
        return refuse(g, str_of(path), "", str_of(strerror(errno)));
    while ((got = fread(chunk, 1, sizeof(chunk), from)) > 0)
        buffer_add(text, chunk, got);
    g->unreadable = ferror(from);
    if (g->unreadable)
        (void)refuse(g, str_of(path), "", str_of(strerror(errno)));
    if (from != stdin)
        fclose(from);
    return !g->unreadable;
}

bool gather_read(struct gather *g, const char *path)
{
    struct buffer text = {0};
    bool is_stream = strcmp(path, "-") == 0;
    bool fine = read_file(g, path, &text) &&
                gather_take(g, is_stream ? "standard input" : path, buffer_str(&text));
    buffer_free(&text);
    return fine;
}

/* ---- the whole ---- */

static void compose_objects(struct gather *g, struct json_out *j)
{
    const struct kube_json *own = scenario_items(kube_json_get(g->scenario, "objects"));
    struct buffer all = {0};
    g->scenario_objects = 0;
    add_wanted_claims(g);
    buffer_add_text(&all, "[");
    for (const struct kube_json *i = own; i != NULL; i = kube_json_next(i)) {
        if (g->scenario_objects++ > 0)
            buffer_add_text(&all, ",");
        kube_json_write(i, &all);
    }
    if (g->scenario_objects > 0 && g->object_at.count > 0)
        buffer_add_text(&all, ",");
    buffer_add_str(&all, buffer_str(&g->objects));
    buffer_add_text(&all, "]");
    json_raw(j, "objects", buffer_str(&all));
    buffer_free(&all);
}

static void compose_steps(struct gather *g, struct json_out *j)
{
    const struct kube_json *own = scenario_items(kube_json_get(g->scenario, "pods"));
    g->scenario_steps = 0;
    json_open(j, "pods", '[');
    for (const struct kube_json *i = own; i != NULL; i = kube_json_next(i)) {
        g->scenario_steps++;
        json_value(j, i);
    }
    if (g->daemon_at.count > 0)
        json_raw(j, NULL, buffer_str(&g->daemons));
    if (g->waits) {
        json_open(j, NULL, '{');
        json_str(j, "op", STR_LITERAL("pending"));
        json_close(j, '}');
    }
    json_close(j, ']');
}

static bool is_replaced(const struct gather *g, struct str member)
{
    return str_is(member, "objects") || str_is(member, "pods") ||
           (g->config != NULL && str_is(member, "config"));
}

static bool compose(struct gather *g, struct buffer *out)
{
    struct json_out j = {.out = out};
    struct buffer config = {0};
    json_open(&j, NULL, '{');
    for (const struct kube_json *i = kube_json_first(g->scenario); i != NULL; i = kube_json_next(i))
        if (!is_replaced(g, kube_json_name(i)))
            json_value(&j, i);
    bool fine = g->config == NULL || read_file(g, g->config, &config);
    if (g->config != NULL && fine)
        json_str(&j, "config", buffer_str(&config));
    compose_objects(g, &j);
    compose_steps(g, &j);
    json_close(&j, '}');
    buffer_free(&config);
    return fine;
}

/* A scenario whose lists are none is read as it is, and refused. */
static bool has_lists(const struct kube_json *scenario)
{
    static const char *const lists[] = {"objects", "pods"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        const struct kube_json *list = kube_json_get(scenario, lists[i]);
        if (list != NULL && !kube_json_is_array(list) && scenario_items(list) == NULL)
            return false;
    }
    return true;
}

const struct kube_json *gather_scenario(struct gather *g)
{
    struct buffer text = {0};
    struct str error = {0};
    if (g->composed != NULL)
        return g->composed;
    if (g->scenario != NULL &&
        ((g->object_at.count + g->daemon_at.count == 0 && g->config == NULL) ||
         !has_lists(g->scenario))) {
        g->scenario_objects = g->scenario_steps = UINT32_MAX;
        return g->scenario;
    }
    if (compose(g, &text)) {
        g->composed = kube_json_parse(buffer_str(&text), &error, &g->arena);
        if (g->composed == NULL)
            g->error = error;
    }
    buffer_free(&text);
    return g->composed;
}

/* What stands behind "NAME[number]", and the number; false: it begins with something else. */
static bool read_index(struct str error, const char *name, uint32_t *index, struct str *rest)
{
    uint32_t before = (uint32_t)strlen(name);
    int64_t close = str_find(error, ']'), number;
    if (!str_starts_with(error, name) || close < before ||
        !str_to_i64((struct str){error.at + before, (uint32_t)close - before}, &number) ||
        number < 0 || number > UINT32_MAX)
        return false;
    *index = (uint32_t)number;
    *rest = (struct str){error.at + close + 1, error.len - (uint32_t)close - 1};
    return true;
}

/* The place, and where in it. */
static struct str placed(struct gather *g, struct str place, struct str rest, const char *before)
{
    if (str_starts_with(rest, before)) {
        uint32_t skip = (uint32_t)strlen(before);
        return arena_print(&g->arena, "%.*s: %.*s", STR_ARG(place),
                           STR_ARG(((struct str){rest.at + skip, rest.len - skip})));
    }
    return arena_print(&g->arena, "%.*s%.*s", STR_ARG(place), STR_ARG(rest));
}

struct str gather_error(struct gather *g, struct str error)
{
    struct str rest;
    uint32_t index;
    if (read_index(error, "objects[", &index, &rest) && index >= g->scenario_objects &&
        index - g->scenario_objects < g->object_at.count)
        return placed(g, g->object_at.at[index - g->scenario_objects], rest, ".");
    if (read_index(error, "pods[", &index, &rest) && index >= g->scenario_steps &&
        index - g->scenario_steps < g->daemon_at.count)
        return placed(g,
                      arena_print(&g->arena, "%.*s: spec.template",
                                  STR_ARG(g->daemon_at.at[index - g->scenario_steps])),
                      rest, ".pod.");
    if (g->config != NULL && str_starts_with(error, "config: "))
        return placed(g, str_of(g->config), error, "config: ");
    if (g->scenario_at.len == 0)
        return error;
    return arena_print(&g->arena, "%.*s: %.*s", STR_ARG(g->scenario_at), STR_ARG(error));
}

static int by_text(const void *one, const void *other)
{
    return str_compare(*(const struct str *)one, *(const struct str *)other);
}

struct str gather_passed_over(struct gather *g)
{
    size_t at = 0, count = g->passed_over != NULL ? map_count(g->passed_over) : 0;
    struct str *kinds = arena_take(&g->arena, (count + 1) * sizeof(*kinds)), key;
    struct buffer text = {0};
    void *value;
    for (size_t i = 0; count > 0 && map_next(g->passed_over, &at, &key, &value); i++)
        kinds[i] = key;
    qsort(kinds, count, sizeof(*kinds), by_text);
    for (size_t i = 0; i < count; i++)
        buffer_print(&text, "%s%lld %.*s", i > 0 ? ", " : "",
                     (long long)*(int64_t *)map_get(g->passed_over, kinds[i]), STR_ARG(kinds[i]));
    struct str said = arena_copy(&g->arena, buffer_str(&text));
    buffer_free(&text);
    return said;
}

void gather_free(struct gather *g)
{
    for (uint32_t i = 0; i < g->documents.count; i++)
        kube_json_free(&g->documents.at[i]);
    kube_json_free(&g->composed);
    map_free(&g->passed_over);
    map_free(&g->claims);
    manifests_free(&g->workloads);
    buffer_free(&g->objects);
    buffer_free(&g->daemons);
    arena_free(&g->arena);
}
