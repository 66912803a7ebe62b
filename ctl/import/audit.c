/* audit: answers to requests that changed nodes or pods, in their order. What must stay true: a pod
 * comes as its creation was answered; whatever was bound, by whom and where is passed over, as that
 * is to be decided anew; and a log that does not tell objects is said to be of no use. */
#include "ctl/import/audit.h"

#include "ctl/import/lines.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/codec.h"
#include "proto/kube/documents/json.h"

#include <errno.h>
#include <string.h>

struct log {
    struct trace *trace;
    const char *path;
    struct map *nodes; /* name to its last record, as bytes, a text */
    struct map *pods;  /* "namespace/name" to the UID of who has the name now, a text */
    unsigned long number;
    uint64_t bare; /* entries without their object */
    struct str *error;
};

static bool fail(struct log *l, struct str why)
{
    *l->error =
        arena_print(&l->trace->memory, "%s: line %lu: %.*s", l->path, l->number, STR_ARG(why));
    return false;
}

/* As errno has it. */
static bool fail_to_read(struct log *l, const char *path)
{
    *l->error = arena_print(&l->trace->memory, "%s: %s", path, strerror(errno));
    return false;
}

static struct str text_at(const struct kube_json *object, const char *path)
{
    return kube_json_text(kube_json_path(object, path));
}

/* ---- what is known ---- */

static void free_all(struct map **map)
{
    void *value;
    for (size_t at = 0; map_next(*map, &at, NULL, &value);)
        memory_free(value);
    map_free(map);
}

static struct str pod_key(struct log *l, struct str space, struct str name)
{
    return arena_print(&l->trace->memory, "%.*s/%.*s", STR_ARG(space), STR_ARG(name));
}

/* ---- objects ---- */

/* Heartbeats change nothing that is scheduled by, and are most of what is written of nodes. */
static void drop_if_same(struct log *l)
{
    struct trace *t = l->trace;
    const struct node *node = &t->at[t->count - 1].message->node_set.node;
    struct buffer record = {0};
    codec_encode(&node_record, node, &record);
    const struct buffer *before = map_get(l->nodes, node->name);
    bool same = before != NULL && str_equal(buffer_str(before), buffer_str(&record));
    if (same) {
        t->count--;
        buffer_free(&record);
        return;
    }
    struct buffer *kept = map_remove(l->nodes, node->name);
    if (kept == NULL)
        kept = memory_take(sizeof(*kept));
    buffer_free(kept);
    *kept = record;
    map_set(l->nodes, node->name, kept);
}

static bool take_node(struct log *l, int64_t at_us, const struct kube_json *object)
{
    struct str why = {NULL, 0};
    if (!trace_node(l->trace, at_us, object, &why))
        return fail(l, why);
    drop_if_same(l);
    return true;
}

static bool take_pod(struct log *l, int64_t at_us, const struct kube_json *object)
{
    struct str why = {NULL, 0};
    if (!trace_pod(l->trace, at_us, object, &why))
        return fail(l, why);
    const struct pod *pod = &l->trace->at[l->trace->count - 1].message->pod_set.pod;
    struct str key = pod_key(l, pod->namespace_name, pod->name);
    memory_free(map_set(l->pods, key, str_copy(pod->uid)));
    return true;
}

static void lose_pod(struct log *l, int64_t at_us, struct str space, struct str name)
{
    struct str key = pod_key(l, space, name);
    char *uid = map_remove(l->pods, key);
    const struct pod_gone gone = {
        .uid = str_of(uid != NULL ? uid : ""), .namespace_name = space, .name = name};
    if (uid != NULL)
        trace_pod_gone(l->trace, at_us, &gone);
    memory_free(uid);
}

/* ---- entries ---- */

struct entry {
    const struct kube_json *json,
        *object; /* object: that was answered with; NULL: it was not told */
    struct str verb, resource, subresource, space, name;
    int64_t at_us;
};

static bool is_object(const struct entry *e, const char *kind)
{
    return e->object != NULL && str_is(kube_json_text(kube_json_get(e->object, "kind")), kind);
}

static bool of_node(struct log *l, const struct entry *e)
{
    if (str_is(e->verb, "delete")) {
        struct buffer *kept = map_remove(l->nodes, e->name);
        if (kept != NULL)
            buffer_free(kept);
        memory_free(kept);
        trace_node_gone(l->trace, e->at_us, e->name);
        return true;
    }
    if (!is_object(e, "Node")) {
        l->bare++;
        return true;
    }
    return take_node(l, e->at_us, e->object);
}

/* It is there until its kubelet has ended it, and deletes it once more. */
static bool is_terminating(const struct entry *e)
{
    int64_t grace = 0;
    return is_object(e, "Pod") &&
           kube_json_i64(kube_json_path(e->object, "metadata.deletionGracePeriodSeconds"),
                         &grace) &&
           grace > 0;
}

static bool is_finished(const struct entry *e)
{
    struct str phase =
        e->object != NULL ? text_at(e->object, "status.phase") : (struct str){NULL, 0};
    return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

static bool of_pod(struct log *l, const struct entry *e)
{
    bool creates = str_is(e->verb, "create") && e->subresource.len == 0;
    if (creates && !is_object(e, "Pod")) {
        l->bare++;
        return true;
    }
    if (creates)
        return take_pod(l, e->at_us, e->object);
    bool deletes = str_is(e->verb, "delete") && e->subresource.len == 0 && !is_terminating(e);
    if (deletes || is_finished(e))
        lose_pod(l, e->at_us, e->space, e->name);
    else
        l->trace->passed_over++;
    return true;
}

static bool is_done(const struct kube_json *json)
{
    int64_t code = 0;
    return str_is(text_at(json, "stage"), "ResponseComplete") &&
           kube_json_i64(kube_json_path(json, "responseStatus.code"), &code) && code >= 200 &&
           code < 300;
}

static bool is_change(struct str verb)
{
    return str_is(verb, "create") || str_is(verb, "update") || str_is(verb, "patch") ||
           str_is(verb, "delete");
}

static bool take_entry(struct log *l, const struct kube_json *json)
{
    struct entry e = {.json = json,
                      .object = kube_json_get(json, "responseObject"),
                      .verb = text_at(json, "verb"),
                      .resource = text_at(json, "objectRef.resource"),
                      .subresource = text_at(json, "objectRef.subresource"),
                      .space = text_at(json, "objectRef.namespace"),
                      .name = text_at(json, "objectRef.name")};
    struct str when = text_at(json, "stageTimestamp");
    bool nodes = str_is(e.resource, "nodes"), pods = str_is(e.resource, "pods");
    if ((!nodes && !pods) || !is_change(e.verb) || !is_done(json)) {
        l->trace->passed_over++;
        return true;
    }
    if (e.name.len == 0 && e.object != NULL) /* of a creation with generateName */
        e.name = text_at(e.object, "metadata.name");
    if (when.len == 0)
        when = text_at(json, "requestReceivedTimestamp");
    if (!moment_parse_wall(when.at, when.len, &e.at_us))
        return fail(l, STR_LITERAL("there is no time in stageTimestamp"));
    return nodes ? of_node(l, &e) : of_pod(l, &e);
}

static bool take_line(struct log *l, struct str line)
{
    struct str why = {NULL, 0}, text = str_trim(line);
    if (text.len == 0)
        return true;
    struct arena memory = {0};
    struct kube_json *json = kube_json_parse(text, &why, &memory);
    bool good = json != NULL ? take_entry(l, json) : fail(l, why);
    kube_json_free(&json);
    arena_free(&memory);
    return good;
}

static bool read_log(struct log *l)
{
    FILE *file = fopen(l->path, "re");
    struct buffer line = {0};
    bool good = true;
    if (file == NULL)
        return fail_to_read(l, l->path);
    while (good && lines_next(file, &line)) {
        l->number++;
        good = take_line(l, buffer_str(&line));
    }
    if (good && ferror(file))
        good = fail_to_read(l, l->path);
    buffer_free(&line);
    fclose(file);
    return good;
}

/* ---- what was there before ---- */

static bool take_object(struct log *l, const struct kube_json *object)
{
    struct str kind = kube_json_text(kube_json_get(object, "kind"));
    struct str phase = text_at(object, "status.phase");
    if (str_is(kind, "Node"))
        return take_node(l, 0, object);
    if (str_is(kind, "Pod") && !str_is(phase, "Succeeded") && !str_is(phase, "Failed"))
        return take_pod(l, 0, object);
    return true;
}

/* An object, or a list of them. */
static bool take_document(struct log *l, const struct kube_json *document)
{
    const struct kube_json *items = kube_json_get(document, "items");
    if (!kube_json_is_array(items))
        return take_object(l, document);
    for (const struct kube_json *o = kube_json_first(items); o != NULL; o = kube_json_next(o))
        if (!take_object(l, o))
            return false;
    return true;
}

static bool take_documents(struct log *l, const struct kube_json *all)
{
    if (!kube_json_is_array(all))
        return take_document(l, all);
    for (const struct kube_json *o = kube_json_first(all); o != NULL; o = kube_json_next(o))
        if (!take_document(l, o))
            return false;
    return true;
}

static bool read_cluster(struct log *l, const char *path)
{
    struct buffer text = {0};
    char piece[65536];
    size_t n;
    struct str why = {NULL, 0};
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return fail_to_read(l, path);
    while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
        buffer_add(&text, piece, n);
    bool good = !ferror(file) || fail_to_read(l, path);
    fclose(file);
    l->path = path;
    struct kube_json *all = NULL;
    if (good)
        all = kube_json_parse_yaml(buffer_str(&text), &why, &l->trace->memory);
    good = good && (all != NULL ? take_documents(l, all) : fail(l, why));
    kube_json_free(&all);
    buffer_free(&text);
    return good;
}

/* What was there before is there when the log begins. */
static void set_beginning(struct trace *t, size_t before)
{
    for (size_t i = 0; i < before; i++)
        t->at[i].at_us = t->count > before ? t->at[before].at_us : 1;
}

bool audit_read(struct trace *t, const char *log, const char *cluster, struct str *error)
{
    struct log l = {.trace = t, .path = log, .nodes = map_new(), .pods = map_new(), .error = error};
    bool good = cluster == NULL || read_cluster(&l, cluster);
    size_t before = t->count;
    l.path = log;
    l.number = 0;
    good = good && read_log(&l);
    set_beginning(t, before);
    if (good && l.bare > 0) {
        *error = arena_print(&t->memory,
                             "%s: %llu entries about nodes or pods come without the object: the "
                             "audit policy must have the level RequestResponse for them",
                             log, (unsigned long long)l.bare);
        good = false;
    }
    void *value;
    for (size_t at = 0; map_next(l.nodes, &at, NULL, &value);)
        buffer_free(value);
    free_all(&l.nodes);
    free_all(&l.pods);
    return good;
}
