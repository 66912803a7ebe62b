/* say: what became of the pods, for people and for programs. What must stay true: both say the
 * same, and whatever was changed is said, so that an answer cannot be taken for another's. */
#include "ctl/whatif/whatif.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const origins[] = {"pending", "failed", "drained", "new", "bound"};

/* ---- for people ---- */

#define NAMES_SHOWN 10

static void list(struct buffer *out, const char *what, const struct strs *names)
{
    if (names->count == 0)
        return;
    buffer_print(out, "%-15s ", what);
    for (uint32_t i = 0; i < names->count && i < NAMES_SHOWN; i++)
        buffer_print(out, "%s%.*s", i > 0 ? ", " : "", STR_ARG(names->at[i]));
    if (names->count > NAMES_SHOWN)
        buffer_print(out, " and %" PRIu32 " more", names->count - NAMES_SHOWN);
    buffer_add_text(out, "\n");
}

static void changes(const struct whatif *w, struct buffer *out)
{
    size_t before = out->len;
    list(out, "Pods deleted:", &w->deleted);
    list(out, "Nodes failed:", &w->failed);
    list(out, "Nodes added:", &w->added);
    list(out, "Nodes cordoned:", &w->cordoned);
    list(out, "Nodes drained:", &w->drained);
    list(out, "Pods gone:", &w->gone);
    list(out, "Pods that stay:", &w->stayed);
    list(out, "Not asked:", &w->not_asked);
    list(out, "Not decided:", &w->not_decided);
    if (w->config.len > 0)
        buffer_print(out, "%-15s %.*s\n", "Decided with:", STR_ARG(w->config));
    if (out->len > before)
        buffer_add_text(out, "\n");
}

static int wider(int width, size_t len)
{
    return (int)len > width ? (int)len : width;
}

static int pod_width(const struct whatif *w)
{
    int width = 12;
    for (uint32_t i = 0; i < w->pods.count; i++)
        width = wider(width, (size_t)w->pods.at[i].space.len + w->pods.at[i].name.len + 1);
    for (uint32_t i = 0; i < w->evicted.count; i++)
        width = wider(width, w->evicted.at[i].pod.len);
    return width;
}

static int node_width(const struct whatif *w)
{
    int width = 7; /* pending */
    for (uint32_t i = 0; i < w->pods.count; i++) {
        width = wider(width, w->pods.at[i].node.len);
        width = wider(width, w->pods.at[i].was_on.len);
    }
    for (uint32_t i = 0; i < w->evicted.count; i++)
        width = wider(width, w->evicted.at[i].node.len);
    return width;
}

/* No blanks at its end. */
static void end_line(struct buffer *out)
{
    while (out->len > 0 && out->at[out->len - 1] == ' ')
        out->at[--out->len] = 0;
    buffer_add_text(out, "\n");
}

static void pods(const struct whatif *w, struct buffer *out)
{
    int name = pod_width(w), node = node_width(w);
    if (w->pods.count > 0)
        buffer_print(out, "%-*s  %-7s  %-*s  %-*s  %s\n", name, "POD", "WHY", node, "WAS ON", node,
                     "GOES TO", "MESSAGE");
    for (uint32_t i = 0; i < w->pods.count; i++) {
        const struct whatif_pod *pod = &w->pods.at[i];
        struct str to = pod->node.len > 0 ? pod->node : STR_LITERAL("pending");
        struct buffer full = {0};
        buffer_print(&full, "%.*s/%.*s", STR_ARG(pod->space), STR_ARG(pod->name));
        buffer_print(out, "%-*s  %-7s  %-*.*s  %-*.*s  %.*s", name, full.at, origins[pod->origin],
                     node, STR_ARG(pod->was_on), node, STR_ARG(to), STR_ARG(pod->message));
        end_line(out);
        buffer_free(&full);
    }
    if (w->evicted.count > 0)
        buffer_print(out, "\n%-*s  %-7s  %-*s  %s\n", name, "WOULD GO", "", node, "FROM", "FOR");
    for (uint32_t i = 0; i < w->evicted.count; i++)
        buffer_print(out, "%-*.*s  %-7s  %-*.*s  %.*s\n", name, STR_ARG(w->evicted.at[i].pod), "",
                     node, STR_ARG(w->evicted.at[i].node), STR_ARG(w->evicted.at[i].by));
}

void whatif_text(const struct whatif *w, struct buffer *out)
{
    uint32_t pending = whatif_pending(w);
    changes(w, out);
    pods(w, out);
    if (w->pods.count > 0)
        buffer_add_text(out, "\n");
    if (w->all)
        buffer_print(out, "%" PRId64 " bound pods decided anew: %" PRId64 " would stay\n", w->bound,
                     w->stay);
    buffer_print(out,
                 "%" PRIu32 " to decide: %" PRIu32 " placed, %" PRIu32 " pending, %" PRIu32
                 " would be evicted\n",
                 w->pods.count, w->pods.count - pending, pending, w->evicted.count);
}

/* ---- for programs ---- */

static void json_pod(struct json_out *j, const struct whatif_pod *pod)
{
    json_open(j, NULL, '{');
    json_str(j, "namespace", pod->space);
    json_str(j, "name", pod->name);
    json_str(j, "why", str_of(origins[pod->origin]));
    json_str_if(j, "wasOn", pod->was_on);
    json_i64(j, "priority", pod->priority);
    json_str(j, "result", str_of(pod->node.len > 0 ? "scheduled" : "pending"));
    json_str_if(j, "node", pod->node);
    json_str_if(j, "message", pod->message);
    json_close(j, '}');
}

static void json_changes(struct json_out *j, const struct whatif *w)
{
    json_open(j, "changes", '{');
    json_strs_if(j, "podsDeleted", w->deleted);
    json_strs_if(j, "nodesFailed", w->failed);
    json_strs_if(j, "nodesAdded", w->added);
    json_strs_if(j, "nodesCordoned", w->cordoned);
    json_strs_if(j, "nodesDrained", w->drained);
    json_strs_if(j, "podsGone", w->gone);
    json_strs_if(j, "podsThatStay", w->stayed);
    json_close(j, '}');
}

void whatif_json(const struct whatif *w, struct buffer *out)
{
    struct json_out j = {.out = out, .indented = true};
    uint32_t pending = whatif_pending(w);
    json_open(&j, NULL, '{');
    json_changes(&j, w);
    json_strs_if(&j, "notAsked", w->not_asked);
    json_strs_if(&j, "notDecided", w->not_decided);
    json_str_if(&j, "config", w->config);
    if (w->all) {
        json_i64(&j, "bound", w->bound);
        json_i64(&j, "stay", w->stay);
    }
    json_open(&j, "pods", '[');
    for (uint32_t i = 0; i < w->pods.count; i++)
        json_pod(&j, &w->pods.at[i]);
    json_close(&j, ']');
    json_open(&j, "evicted", '[');
    for (uint32_t i = 0; i < w->evicted.count; i++) {
        json_open(&j, NULL, '{');
        json_str(&j, "pod", w->evicted.at[i].pod);
        json_str(&j, "node", w->evicted.at[i].node);
        json_str(&j, "for", w->evicted.at[i].by);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_i64(&j, "scheduled", w->pods.count - pending);
    json_i64(&j, "pending", pending);
    json_close(&j, '}');
    buffer_add_text(out, "\n");
}
