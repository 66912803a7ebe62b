/* gather: asks every process how it is, twice, and in between takes the pods that wait from the
 * watcher and compares what all hold. What must stay true: nothing is changed or slowed; a snapshot
 * is whole or there is none; and each step ends when the time is over.
 */
#include "ctl/doctor/gather.h"

#include "proto/base/memory.h"

#define LEAST_MS 2000 /* between the two times */
#define WINDOW   2000 /* messages of the snapshot that may be on their way */

/* ---- statuses ---- */

static void take_status(struct gathering *g, size_t door, const struct status *said)
{
    struct process_fact *p = &g->facts.processes[door];
    bool *answered = g->before ? &p->answered_before : &p->answered;
    if (*answered)
        return;
    *answered = true;
    g->wanted--;
    codec_copy(message_info[MSG_status].record, g->before ? &p->before : &p->now, said, &g->memory);
}

static bool all_have_said(const struct inquiry *t)
{
    return ((const struct gathering *)t->context)->wanted == 0;
}

static void ask_statuses(struct gathering *g, bool before)
{
    const struct message m = {.type = MSG_status_request};
    struct inquiry *t = &g->comparison.inquiry;
    g->before = before;
    g->wanted = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->told[i].from.peer == 0 || t->told[i].own)
            continue;
        g->wanted++;
        inquiry_send(t, &t->told[i], &m);
    }
    inquiry_converse(t, moment_after(moment_now(), t->asking->wait), all_have_said);
}

/* ---- pods that wait ---- */

static void subscribe(struct gathering *g, const struct told *watcher)
{
    const struct message m = {.type = MSG_subscribe,
                              .subscribe = {.credit = WINDOW, .pods_once = true}};
    g->snapshot.begun = g->snapshot.whole = false;
    g->snapshot.used = 0;
    g->facts.pod_count = 0;
    inquiry_send(&g->comparison.inquiry, watcher, &m);
}

static struct str join(struct strs names, struct arena *a)
{
    struct buffer all = {0};
    for (uint32_t i = 0; i < names.count; i++)
        buffer_print(&all, "%s%.*s", i > 0 ? ", " : "", STR_ARG(names.at[i]));
    struct str text = arena_copy(a, buffer_str(&all));
    buffer_free(&all);
    return text;
}

static void take_pod(struct gathering *g, const struct pod *pod)
{
    struct facts *f = &g->facts;
    int64_t age_us = moment_wall_us() - pod->created;
    if (pod->node_name.len > 0)
        return;
    if (f->pod_count == g->snapshot.room) {
        g->snapshot.room = g->snapshot.room * 2 + 256;
        f->pods = memory_resize(f->pods, g->snapshot.room * sizeof(*f->pods));
    }
    f->pods[f->pod_count++] =
        (struct pod_fact){.space = arena_copy(&g->memory, pod->namespace_name),
                          .name = arena_copy(&g->memory, pod->name),
                          .scheduler = arena_copy(&g->memory, pod->scheduler_name),
                          .age_s = pod->created > 0 && age_us > 0 ? age_us / 1000000 : 0,
                          .gated = pod->gates.count > 0,
                          .gates = join(pod->gates, &g->memory),
                          .deleting = pod->deleting,
                          .nominated = pod->nominated_node.len > 0,
                          .reasoned = pod->scheduled.reason.len > 0};
}

static void grant(struct gathering *g, const struct told *watcher)
{
    const struct message m = {.type = MSG_credit, .credit = {.count = ++g->snapshot.used}};
    if (g->snapshot.used < WINDOW / 2)
        return;
    g->snapshot.used = 0;
    inquiry_send(&g->comparison.inquiry, watcher, &m);
}

/* Is it the very next of the snapshot? */
static bool follows(struct gathering *g, const struct delivery *in)
{
    if (in->message->type == MSG_snapshot_begin && !g->snapshot.begun) {
        g->snapshot.begun = true;
        g->snapshot.epoch = in->epoch;
        g->snapshot.sequence = in->sequence;
        g->snapshot.part = 1;
        return true;
    }
    return g->snapshot.begun && in->epoch == g->snapshot.epoch &&
           in->sequence == g->snapshot.sequence && in->part == ++g->snapshot.part;
}

static void take_object(struct gathering *g, const struct told *watcher, const struct delivery *in)
{
    if (g->snapshot.whole)
        return;
    g->snapshot.heard = moment_now();
    if (!follows(g, in)) { /* another life of it, or a message was lost */
        subscribe(g, watcher);
        return;
    }
    grant(g, watcher);
    if (in->message->type == MSG_pod_set)
        take_pod(g, &in->message->pod_set.pod);
    g->snapshot.whole = in->message->type == MSG_snapshot_end;
}

static bool is_over(const struct inquiry *t)
{
    const struct gathering *g = t->context;
    return g->snapshot.whole ||
           moment_reached(moment_now(), moment_after(g->snapshot.heard, t->asking->wait));
}

static const struct told *find_watcher(struct gathering *g)
{
    struct inquiry *t = &g->comparison.inquiry;
    for (size_t i = 0; i < t->count; i++)
        if (t->told[i].from.peer != 0 && t->told[i].from.process == WATCHER)
            return &t->told[i];
    return NULL;
}

/* As long as something comes it goes on: a snapshot takes as long as the cluster is large. */
static void ask_pods(struct gathering *g)
{
    const struct told *watcher = find_watcher(g);
    if (watcher == NULL)
        return;
    subscribe(g, watcher);
    g->snapshot.heard = moment_now();
    while (!is_over(&g->comparison.inquiry))
        inquiry_converse(&g->comparison.inquiry,
                         moment_after(g->snapshot.heard, g->comparison.asking.wait), is_over);
    g->facts.has_pods = g->snapshot.whole;
}

/* ---- all of it ---- */

static void hear(void *context, struct told *from, const struct delivery *in)
{
    struct gathering *g = context;
    if (from == NULL)
        return;
    if (in->message->type == MSG_status)
        take_status(g, (size_t)(from - g->comparison.inquiry.told), &in->message->status);
    else if (in->epoch != 0 && in->from.process == WATCHER)
        take_object(g, from, in);
}

/* What was found by looking at all, as lines. */
static void take_comparison(struct gathering *g)
{
    const struct comparison *c = &g->comparison;
    const struct differences *d = &c->differences;
    struct facts *f = &g->facts;
    f->serves = c->inquiry.schedulers;
    f->has_serves = f->serves.count > 0;
    f->differs.at = arena_take(&g->memory, (d->count + 1) * sizeof(struct str));
    for (uint32_t i = 0; i < d->count; i++)
        if (differences_settled(d, d->at[i]))
            f->differs.at[f->differs.count++] = comparison_text(d->at[i], &g->memory);
    for (size_t i = 0; i < c->count && i < f->process_count; i++)
        f->processes[i].not_compared = comparison_lacks(c, &c->compared[i]);
}

bool doctor_gather(struct gathering *g)
{
    struct comparison *c = &g->comparison;
    struct facts *f = &g->facts;
    c->inquiry.hear = hear;
    c->inquiry.context = g;
    if (!inquiry_open(&c->inquiry, &c->asking))
        return false;
    f->process_count = (uint32_t)c->inquiry.count;
    f->processes = arena_take(&g->memory, (c->inquiry.count + 1) * sizeof(*f->processes));
    for (size_t i = 0; i < c->inquiry.count; i++)
        f->processes[i].name = c->inquiry.told[i].name;
    if (!c->asking.named && c->asking.run_dir != NULL)
        f->ended_count = ended_read(c->asking.run_dir, f->ended, ENDED_MOST);
    struct moment begun = moment_now();
    ask_statuses(g, true);
    ask_pods(g);
    if (!comparison_run(c))
        return false;
    struct moment least = moment_after(begun, span_of_ms(LEAST_MS));
    if (!moment_reached(moment_now(), least))
        inquiry_pause(&c->inquiry, moment_since(least, moment_now()));
    ask_statuses(g, false);
    f->between_ms = span_ms(moment_since(moment_now(), begun));
    take_comparison(g);
    return true;
}

void gathering_free(struct gathering *g)
{
    comparison_free(&g->comparison);
    memory_free(g->facts.pods);
    arena_free(&g->memory);
}
