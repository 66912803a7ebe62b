/* cluster: a dump of what was there before. What must stay true: what is in the file is a node, a
 * pod, or known to be no matter here; everything else is named by its place, as a cluster that is
 * silently smaller than the real one decides other than that did. */
#include "ctl/import/cluster.h"

#include "ctl/schema.h"
#include "ctl/whatif/manifests.h"
#include "proto/base/buffer.h"
#include "proto/kube/documents/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct dump {
    struct present *present;
    int64_t release;
    struct str *error;
};

/* An object: where it stands, and what it is if it does not say so. */
struct item {
    struct str place, kind;
};

static struct arena *arena_of(struct dump *d)
{
    return &d->present->trace->memory;
}

static bool fail(struct dump *d, struct str place, const char *what, struct str more)
{
    *d->error = arena_print(arena_of(d), "%.*s: %s%.*s", STR_ARG(place), what, STR_ARG(more));
    return false;
}

static struct str text_at(const struct kube_json *object, const char *path)
{
    return kube_json_text(kube_json_path(object, path));
}

/* ---- one object ---- */

/* What has a UID came out of a cluster, so its kind is one there, whatever it is. */
static bool pass_over(struct dump *d, const struct kube_json *object, const struct item *as)
{
    static const char *const near[] = {"Node", "Pod", "List", NULL};
    bool is_live = text_at(object, "metadata.uid").len > 0;
    /* Of such a dump has the pods as well; a manifest has not, and its pods would be missing. */
    if (!is_live && manifests_makes_pods(as->kind))
        return fail(d, as->place, "kind: no pods are made here of a ", as->kind);
    if (!is_live && !manifests_ignores(as->kind) && !schema_has_kind(d->release, as->kind))
        return fail(d, as->place, "kind: no objects of kind ",
                    arena_print(arena_of(d), "%.*s are known here%.*s", STR_ARG(as->kind),
                                STR_ARG(schema_suggest(as->kind, near, arena_of(d)))));
    d->present->trace->passed_over++;
    return true;
}

static bool take_pod(struct dump *d, const struct kube_json *object, struct str *why)
{
    struct str phase = text_at(object, "status.phase");
    return str_is(phase, "Succeeded") || str_is(phase, "Failed") ||
           present_pod(d->present, 0, object, why);
}

static bool take_object(struct dump *d, const struct kube_json *object, struct item as)
{
    struct str why = {NULL, 0}, own = text_at(object, "kind");
    if (!kube_json_is_object(object))
        return fail(d, as.place, "must be an object, not ", str_of(kube_json_kind(object)));
    if (own.len > 0)
        as.kind = own;
    if (as.kind.len == 0)
        return fail(d, as.place, "kind: is missing", why);
    if (str_is(as.kind, "Node"))
        return present_node(d->present, 0, object, &why) || fail(d, as.place, "", why);
    if (str_is(as.kind, "Pod"))
        return take_pod(d, object, &why) || fail(d, as.place, "", why);
    return pass_over(d, object, &as);
}

/* ---- documents ---- */

static bool is_list(const struct kube_json *document, struct str kind)
{
    static const char list[] = "List";
    const uint32_t len = sizeof(list) - 1;
    return kube_json_get(document, "items") != NULL && kind.len >= len &&
           memcmp(kind.at + kind.len - len, list, len) == 0;
}

/* The items of the API server's own lists, such as a PodList, do not say their kind. */
static bool take_list(struct dump *d, const struct kube_json *list, struct str kind,
                      struct str place)
{
    const struct kube_json *items = kube_json_get(list, "items");
    struct item as = {.kind = {kind.at, kind.len - (uint32_t)strlen("List")}};
    unsigned index = 0;
    if (!kube_json_is_array(items))
        return fail(d, place, "items: must be a list, not ", str_of(kube_json_kind(items)));
    for (const struct kube_json *i = kube_json_first(items); i != NULL; i = kube_json_next(i)) {
        as.place = arena_print(arena_of(d), "%.*s: items[%u]", STR_ARG(place), index++);
        if (!take_object(d, i, as))
            return false;
    }
    return true;
}

static bool take_document(struct dump *d, const struct kube_json *document, struct str place)
{
    struct str kind = text_at(document, "kind");
    if (is_list(document, kind))
        return take_list(d, document, kind, place);
    return take_object(d, document, (struct item){.place = place});
}

static bool take_documents(struct dump *d, const struct kube_json *all, const char *path)
{
    unsigned number = 0;
    if (kube_json_is_null(all) || (kube_json_is_array(all) && kube_json_count(all) == 0))
        return fail(d, str_of(path), "there is no document in it", (struct str){NULL, 0});
    if (!kube_json_is_array(all))
        return take_document(d, all, str_of(path));
    for (const struct kube_json *i = kube_json_first(all); i != NULL; i = kube_json_next(i))
        if (!take_document(d, i, arena_print(arena_of(d), "%s: document %u", path, ++number)))
            return false;
    return true;
}

/* ---- the file ---- */

static bool read_text(struct dump *d, const char *path, struct buffer *text)
{
    char piece[65536];
    size_t n;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return fail(d, str_of(path), strerror(errno), (struct str){NULL, 0});
    while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
        buffer_add(text, piece, n);
    bool good = !ferror(file) || fail(d, str_of(path), strerror(errno), (struct str){NULL, 0});
    fclose(file);
    return good;
}

bool cluster_read(struct present *p, const char *path, int64_t release, struct str *error)
{
    struct dump d = {.present = p, .release = release, .error = error};
    struct buffer text = {0};
    struct str why = {NULL, 0};
    struct kube_json *all = NULL;
    bool good = read_text(&d, path, &text);
    if (good)
        all = kube_json_parse_yaml(buffer_str(&text), &why, arena_of(&d));
    good = good && (all != NULL ? take_documents(&d, all, path) : fail(&d, str_of(path), "", why));
    kube_json_free(&all);
    buffer_free(&text);
    return good;
}
