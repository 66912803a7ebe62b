/* extender_wire: bodies and answers of HTTP extenders. The one idea: bodies are written straight
 * from the objects' own JSON, which nobody needs to understand here; answers are read with names of
 * members compared as Go compares them. What must stay true: nothing of an answer is believed that
 * is not of the type it should be. */
#include "proto/kube/extenders/extender_wire.h"

#include "proto/base/json_string.h"
#include "proto/kube/documents/json.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* ---- bodies ---- */

static void add_pod(struct buffer *out, struct str pod)
{
    buffer_add_text(out, "{\"Pod\":");
    buffer_add_str(out, pod);
}

static void add_names(struct buffer *out, const struct strs *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        buffer_add_text(out, i > 0 ? "," : "");
        json_string(out, names->at[i]);
    }
}

void wire_nodes_body(struct buffer *out, const struct wire_nodes *ask)
{
    add_pod(out, ask->pod);
    if (ask->objects == NULL) {
        buffer_add_text(out, ",\"Nodes\":null,\"NodeNames\":[");
        add_names(out, &ask->names);
        buffer_add_text(out, "]}");
        return;
    }
    buffer_add_text(out, ",\"Nodes\":{\"metadata\":{},\"items\":[");
    for (uint32_t i = 0; i < ask->names.count; i++) {
        buffer_add_text(out, i > 0 ? "," : "");
        buffer_add_str(out, ask->objects[i]);
    }
    buffer_add_text(out, "]},\"NodeNames\":null}");
}

static void add_victims(struct buffer *out, const struct candidate *c, const struct str *objects)
{
    buffer_add_text(out, "{\"Pods\":[");
    for (uint32_t i = 0; i < c->victims.count; i++) {
        buffer_add_text(out, i > 0 ? "," : "");
        if (objects != NULL) {
            buffer_add_str(out, objects[i]);
            continue;
        }
        buffer_add_text(out, "{\"UID\":");
        json_string(out, c->victims.at[i].uid);
        buffer_add_text(out, "}");
    }
    buffer_print(out, "],\"NumPDBViolations\":%" PRId64 "}", c->violations);
}

void wire_victims_body(struct buffer *out, const struct wire_victims *ask)
{
    const struct str *objects = ask->objects;
    add_pod(out, ask->pod);
    buffer_add_text(out, objects != NULL
                             ? ",\"NodeNameToVictims\":{"
                             : ",\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{");
    for (uint32_t i = 0; i < ask->count; i++) {
        buffer_add_text(out, i > 0 ? "," : "");
        json_string(out, ask->at[i].node);
        buffer_add_text(out, ":");
        add_victims(out, &ask->at[i], objects);
        if (objects != NULL)
            objects += ask->at[i].victims.count;
    }
    buffer_add_text(out, objects != NULL ? "},\"NodeNameToMetaVictims\":null}" : "}}");
}

void wire_bind_body(struct buffer *out, const struct bind *bind)
{
    buffer_add_text(out, "{\"PodName\":");
    json_string(out, bind->name);
    buffer_add_text(out, ",\"PodNamespace\":");
    json_string(out, bind->namespace_name);
    buffer_add_text(out, ",\"PodUID\":");
    json_string(out, bind->uid);
    buffer_add_text(out, ",\"Node\":");
    json_string(out, bind->node_name);
    buffer_add_text(out, "}");
}

/* ---- answers ---- */

/* One answer that is being read. */
struct answer {
    struct kube_json *document;
    struct arena *arena;
    struct str *error; /* the first that was found */
    bool failed;
};

static void fail(struct answer *an, const char *member, const char *wants,
                 const struct kube_json *value)
{
    if (!an->failed)
        *an->error =
            arena_print(an->arena, "%s: wants %s, has %s", member, wants, kube_json_kind(value));
    an->failed = true;
}

static bool open_answer(struct answer *an, struct str text, struct arena *a, struct str *error)
{
    *an = (struct answer){.arena = a, .error = error};
    an->document = kube_json_parse(text, error, a);
    an->failed = an->document == NULL;
    if (an->failed)
        *error = arena_print(a, "the answer is not JSON: %.*s", STR_ARG(*error));
    return !an->failed;
}

static bool close_answer(struct answer *an)
{
    kube_json_free(&an->document);
    return !an->failed;
}

static bool same_name(struct str name, const char *member)
{
    return name.len == strlen(member) && strncasecmp(name.at, member, name.len) == 0;
}

static const struct kube_json *member(const struct kube_json *object, const char *name)
{
    const struct kube_json *found = NULL;
    for (const struct kube_json *c = kube_json_first(object); c != NULL; c = kube_json_next(c))
        if (same_name(kube_json_name(c), name))
            found = c;
    return kube_json_is_null(found) ? NULL : found;
}

static bool is_object(struct answer *an, const char *name, const struct kube_json *value)
{
    if (value != NULL && !kube_json_is_object(value))
        fail(an, name, "an object", value);
    return kube_json_is_object(value);
}

static bool is_list(struct answer *an, const char *name, const struct kube_json *value)
{
    if (value != NULL && !kube_json_is_array(value))
        fail(an, name, "a list", value);
    return kube_json_is_array(value);
}

static struct str text_of(struct answer *an, const char *name, const struct kube_json *value)
{
    if (value != NULL && !kube_json_is_null(value) && !kube_json_is_string(value))
        fail(an, name, "a string", value);
    return arena_copy(an->arena, kube_json_text(value));
}

static int64_t number_of(struct answer *an, const char *name, const struct kube_json *value)
{
    int64_t number = 0;
    if (value != NULL && !kube_json_i64(value, &number))
        fail(an, name, "a whole number", value);
    return number;
}

/* The whole answer; null counts as an answer without members. */
static bool root_is_object(struct answer *an)
{
    return !kube_json_is_null(an->document) && is_object(an, "the answer", an->document);
}

static struct strs read_names(struct answer *an, const struct kube_json *list)
{
    struct strs names = {0, arena_take(an->arena, kube_json_count(list) * sizeof(struct str))};
    for (const struct kube_json *c = kube_json_first(list); c != NULL; c = kube_json_next(c))
        names.at[names.count++] = text_of(an, "NodeNames", c);
    return names;
}

static struct strs read_objects(struct answer *an, const struct kube_json *list)
{
    struct strs names = {0, arena_take(an->arena, kube_json_count(list) * sizeof(struct str))};
    for (const struct kube_json *c = kube_json_first(list); c != NULL; c = kube_json_next(c)) {
        if (!is_object(an, "Nodes.items", c))
            continue;
        const struct kube_json *metadata = member(c, "metadata");
        if (is_object(an, "Nodes.items.metadata", metadata))
            names.at[names.count++] =
                text_of(an, "Nodes.items.metadata.name", member(metadata, "name"));
    }
    return names;
}

static void read_refused(struct answer *an, struct wire_filtered *out, const char *name,
                         bool unresolvable)
{
    const struct kube_json *map = member(an->document, name);
    if (!is_object(an, name, map))
        return;
    for (const struct kube_json *c = kube_json_first(map); c != NULL; c = kube_json_next(c))
        out->refused.at[out->refused.count++] =
            (struct extender_refusal){.node = arena_copy(an->arena, kube_json_name(c)),
                                      .reason = text_of(an, name, c),
                                      .unresolvable = unresolvable};
}

bool wire_filtered_read(struct str text, struct wire_filtered *out, struct arena *a,
                        struct str *error)
{
    struct answer an;
    *out = (struct wire_filtered){0};
    if (!open_answer(&an, text, a, error))
        return false;
    if (root_is_object(&an)) {
        const struct kube_json *names = member(an.document, "NodeNames");
        const struct kube_json *nodes = member(an.document, "Nodes");
        out->error = text_of(&an, "Error", member(an.document, "Error"));
        out->has_names = is_list(&an, "NodeNames", names);
        out->names = read_names(&an, out->has_names ? names : NULL);
        out->has_objects = is_object(&an, "Nodes", nodes);
        const struct kube_json *items = out->has_objects ? member(nodes, "items") : NULL;
        out->objects = read_objects(&an, is_list(&an, "Nodes.items", items) ? items : NULL);
        size_t room = kube_json_count(member(an.document, "FailedNodes")) +
                      kube_json_count(member(an.document, "FailedAndUnresolvableNodes"));
        out->refused.at = arena_take(a, room * sizeof(*out->refused.at));
        read_refused(&an, out, "FailedAndUnresolvableNodes", true);
        read_refused(&an, out, "FailedNodes", false);
    }
    return close_answer(&an);
}

bool wire_scores_read(struct str text, struct wire_scores *out, struct arena *a, struct str *error)
{
    struct answer an;
    *out = (struct wire_scores){0};
    if (!open_answer(&an, text, a, error))
        return false;
    const struct kube_json *list = kube_json_is_null(an.document) ? NULL : an.document;
    bool good = is_list(&an, "the answer", list);
    out->at = arena_take(a, kube_json_count(list) * sizeof(*out->at));
    for (const struct kube_json *c = good ? kube_json_first(list) : NULL; c != NULL;
         c = kube_json_next(c))
        if (!kube_json_is_null(c) && is_object(&an, "an entry", c))
            out->at[out->count++] =
                (struct extender_score){text_of(&an, "Host", member(c, "Host")),
                                        number_of(&an, "Score", member(c, "Score"))};
    return close_answer(&an);
}

static void read_candidate(struct answer *an, const struct kube_json *value, struct candidate *out)
{
    static const char pods[] = "NodeNameToMetaVictims.Pods";
    *out = (struct candidate){.node = arena_copy(an->arena, kube_json_name(value))};
    if (kube_json_is_null(value) || !is_object(an, "NodeNameToMetaVictims", value))
        return;
    const struct kube_json *list = member(value, "Pods");
    out->violations =
        number_of(an, "NodeNameToMetaVictims.NumPDBViolations", member(value, "NumPDBViolations"));
    if (!is_list(an, pods, list))
        return;
    out->victims.at = arena_take(an->arena, kube_json_count(list) * sizeof(struct victim));
    for (const struct kube_json *c = kube_json_first(list); c != NULL; c = kube_json_next(c))
        if (is_object(an, pods, c))
            out->victims.at[out->victims.count++] = (struct victim){
                .uid = text_of(an, "NodeNameToMetaVictims.Pods.UID", member(c, "UID"))};
}

bool wire_candidates_read(struct str text, struct wire_candidates *out, struct arena *a,
                          struct str *error)
{
    struct answer an;
    *out = (struct wire_candidates){0};
    if (!open_answer(&an, text, a, error))
        return false;
    if (root_is_object(&an)) {
        const struct kube_json *map = member(an.document, "NodeNameToMetaVictims");
        bool good = is_object(&an, "NodeNameToMetaVictims", map);
        out->at = arena_take(a, kube_json_count(map) * sizeof(*out->at));
        for (const struct kube_json *c = good ? kube_json_first(map) : NULL; c != NULL;
             c = kube_json_next(c))
            read_candidate(&an, c, &out->at[out->count++]);
    }
    return close_answer(&an);
}

bool wire_bound_read(struct str text, struct str *failed, struct arena *a, struct str *error)
{
    struct answer an;
    *failed = (struct str){0};
    if (!open_answer(&an, text, a, error))
        return false;
    if (root_is_object(&an))
        *failed = text_of(&an, "Error", member(an.document, "Error"));
    return close_answer(&an);
}
