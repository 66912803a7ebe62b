/* pods: `berth pods`, all pods as the watcher has them, and where those wait that have no node. The
 * one idea: the watcher's cluster joined with what the queue says, both asked once (live.h).
 *
 * What must stay true: a pod is shown once, whichever of the two was first to hear of it. */
#include "ctl/json_out.h"
#include "ctl/tables/select.h"
#include "ctl/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/kube/objects/selector.h"

#include <stdio.h>
#include <stdlib.h>

#define WAIT_S 10

struct command {
    struct columns_flags flags; /* first: see COLUMNS_OPTIONS */
    struct live live;
    struct pods_view view;
    struct arena arena;
    const char *space;
    bool all_spaces;
};

/* ---- options ---- */

static bool take_pending(void *state, const char *value)
{
    (void)value;
    return ((struct command *)state)->view.pending = true;
}

static bool take_node(void *state, const char *value)
{
    ((struct command *)state)->view.node = str_of(value);
    return *value != 0;
}

static bool take_namespace(void *state, const char *value)
{
    ((struct command *)state)->space = value;
    return *value != 0;
}

static bool take_all_namespaces(void *state, const char *value)
{
    (void)value;
    return ((struct command *)state)->all_spaces = true;
}

static bool take_selector(void *state, const char *value)
{
    struct command *c = state;
    return select_read(str_of(value), &c->view.selector, &c->arena);
}

static const struct own_option pods_options[] = {
    {"pending", NULL, "only pods that have no node", take_pending},
    {"node", "NODE", "only pods on this node", take_node},
    {"n", "NAMESPACE", "pods of this namespace (default: default)", take_namespace},
    {"A", NULL, "pods of all namespaces", take_all_namespaces},
    {"l", "SELECTOR", "only pods with these labels: a=b, a!=b, a in (b,c), a, !a; with commas",
     take_selector},
    {"o", "text|wide|json|name", "output format (default text)", columns_take_form_or_name},
    COLUMNS_MORE_OPTIONS,
    {NULL, NULL, NULL, NULL},
};

/* ---- which pods ---- */

struct found {
    const struct live *live;
    const struct pods_view *view;
    struct arena arena;
    uint32_t count, room;
    struct pod *at;
};

static void note(void *context, const struct pod *pod)
{
    struct found *f = context;
    const struct pods_view *v = f->view;
    if ((v->pending && pod->node_name.len > 0) ||
        (v->space.len > 0 && !str_equal(v->space, pod->namespace_name)) ||
        (v->node.len > 0 && !str_equal(v->node, pod->node_name)) ||
        (v->selector.present &&
         !label_selector_matches(&v->selector, pod->labels.at, pod->labels.count)))
        return;
    if (f->count == f->room) {
        f->room = f->room * 2 + 64;
        f->at = memory_resize(f->at, f->room * sizeof(*f->at));
    }
    const struct pod shown = {.namespace_name = pod->namespace_name,
                              .name = pod->name,
                              .uid = pod->uid,
                              .created = pod->created,
                              .started = pod->started,
                              .node_name = pod->node_name,
                              .nominated_node = pod->nominated_node,
                              .scheduler_name = pod->scheduler_name,
                              .priority = pod->priority,
                              .deleting = pod->deleting,
                              .scheduled = pod->scheduled};
    codec_copy(&pod_record, &f->at[f->count++], &shown, &f->arena);
}

static int by_name(const void *a, const void *b)
{
    const struct pod *x = a, *y = b;
    int spaces = str_compare(x->namespace_name, y->namespace_name);
    return spaces != 0 ? spaces : str_compare(x->name, y->name);
}

static struct found find(const struct live *live, const struct pods_view *view)
{
    struct found f = {.live = live, .view = view};
    world_each_pod(live->world, note, &f);
    if (f.count > 0)
        qsort(f.at, f.count, sizeof(*f.at), by_name);
    return f;
}

static void found_free(struct found *f)
{
    arena_free(&f->arena);
    memory_free(f->at);
}

/* ---- what is said of them ---- */

/* As the queue has it; NULL: it is not there, or is not among those that the queue has told of. */
static const struct pending_pod *waiting(const struct live *live, const struct pod *pod)
{
    for (uint32_t i = 0; i < live->pending.pods.count && pod->node_name.len == 0; i++)
        if (str_equal(live->pending.pods.at[i].uid, pod->uid))
            return &live->pending.pods.at[i];
    return NULL;
}

static struct str status_of(const struct pod *pod, const struct pending_pod *waits)
{
    if (pod->deleting)
        return STR_LITERAL("Terminating");
    if (pod->node_name.len > 0)
        return STR_LITERAL("Scheduled");
    return waits != NULL ? words_text(&pending_place_words, waits->place) : STR_LITERAL("Pending");
}

/* A number and a blank: it turned away so many nodes; -1: there is none. */
static int64_t nodes_of(struct str text)
{
    int64_t count = -1;
    struct str number = {text.at, 0};
    while (number.len < text.len && text.at[number.len] >= '0' && text.at[number.len] <= '9')
        number.len++;
    if (number.len == text.len || text.at[number.len] != ' ' || !str_to_i64(number, &count))
        return -1;
    return count;
}

/* Up to the next one, which begins with a number, or to the end of all; a comma may be inside. */
static struct str next_reason(struct str *rest)
{
    const struct str text = *rest;
    uint32_t end = 0, next = text.len;
    for (; end < text.len; end++) {
        const struct str behind = {text.at + end + 1, text.len - end - 1};
        bool blank = behind.len > 0 && behind.at[0] == ' ';
        if (text.at[end] == '.' && (behind.len == 0 || blank))
            break;
        if (text.at[end] == ',' && blank &&
            nodes_of((struct str){behind.at + 1, behind.len - 1}) >= 0) {
            next = end + 2;
            break;
        }
    }
    *rest = (struct str){text.at + next, text.len - next};
    return (struct str){text.at, end};
}

struct str pods_main_reason(struct str message)
{
    static const char nodes[] = "nodes are available: ";
    const uint32_t head = sizeof(nodes) - 1;
    struct str rest = message, main = {0};
    int64_t most = -1;
    while (rest.len >= head && !str_starts_with(rest, nodes))
        rest = (struct str){rest.at + 1, rest.len - 1};
    if (rest.len < head)
        return message;
    rest = (struct str){rest.at + head, rest.len - head};
    while (rest.len > 0) {
        struct str reason = next_reason(&rest);
        int64_t count = nodes_of(reason);
        if (main.at == NULL || count > most) {
            main = reason;
            most = count;
        }
    }
    return main;
}

static void fill_row(const struct found *f, const struct pod *pod, struct columns *t)
{
    const struct pods_view *v = f->view;
    const struct pending_pod *waits = waiting(f->live, pod);
    struct str why = pod->scheduled.message;
    if (v->spaces)
        columns_text(t, pod->namespace_name);
    columns_text(t, pod->name);
    columns_text(t, status_of(pod, waits));
    if (waits != NULL)
        columns_i64(t, waits->attempts);
    else
        columns_number(t, STR_LITERAL("-"), -1);
    columns_next_try(t, waits != NULL ? waits->backoff_ms : 0);
    columns_span(t, (v->now_us - pod->created) / 1000);
    columns_text(t, pod->node_name);
    if (v->wide) {
        columns_text(t, pod->nominated_node);
        columns_i64(t, pod->priority);
        columns_text(t, pod->scheduler_name);
    }
    if (v->wide || v->pending)
        columns_text(t, v->wide ? why : pods_main_reason(why));
}

static void fill_heads(const struct pods_view *view, struct columns *t)
{
    columns_head(t, view->spaces ? "NAMESPACE" : NULL);
    columns_head(t, "NAME");
    columns_head(t, "STATUS");
    columns_head(t, "ATTEMPTS");
    columns_head(t, "NEXT TRY");
    columns_head(t, "AGE");
    columns_head(t, "NODE");
    columns_head(t, view->wide ? "NOMINATED NODE" : NULL);
    columns_head(t, view->wide ? "PRIORITY" : NULL);
    columns_head(t, view->wide ? "SCHEDULER" : NULL);
    columns_head(t, view->wide || view->pending ? "WHY" : NULL);
}

void pods_fill(const struct live *live, const struct pods_view *view, struct columns *t)
{
    struct found f = find(live, view);
    fill_heads(view, t);
    for (uint32_t i = 0; i < f.count; i++)
        fill_row(&f, &f.at[i], t);
    found_free(&f);
}

/* ---- for programs ---- */

static void json_pod(struct json_out *j, const struct pod *pod, const struct pending_pod *waits)
{
    json_open(j, NULL, '{');
    json_str(j, "namespace", pod->namespace_name);
    json_str(j, "name", pod->name);
    json_str(j, "uid", pod->uid);
    json_str(j, "status", status_of(pod, waits));
    json_str_if(j, "node", pod->node_name);
    json_str_if(j, "nominatedNode", pod->nominated_node);
    json_str(j, "schedulerName", pod->scheduler_name);
    json_i64(j, "priority", pod->priority);
    json_i64(j, "createdUs", pod->created);
    if (pod->started > 0)
        json_i64(j, "startedUs", pod->started);
    if (waits != NULL) {
        json_i64(j, "attempts", waits->attempts);
        json_i64(j, "backoffMs", waits->backoff_ms);
        json_strs_if(j, "rejectedBy", waits->rejected_by);
    }
    json_str_if(j, "message", pod->scheduled.message);
    json_close(j, '}');
}

static void print_json(const struct command *c)
{
    struct buffer out = {0};
    struct json_out j = {.out = &out};
    struct found f = find(&c->live, &c->view);
    json_open(&j, NULL, '[');
    for (uint32_t i = 0; i < f.count; i++)
        json_pod(&j, &f.at[i], waiting(&c->live, &f.at[i]));
    json_close(&j, ']');
    buffer_add_text(&out, "\n");
    fwrite(out.at, 1, out.len, stdout);
    buffer_free(&out);
    found_free(&f);
}

static void print_names(const struct command *c)
{
    struct found f = find(&c->live, &c->view);
    for (uint32_t i = 0; i < f.count; i++)
        printf("pod/%.*s\n", STR_ARG(f.at[i].name));
    found_free(&f);
}

static int show(struct command *c)
{
    struct columns t = {.columns = 0};
    char where[300] = "";
    bool table = c->flags.form == COLUMNS_text || c->flags.form == COLUMNS_wide;
    c->view.wide = c->flags.form != COLUMNS_text;
    c->view.spaces = c->all_spaces;
    if (!table) {
        fill_heads(&c->view, &t);
        bool can = columns_can_sort(&t, &c->flags, "berth pods");
        if (can)
            (c->flags.form == COLUMNS_json ? print_json : print_names)(c);
        columns_free(&t);
        return can ? 0 : 1;
    }
    if (!c->all_spaces)
        snprintf(where, sizeof(where), " in %.*s namespace.", STR_ARG(c->view.space));
    pods_fill(&c->live, &c->view, &t);
    bool shown = columns_show(&t, &c->flags, "berth pods", where);
    columns_free(&t);
    return shown ? 0 : 1;
}

int command_pods(int argc, char **argv)
{
    struct command *c = memory_take(sizeof(*c));
    struct options_table table = {.program = "berth pods",
                                  .usage = "show pods, and where those wait that have no node",
                                  .options = pods_options,
                                  .state = c,
                                  .more = asking_options,
                                  .more_state = &c->live.asking};
    int status = 1;
    live_init(&c->live, table.program, WAIT_S);
    options_read(&table, argc, argv);
    c->view.space = c->all_spaces ? (struct str){0} : str_of(c->space ? c->space : "default");
    c->view.now_us = moment_wall_us();
    if (live_load(&c->live))
        status = show(c);
    arena_free(&c->arena);
    live_free(&c->live);
    memory_free(c);
    return status;
}
