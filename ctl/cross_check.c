/* cross_check: the same question, asked of what workers keep. The one idea: a pod is asked about
 * often enough that a class is made of it (scheduler/worker/classes.h), and pods decided earlier
 * are asked about again after each later step, so that their classes have to catch up.
 *
 * What must stay true: it changes nothing in the world, and each question is answered both ways
 * from the same state. */
#include "ctl/cross_check.h"

#include <stdio.h>

#define TIMES 3 /* asked once, made a class, answered from it */

void cross_check_start(struct cross_check *c, struct str scenario)
{
    arena_reset(&c->arena);
    c->scenario = arena_copy(&c->arena, scenario);
    c->count = 0;
}

void cross_check_end(struct cross_check *c)
{
    arena_free(&c->arena);
}

/* What of a decision both ways must have alike. */
struct gist {
    enum decision_kind kind;
    struct str node, message, victims_on;
    int64_t total, best_count, feasible;
    struct strs plugins;
};

static struct gist gist_of(const struct decision *d, struct arena *a)
{
    struct gist g = {.kind = d->kind,
                     .node = arena_copy(a, d->node),
                     .message = arena_copy(a, d->message),
                     .victims_on = arena_copy(a, d->preemption.node)};
    if (!d->used_nominated) { /* else neither scores nor other nodes play a part */
        g.feasible = d->feasible;
        g.total = d->total;
        g.best_count = d->best_count;
    }
    g.plugins =
        (struct strs){d->plugins.count, arena_take(a, d->plugins.count * sizeof(*d->plugins.at))};
    for (uint32_t i = 0; i < d->plugins.count; i++)
        g.plugins.at[i] = arena_copy(a, d->plugins.at[i]);
    return g;
}

static bool same(const struct gist *a, const struct gist *b)
{
    bool equal = a->kind == b->kind && str_equal(a->node, b->node) &&
                 str_equal(a->message, b->message) && str_equal(a->victims_on, b->victims_on) &&
                 a->total == b->total && a->best_count == b->best_count &&
                 a->feasible == b->feasible && a->plugins.count == b->plugins.count;
    for (uint32_t i = 0; equal && i < a->plugins.count; i++)
        equal = str_equal(a->plugins.at[i], b->plugins.at[i]);
    return equal;
}

static void tell(const char *way, const struct gist *g)
{
    fprintf(stderr,
            "  %s: node=%.*s total=%lld best=%lld feasible=%lld victims_on=%.*s message=%.*s\n",
            way, STR_ARG(g->node), (long long)g->total, (long long)g->best_count,
            (long long)g->feasible, STR_ARG(g->victims_on), STR_ARG(g->message));
}

static void check(struct cross_check *c, struct world *w, const struct pod *pod,
                  const struct gist *expected)
{
    struct arena memory = {0};
    c->checks++;
    const struct gist got = gist_of(world_decide_shortly(w, pod), &memory);
    if (!same(expected, &got)) {
        c->differences++;
        fprintf(stderr, "berth simulate: cross-check: %.*s: step %u: pod %.*s/%.*s\n",
                STR_ARG(c->scenario), c->count, STR_ARG(pod->namespace_name), STR_ARG(pod->name));
        tell("in detail", expected);
        tell("shortly", &got);
    }
    arena_free(&memory);
}

/* An earlier pod, on what is there now. */
static void check_again(struct cross_check *c, struct world *w, const struct pod *pod)
{
    struct arena memory = {0};
    const struct gist g = gist_of(world_decide(w, pod), &memory);
    check(c, w, pod, &g);
    arena_free(&memory);
}

static void remember(struct cross_check *c, const struct pod *pod)
{
    codec_copy(&pod_record, &c->pods[c->count % CROSS_CHECK_PODS], pod, &c->arena);
    c->count++;
}

void cross_check(struct cross_check *c, struct world *w, const struct pod *pod,
                 const struct decision *d)
{
    struct arena memory = {0};
    const struct gist g = gist_of(d, &memory);
    uint32_t known = c->count < CROSS_CHECK_PODS ? c->count : CROSS_CHECK_PODS;
    for (int i = 0; i < TIMES; i++)
        check(c, w, pod, &g);
    for (uint32_t i = 0; i < known; i++)
        check_again(c, w, &c->pods[i]);
    remember(c, pod);
    arena_free(&memory);
}
