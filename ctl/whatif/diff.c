/* diff: what becomes of the pods, as changes of their manifests in the form of diff -u. The one
 * idea: of a manifest what scheduling writes counts, so each file is its name, its node and its
 * nomination, all of it shown, and a hunk is the whole file.
 *
 * What must stay true: `patch -p1` takes it, whatever the names; nothing is said of a pod that
 * stays as it is. */
#include "ctl/whatif/whatif.h"
#include "proto/base/json_string.h"

#include <inttypes.h>

/* One line of it: in the file so far, in the file to be, or in both. */
static void line(struct buffer *out, int counts[2], const char *mark, const char *text)
{
    counts[0] += *mark != '+';
    counts[1] += *mark != '-';
    buffer_print(out, "%s%s\n", mark, text);
}

static void pair(struct buffer *out, int counts[2], const char *mark, const char *key,
                 struct str value)
{
    struct buffer text = {0};
    buffer_add_text(&text, key);
    json_string(&text, value);
    line(out, counts, mark, text.at);
    buffer_free(&text);
}

/* A section with one member that changes: gone, new, both or neither. */
static void section(struct buffer *out, int counts[2], const char *const keys[2],
                    const struct str values[2])
{
    bool was = values[0].len > 0, is = values[1].len > 0;
    if (!was && !is)
        return;
    line(out, counts, was && is ? " " : was ? "-" : "+", keys[0]);
    if (was && is && str_equal(values[0], values[1])) {
        pair(out, counts, " ", keys[1], values[0]);
        return;
    }
    if (was)
        pair(out, counts, "-", keys[1], values[0]);
    if (is)
        pair(out, counts, "+", keys[1], values[1]);
}

struct change {
    struct str space, name;
    bool was, is;                     /* the pod is there, before and after */
    struct str node[2], nominated[2]; /* then and now; empty: none */
};

static void header(struct buffer *out, const struct change *c, const int counts[2])
{
    if (c->was)
        buffer_print(out, "--- a/%.*s/%.*s.yaml\n", STR_ARG(c->space), STR_ARG(c->name));
    else
        buffer_add_text(out, "--- /dev/null\n");
    if (c->is)
        buffer_print(out, "+++ b/%.*s/%.*s.yaml\n", STR_ARG(c->space), STR_ARG(c->name));
    else
        buffer_add_text(out, "+++ /dev/null\n");
    buffer_print(out, "@@ -%d,%d +%d,%d @@\n", counts[0] > 0, counts[0], counts[1] > 0, counts[1]);
}

static void write_change(struct buffer *out, const struct change *c)
{
    static const char *const spec[2] = {"spec:", "  nodeName: "};
    static const char *const status[2] = {"status:", "  nominatedNodeName: "};
    const char *mark = c->was && c->is ? " " : c->was ? "-" : "+";
    int counts[2] = {0};
    struct buffer body = {0};
    line(&body, counts, mark, "apiVersion: v1");
    line(&body, counts, mark, "kind: Pod");
    line(&body, counts, mark, "metadata:");
    pair(&body, counts, mark, "  name: ", c->name);
    pair(&body, counts, mark, "  namespace: ", c->space);
    section(&body, counts, spec, c->node);
    section(&body, counts, status, c->nominated);
    header(out, c, counts);
    buffer_add(out, body.at, body.len);
    buffer_free(&body);
}

/* What becomes of it is said among the pods. */
static bool is_decided(const struct whatif *w, struct str space, struct str name)
{
    for (uint32_t i = 0; i < w->pods.count; i++)
        if (str_equal(w->pods.at[i].name, name) && str_equal(w->pods.at[i].space, space))
            return true;
    return false;
}

void whatif_diff(const struct whatif *w, struct buffer *out)
{
    for (uint32_t i = 0; i < w->pods.count; i++) {
        const struct whatif_pod *p = &w->pods.at[i];
        const struct change change = {.space = p->space,
                                      .name = p->name,
                                      .was = p->origin != WHATIF_new,
                                      .is = true,
                                      .node = {p->was_on, p->node},
                                      .nominated = {p->nominated, {0}}};
        bool same = change.was && str_equal(p->was_on, p->node);
        if (!same && (p->node.len > 0 || change.was))
            write_change(out, &change);
    }
    for (uint32_t i = 0; i < w->evicted.count; i++) {
        const struct whatif_evicted *e = &w->evicted.at[i];
        int64_t slash = str_find(e->pod, '/');
        const struct change change = {
            .space = {e->pod.at, (uint32_t)slash},
            .name = {e->pod.at + slash + 1, e->pod.len - (uint32_t)slash - 1},
            .was = true,
            .node = {e->node, {0}}};
        if (!is_decided(w, change.space, change.name))
            write_change(out, &change);
    }
}
