/* caller: each question is a small state machine: its pods are read; then filters, one after
 * another on what the former left, then all prioritizers at once; or one preempt call. What must
 * stay true: every question is answered exactly once unless whoever asked is gone; a call that
 * fails fails the question only where upstream's fails the scheduling cycle. */
#include "scheduler/extender/caller.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/documents/json.h"
#include "proto/kube/extenders/extender_wire.h"
#include "scheduler/extender/question.h"

#include <inttypes.h>
#include <string.h>

#define NODES_AGAIN_MS 20   /* how often unknown nodes are looked up again */
#define NODES_WAIT_MS  2000 /* our watch is hardly that far behind the scheduler's */

struct extender_stats {
    uint64_t calls, failures;
    int64_t took_us, took_us_max;
};

struct caller {
    struct caller_options options;
    struct question *first;
    struct outbox answers; /* until the next tick */
    uint64_t calls;        /* numbers given to requests */
    struct extender_stats stats[EXTENDERS_MAX];
    uint64_t asked, answered, failed, left;
    struct log_limit limit;
};

struct caller *caller_new(const struct caller_options *options)
{
    must(options->count <= EXTENDERS_MAX);
    struct caller *c = memory_take(sizeof(*c));
    c->options = *options;
    return c;
}

static void cancel_calls(struct caller *c, struct question *q)
{
    for (uint32_t i = 0; i < q->call_count; i++)
        if (q->calls[i].number != 0)
            c->options.ports.cancel(c->options.ports.state, q->calls[i].extender,
                                    q->calls[i].number);
}

static void drop(struct caller *c, struct question *q)
{
    struct question **at = &c->first;
    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
    cancel_calls(c, q);
    question_free(q);
}

void caller_free(struct caller **caller)
{
    struct caller *c = *caller;
    if (c == NULL)
        return;
    while (c->first != NULL)
        drop(c, c->first);
    outbox_free(&c->answers);
    memory_free(c);
    *caller = NULL;
}

/* ---- ends ---- */

static void answer(struct caller *c, struct question *q)
{
    struct message m = {.type = MSG_extended};
    question_tell(q, &m.extended);
    c->answered++;
    c->failed += q->error.len > 0;
    outbox_put(&c->answers, q->from, &m);
    drop(c, q);
}

static void fail(struct caller *c, struct question *q, struct str error)
{
    q->error = arena_copy(&q->arena, error);
    answer(c, q);
}

/* ---- requests ---- */

static const struct extender_config *config_of(const struct caller *c, uint32_t extender)
{
    return &c->options.extenders[extender];
}

static void post(struct caller *c, struct question *q, uint32_t extender, struct str verb,
                 const struct buffer *body)
{
    struct question_call *call = question_call(q, ++c->calls);
    call->extender = extender;
    call->verb = verb;
    call->number =
        c->options.ports.post(c->options.ports.state, extender, verb, buffer_str(body), call->id);
    c->stats[extender].calls++;
}

static void get_pod(struct caller *c, struct question *q, const struct victim *victim,
                    struct str *object)
{
    struct question_call *call = question_call(q, ++c->calls);
    struct str space = victim != NULL ? victim->namespace_name : q->ask.namespace_name;
    call->extender = CALLER_API;
    call->victim = victim;
    call->object = object;
    call->number = c->options.ports.get_pod(c->options.ports.state, space,
                                            victim != NULL ? victim->name : q->ask.name, call->id);
}

/* ---- filter and prioritize ---- */

static void go_on(struct caller *c, struct moment now, struct question *q);

/* The JSON of the nodes that are left, or NULL, with wait set, when one is not known yet. */
static struct str *gather_objects(struct caller *c, struct moment now, struct question *q,
                                  bool *wait)
{
    struct str *objects = arena_take(&q->arena, q->left.count * sizeof(*objects));
    *wait = false;
    for (uint32_t i = 0; i < q->left.count; i++) {
        if (c->options.ports.node(c->options.ports.state, q->left.at[i], &objects[i]))
            continue;
        if (q->patience.ns == 0)
            q->patience = moment_after(now, span_of_ms(NODES_WAIT_MS));
        *wait = !moment_reached(now, q->patience);
        q->unknown = q->left.at[i];
        return NULL;
    }
    return objects;
}

/* Asks an extender about the nodes that are left. False: it waits, or the question is over. */
static bool ask_nodes(struct caller *c, struct moment now, struct question *q, uint32_t extender,
                      struct str verb)
{
    const struct extender_config *e = config_of(c, extender);
    struct wire_nodes ask = {.pod = q->pod, .names = q->left};
    struct buffer body = {0};
    bool wait = false;
    if (!e->node_cache_capable)
        ask.objects = gather_objects(c, now, q, &wait);
    q->waits = wait;
    if (wait)
        return false;
    if (!e->node_cache_capable && ask.objects == NULL) {
        fail(c, q,
             arena_print(&q->arena, "extender \"%.*s\": node \"%.*s\" is not known to its caller",
                         STR_ARG(e->url_prefix), STR_ARG(q->unknown)));
        return false;
    }
    wire_nodes_body(&body, &ask);
    post(c, q, extender, verb, &body);
    buffer_free(&body);
    return true;
}

static void start_scores(struct caller *c, struct moment now, struct question *q)
{
    q->stage = STAGE_scores;
    for (uint32_t i = q->scorer; i < q->ask.extenders.count && q->left.count > 1; i++) {
        uint32_t extender = (uint32_t)q->ask.extenders.at[i].index;
        struct str verb = config_of(c, extender)->prioritize_verb;
        q->scorer = i;
        if (verb.len > 0 && !ask_nodes(c, now, q, extender, verb))
            return;
    }
    q->scorer = q->ask.extenders.count;
    if (q->call_count == 0)
        answer(c, q);
}

static void next_filter(struct caller *c, struct moment now, struct question *q)
{
    for (; q->filter < q->ask.extenders.count && q->left.count > 0; q->filter++) {
        uint32_t extender = (uint32_t)q->ask.extenders.at[q->filter].index;
        struct str verb = config_of(c, extender)->filter_verb;
        if (verb.len == 0)
            continue;
        (void)ask_nodes(c, now, q, extender, verb);
        return;
    }
    start_scores(c, now, q);
}

/* ---- preempt ---- */

static void ask_victims(struct caller *c, struct question *q)
{
    uint32_t extender = (uint32_t)q->ask.extenders.at[0].index;
    struct wire_victims ask = {.pod = q->pod,
                               .at = q->ask.candidates.at,
                               .count = q->ask.candidates.count,
                               .objects = q->victims};
    struct buffer body = {0};
    wire_victims_body(&body, &ask);
    q->stage = STAGE_victims;
    post(c, q, extender, config_of(c, extender)->preempt_verb, &body);
    buffer_free(&body);
}

/* ---- a question's way ---- */

static void go_on(struct caller *c, struct moment now, struct question *q)
{
    if (q->call_count > 0)
        return;
    if (q->ask.step == EXTEND_STEP_victims)
        ask_victims(c, q);
    else if (q->stage == STAGE_scores)
        start_scores(c, now, q);
    else
        next_filter(c, now, q);
}

/* The whole of each victim is sent to who keeps no cache of its own. */
static void read_victims(struct caller *c, struct question *q)
{
    uint32_t count = 0, extender = (uint32_t)q->ask.extenders.at[0].index;
    if (q->ask.step != EXTEND_STEP_victims || config_of(c, extender)->node_cache_capable)
        return;
    for (uint32_t i = 0; i < q->ask.candidates.count; i++)
        count += q->ask.candidates.at[i].victims.count;
    q->victims = arena_take(&q->arena, count * sizeof(*q->victims));
    struct str *object = q->victims;
    for (uint32_t i = 0; i < q->ask.candidates.count; i++)
        for (uint32_t k = 0; k < q->ask.candidates.at[i].victims.count; k++)
            get_pod(c, q, &q->ask.candidates.at[i].victims.at[k], object++);
}

static bool same_configuration(const struct caller *c, const struct extend *ask)
{
    if (ask->extenders_hash != 0 && ask->extenders_hash != c->options.hash)
        return false;
    for (uint32_t i = 0; i < ask->extenders.count; i++) {
        const struct extender_ref *ref = &ask->extenders.at[i];
        if (ref->index < 0 || ref->index >= c->options.count ||
            !str_equal(ref->url, c->options.extenders[ref->index].url_prefix))
            return false;
    }
    return ask->extenders.count > 0;
}

static void on_extend(struct caller *c, const struct delivery *in)
{
    struct question *q = question_new(&in->message->extend, in->from);
    q->next = c->first;
    c->first = q;
    c->asked++;
    if (!same_configuration(c, &q->ask)) {
        fail(c, q,
             STR_LITERAL("the process that calls extenders runs another configuration than the "
                         "scheduler"));
        return;
    }
    get_pod(c, q, NULL, &q->pod);
    read_victims(c, q);
}

static void on_peer_down(struct caller *c, const struct delivery *in)
{
    for (struct question *q = c->first, *next; q != NULL; q = next) {
        next = q->next;
        if (q->from.process != in->from.process || q->from.peer != in->from.peer)
            continue;
        c->left++;
        drop(c, q);
    }
}

bool caller_takes(enum message_type type)
{
    return type == MSG_extend || type == MSG_peer_down;
}

void caller_handle(void *state, struct moment now, const struct delivery *in, struct outbox *out)
{
    (void)now;
    (void)out;
    if (in->message->type == MSG_extend)
        on_extend(state, in);
    else if (in->message->type == MSG_peer_down)
        on_peer_down(state, in);
}

/* ---- what came of requests ---- */

static bool uid_of(struct str object, struct str *uid, struct arena *a)
{
    struct kube_json *document = kube_json_parse(object, NULL, a);
    *uid = arena_copy(a, kube_json_text(kube_json_path(document, "metadata.uid")));
    kube_json_free(&document);
    return uid->len > 0;
}

/* A victim that has gone meanwhile is told as little as is known of it. */
static struct str bare_victim(struct question *q, const struct victim *v)
{
    struct buffer text = {0};
    question_bare_pod(v, &text);
    struct str copy = arena_copy(&q->arena, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

static bool on_pod(struct caller *c, struct question *q, const struct question_call *call,
                   const struct kube_response *r)
{
    struct str uid = {0}, wanted = call->victim != NULL ? call->victim->uid : q->ask.uid;
    bool there = r->status == 200 && uid_of(r->body, &uid, &q->arena);
    bool ours = there && str_equal(uid, wanted);
    if (ours)
        *call->object = arena_copy(&q->arena, r->body);
    else if (call->victim != NULL)
        *call->object = bare_victim(q, call->victim);
    else if (there || r->status == 404)
        q->gone = true;
    else
        q->error =
            r->status != 0
                ? arena_print(&q->arena, "cannot read pod %.*s/%.*s for extenders: code %d",
                              STR_ARG(q->ask.namespace_name), STR_ARG(q->ask.name), r->status)
                : arena_print(&q->arena, "cannot read pod %.*s/%.*s for extenders: %s",
                              STR_ARG(q->ask.namespace_name), STR_ARG(q->ask.name), r->error);
    if (!q->gone && q->error.len == 0)
        return true;
    answer(c, q);
    return false;
}

/* Why a call failed, in upstream's words where there are some; empty: it was answered. */
static struct str call_error(const struct caller *c, struct question *q,
                             const struct question_call *call, const struct kube_response *r)
{
    struct str url = extender_url(config_of(c, call->extender), call->verb, &q->arena);
    if (r->status == 0)
        return arena_print(&q->arena, "Post \"%.*s\": %s", STR_ARG(url), r->error);
    if (r->status != 200)
        return arena_print(&q->arena, "failed %.*s with extender at URL %.*s, code %d",
                           STR_ARG(call->verb), STR_ARG(url), r->status);
    return (struct str){0};
}

static void say_ignored(struct caller *c, struct moment now, const struct question *q,
                        struct str why)
{
    if (log_limited(&c->limit, now))
        log_warn("an extender's failure is ignored| pod=%.*s/%.*s error=\"%.*s\"",
                 STR_ARG(q->ask.namespace_name), STR_ARG(q->ask.name), STR_ARG(why));
}

/* What came of a call: why is empty, or why it failed. */
struct outcome_of_call {
    uint32_t extender;
    struct str why, body;
};

/* What an answer to filter does to the question; empty, or why it is no good. */
static struct str take_filtered(struct caller *c, struct question *q, uint32_t extender,
                                struct str body)
{
    const struct extender_config *e = config_of(c, extender);
    struct wire_filtered said;
    struct str why = {0};
    if (!wire_filtered_read(body, &said, &q->arena, &why))
        return arena_print(&q->arena, "extender \"%.*s\": %.*s: %.*s", STR_ARG(e->url_prefix),
                           STR_ARG(e->filter_verb), STR_ARG(why));
    if (said.error.len > 0)
        return said.error;
    return question_filter(q, &said, e);
}

static void on_filtered(struct caller *c, struct moment now, struct question *q,
                        const struct outcome_of_call *call)
{
    uint32_t extender = call->extender;
    struct str why = call->why;
    if (why.len == 0)
        why = take_filtered(c, q, extender, call->body);
    c->stats[extender].failures += why.len > 0;
    if (why.len > 0 && !config_of(c, extender)->ignorable) {
        fail(c, q, why);
        return;
    }
    if (why.len > 0)
        say_ignored(c, now, q, why);
    q->filter++;
    go_on(c, now, q);
}

static void on_scores(struct caller *c, struct moment now, struct question *q,
                      const struct outcome_of_call *call)
{
    uint32_t extender = call->extender;
    struct str why = call->why;
    const struct extender_config *e = config_of(c, extender);
    struct wire_scores said = {0};
    if (why.len == 0 && !wire_scores_read(call->body, &said, &q->arena, &why))
        why = arena_print(&q->arena, "extender \"%.*s\": %.*s: %.*s", STR_ARG(e->url_prefix),
                          STR_ARG(e->prioritize_verb), STR_ARG(why));
    c->stats[extender].failures += why.len > 0;
    if (why.len > 0)
        say_ignored(c, now, q, why);
    else
        question_score(q, &said, e->weight);
    if (q->call_count == 0 && !q->waits)
        answer(c, q);
}

static void on_victims(struct caller *c, struct moment now, struct question *q,
                       const struct outcome_of_call *call)
{
    uint32_t extender = call->extender;
    struct str why = call->why;
    const struct extender_config *e = config_of(c, extender);
    struct wire_candidates said = {0};
    if (why.len == 0 && !wire_candidates_read(call->body, &said, &q->arena, &why))
        why = arena_print(&q->arena, "extender \"%.*s\": %.*s: %.*s", STR_ARG(e->url_prefix),
                          STR_ARG(e->preempt_verb), STR_ARG(why));
    c->stats[extender].failures += why.len > 0;
    if (why.len > 0 && !e->ignorable) {
        fail(c, q, why);
        return;
    }
    if (why.len > 0)
        say_ignored(c, now, q, why);
    q->ignored = why.len > 0;
    q->chosen.count = said.count;
    q->chosen.at = said.at;
    answer(c, q);
}

static void count_time(struct caller *c, uint32_t extender, struct span took)
{
    struct extender_stats *s = &c->stats[extender];
    s->took_us += took.ns / 1000;
    if (took.ns / 1000 > s->took_us_max)
        s->took_us_max = took.ns / 1000;
}

void caller_answered(struct caller *c, struct moment now, uint64_t id,
                     const struct kube_response *response)
{
    struct question *q = c->first;
    struct question_call call = {0};
    while (q != NULL && !question_take_call(q, id, &call))
        q = q->next;
    if (q == NULL)
        return;
    if (call.extender == CALLER_API) {
        if (on_pod(c, q, &call, response))
            go_on(c, now, q);
        return;
    }
    count_time(c, call.extender, response->took);
    const struct outcome_of_call outcome = {call.extender, call_error(c, q, &call, response),
                                            response->body};
    if (q->stage == STAGE_victims)
        on_victims(c, now, q, &outcome);
    else if (q->stage == STAGE_scores)
        on_scores(c, now, q, &outcome);
    else
        on_filtered(c, now, q, &outcome);
}

struct moment caller_tick(void *state, struct moment now, struct outbox *out)
{
    struct caller *c = state;
    struct moment next = MOMENT_NEVER;
    for (struct question *q = c->first, *after; q != NULL; q = after) {
        after = q->next;
        if (!q->waits)
            continue;
        next = moment_after(now, span_of_ms(NODES_AGAIN_MS));
        if (q->stage == STAGE_scores)
            start_scores(c, now, q);
        else
            go_on(c, now, q);
    }
    for (size_t i = 0; i < c->answers.count; i++)
        outbox_put_encoded(out, &c->answers.at[i], outbox_body(&c->answers, i));
    outbox_reset(&c->answers);
    return next;
}

void caller_status(void *state, struct buffer *lines)
{
    const struct caller *c = state;
    uint32_t under_way = 0;
    for (const struct question *q = c->first; q != NULL; q = q->next)
        under_way++;
    buffer_print(lines, "questions=%" PRIu64 "\nunder_way=%u\nanswered=%" PRIu64 "\n", c->asked,
                 under_way, c->answered);
    buffer_print(lines, "failed=%" PRIu64 "\nleft=%" PRIu64 "\n", c->failed, c->left);
    for (uint32_t i = 0; i < c->options.count; i++) {
        const struct extender_stats *s = &c->stats[i];
        buffer_print(lines,
                     "extender_%u=%.*s calls=%" PRIu64 " failures=%" PRIu64 " mean_us=%" PRId64
                     " max_us=%" PRId64 "\n",
                     i, STR_ARG(c->options.extenders[i].url_prefix), s->calls, s->failures,
                     s->calls > 0 ? s->took_us / (int64_t)s->calls : 0, s->took_us_max);
    }
}
