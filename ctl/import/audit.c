/* audit: answers to requests that changed nodes or pods, in their order. What must stay true: a pod
 * comes as its creation was answered; whatever was bound, by whom and where is passed over, as that
 * is to be decided anew; what was only tried (a dry run) did not happen; and a log that does not
 * tell objects is said to be of no use. */
#include "ctl/import/audit.h"

#include "ctl/import/cluster.h"
#include "ctl/import/lines.h"
#include "ctl/import/present.h"
#include "ctl/import/query.h"
#include "proto/base/moment.h"
#include "proto/kube/documents/json.h"

#include <errno.h>
#include <string.h>

struct log {
    struct present present;
    const char *path;
    unsigned long number;
    uint64_t bare; /* entries without their object */
    struct str *error;
};

static bool fail(struct log *l, struct str why)
{
    *l->error = arena_print(&l->present.trace->memory, "%s: line %lu: %.*s", l->path, l->number,
                            STR_ARG(why));
    return false;
}

/* As errno has it. */
static bool fail_to_read(struct log *l)
{
    *l->error = arena_print(&l->present.trace->memory, "%s: %s", l->path, strerror(errno));
    return false;
}

static struct str text_at(const struct kube_json *object, const char *path)
{
    return kube_json_text(kube_json_path(object, path));
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

static bool is_deletion(const struct entry *e)
{
    return str_is(e->verb, "delete") || str_is(e->verb, "deletecollection");
}

static bool of_node(struct log *l, const struct entry *e)
{
    struct str why = {NULL, 0};
    if (str_is(e->verb, "delete")) {
        present_lose_node(&l->present, e->at_us, e->name);
        return true;
    }
    if (!is_object(e, "Node")) {
        l->bare++;
        return true;
    }
    return present_node(&l->present, e->at_us, e->object, &why) || fail(l, why);
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

static bool is_finished(const struct kube_json *pod)
{
    struct str phase = text_at(pod, "status.phase");
    return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

/* Seconds that a pod has to end, as the API server reckons them: its list tells it as it was before
 * the deletion. */
static int64_t grace_of(const struct entry *e, const struct kube_json *pod)
{
    struct buffer value = {0};
    int64_t grace = 0;
    bool asked =
        kube_json_i64(kube_json_path(e->json, "requestObject.gracePeriodSeconds"), &grace) ||
        (query_get(text_at(e->json, "requestURI"), "gracePeriodSeconds", &value) &&
         str_to_i64(buffer_str(&value), &grace));
    if (!asked)
        (void)kube_json_i64(kube_json_path(pod, "spec.terminationGracePeriodSeconds"), &grace);
    buffer_free(&value);
    return text_at(pod, "spec.nodeName").len == 0 || is_finished(pod) ? 0 : grace;
}

static void of_item(struct log *l, const struct entry *e, const struct kube_json *item)
{
    struct str name = text_at(item, "metadata.name");
    if (str_is(e->resource, "nodes"))
        present_lose_node(&l->present, e->at_us, name);
    else if (grace_of(e, item) == 0)
        present_lose_pod(&l->present, e->at_us, text_at(item, "metadata.namespace"), name);
}

/* Each of a list is deleted. */
static void of_list(struct log *l, const struct entry *e)
{
    const struct kube_json *items = kube_json_get(e->object, "items");
    size_t before = l->present.trace->count;
    if (!kube_json_is_array(items)) {
        l->bare++;
        return;
    }
    for (const struct kube_json *i = kube_json_first(items); i != NULL; i = kube_json_next(i))
        of_item(l, e, i);
    if (l->present.trace->count == before)
        l->present.trace->passed_over++;
}

/* A pod that is applied by the server comes by a patch. */
static bool is_creation(const struct entry *e)
{
    int64_t code = 0;
    return str_is(e->verb, "create") ||
           (!is_deletion(e) &&
            kube_json_i64(kube_json_path(e->json, "responseStatus.code"), &code) && code == 201);
}

static bool of_pod(struct log *l, const struct entry *e)
{
    struct str why = {NULL, 0};
    bool creates = is_creation(e) && e->subresource.len == 0;
    if (creates && !is_object(e, "Pod")) {
        l->bare++;
        return true;
    }
    if (creates)
        return present_pod(&l->present, e->at_us, e->object, &why) || fail(l, why);
    bool deletes = str_is(e->verb, "delete") && !is_terminating(e);
    if (deletes || is_finished(e->object))
        present_lose_pod(&l->present, e->at_us, e->space, e->name);
    else
        l->present.trace->passed_over++;
    return true;
}

static bool is_done(const struct kube_json *json)
{
    int64_t code = 0;
    return str_is(text_at(json, "stage"), "ResponseComplete") &&
           kube_json_i64(kube_json_path(json, "responseStatus.code"), &code) && code >= 200 &&
           code < 300;
}

/* What else there is below a node or a pod, such as proxy, changes nothing of it, or what is
 * decided anew, and is answered with other objects. */
static bool is_of_use(const struct entry *e)
{
    struct str sub = e->subresource;
    return sub.len == 0 || (str_is(sub, "status") && !is_deletion(e));
}

/* Of a deletion most say it in the body. */
static bool is_dry_run(const struct entry *e)
{
    struct buffer value = {0};
    const struct kube_json *asked = kube_json_path(e->json, "requestObject.dryRun");
    bool dry = query_get(text_at(e->json, "requestURI"), "dryRun", &value) &&
               str_is(buffer_str(&value), "All");
    for (const struct kube_json *i = kube_json_first(asked); i != NULL; i = kube_json_next(i))
        dry |= is_deletion(e) && str_is(kube_json_text(i), "All");
    buffer_free(&value);
    return dry;
}

static bool is_change(struct str verb)
{
    return str_is(verb, "create") || str_is(verb, "update") || str_is(verb, "patch") ||
           str_is(verb, "delete") || str_is(verb, "deletecollection");
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
    if ((!nodes && !pods) || !is_of_use(&e) || !is_change(e.verb) || !is_done(json) ||
        is_dry_run(&e)) {
        l->present.trace->passed_over++;
        return true;
    }
    if (e.name.len == 0 && e.object != NULL) /* of a creation with generateName */
        e.name = text_at(e.object, "metadata.name");
    if (when.len == 0)
        when = text_at(json, "requestReceivedTimestamp");
    if (!moment_parse_wall(when.at, when.len, &e.at_us))
        return fail(l, STR_LITERAL("there is no time in stageTimestamp"));
    if (str_is(e.verb, "deletecollection")) {
        of_list(l, &e);
        return true;
    }
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
        return fail_to_read(l);
    while (good && lines_next(file, &line)) {
        l->number++;
        good = take_line(l, buffer_str(&line));
    }
    if (good && ferror(file))
        good = fail_to_read(l);
    buffer_free(&line);
    fclose(file);
    return good;
}

/* ---- the whole ---- */

/* What was there before is there when the log begins. */
static void set_beginning(struct trace *t, size_t before)
{
    for (size_t i = 0; i < before; i++)
        t->at[i].at_us = t->count > before ? t->at[before].at_us : 1;
}

bool audit_read(struct trace *t, const char *log, const char *cluster, int64_t release,
                struct str *error)
{
    struct log l = {.present = present_of(t), .path = log, .error = error};
    bool good = cluster == NULL || cluster_read(&l.present, cluster, release, error);
    size_t before = t->count;
    good = good && read_log(&l);
    set_beginning(t, before);
    if (good && l.bare > 0) {
        *error = arena_print(&t->memory,
                             "%s: %llu entries about nodes or pods come without the object: the "
                             "audit policy must have the level RequestResponse for them",
                             log, (unsigned long long)l.bare);
        good = false;
    }
    present_free(&l.present);
    return good;
}
