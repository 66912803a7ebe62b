/* plan: draws actions from a seed, and does them. The one idea: an action stands for itself, with
 * its time and its dice, so that a plan is still one when some of it is left out. */
#include "tests/simulation/plan.h"

#include "proto/base/memory.h"
#include "tests/simulation/calm.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/record.h"
#include "tests/simulation/script.h"
#include "tests/simulation/stories.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/users.h"

#include <stdio.h>
#include <string.h>

#define ALIKE       4   /* Of so many seeds one draws all actions by their weights, */
#define SLOW_BUS    5   /* of so many seeds one has a slow bus, */
#define LARGE       24  /* of so many seeds one has many nodes, */
#define LARGE_STEPS 300 /* and no more actions than this */

static const struct {
    const char *name, *class;
    uint32_t weight;
} actions[] = {
#define ACTION(name, class, weight) {#name, #class, weight},
#include "tests/simulation/plan.def"
#undef ACTION
};

const char *action_name(uint32_t kind)
{
    return actions[kind].name;
}

const char *action_class(uint32_t kind)
{
    return actions[kind].class;
}

/* ---- making one ---- */

static bool is_listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += len)
        if ((at == list || at[-1] == ',') && (at[len] == 0 || at[len] == ','))
            return true;
    return false;
}

/* Of most seeds some actions are left out and others are common (swarm testing): what needs many of
 * one kind and none of another hardly comes about where all are drawn alike. */
static void draw_weights(struct random *r, const char *without, uint64_t *weights)
{
    static const uint32_t factors[] = {0, 2, 4, 4, 16};
    bool alike = random_below(r, ALIKE) == 0;
    for (uint32_t i = 0; i < ACTIONS; i++) {
        uint32_t factor = factors[random_below(r, sizeof(factors) / sizeof(factors[0]))];
        bool left_out = is_listed(without, actions[i].name) || is_listed(without, actions[i].class);
        if (alike || i == DO_calm)
            factor = 4;
        weights[i] = left_out ? 0 : (uint64_t)actions[i].weight * factor;
    }
}

static uint32_t draw_kind(struct random *r, const uint64_t *weights)
{
    uint64_t sum = 0, left;
    for (uint32_t i = 0; i < ACTIONS; i++)
        sum += weights[i];
    left = random_below(r, sum);
    for (uint32_t i = 0;; i++) {
        if (left < weights[i])
            return i;
        left -= weights[i];
    }
}

static int64_t draw_gap(struct random *r)
{
    uint64_t kind = random_below(r, 10);
    return kind < 5   ? (int64_t)random_below(r, 300) * MS
           : kind < 9 ? (int64_t)random_below(r, 3000) * MS
                      : (int64_t)random_below(r, 15000) * MS;
}

static struct traits draw_traits(struct random *r, const char *without)
{
    static const char *const breaks[] = {"random", "first", "round-robin"};
    bool slow = random_below(r, 5) == 0 && !is_listed(without, "paging");
    struct traits t = {.nodes = 2 + (uint32_t)random_below(r, 9),
                       .workers = 1 + (uint32_t)random_below(r, WORKERS_MAX),
                       .elect = random_below(r, 5) != 0,
                       .gangs = random_below(r, 3) != 0 && !is_listed(without, "gangs"),
                       .gangs_later = random_below(r, 4) == 0,
                       .page_size = random_below(r, 2) ? 500 : 3 + (uint32_t)random_below(r, 30),
                       .history = 20 + (uint32_t)random_below(r, 300),
                       .page = slow ? (int64_t)random_below(r, 12000) * MS : 30 * MS,
                       .page_most = slow ? 20 * SECOND : 200 * MS,
                       .config = (uint32_t)random_below(r, CONFIGS),
                       .tie_break = breaks[random_below(r, 3)],
                       .batch = random_below(r, 3) ? 0 : 1,
                       .credit = random_below(r, 3) ? 0 : 4,
                       .drift = true};
    t.tree = random_below(r, 2) != 0 && !is_listed(without, "tree");
    t.tree_later = random_below(r, 3) == 0;
    if (random_below(r, LARGE) == 0 && !is_listed(without, "large"))
        t.nodes = 60 + (uint32_t)random_below(r, 41);
    t.volumes = random_below(r, 3) != 0 && !is_listed(without, "volumes");
    if (random_below(r, SLOW_BUS) == 0 && !is_listed(without, "lateness"))
        t.frame = (int64_t)random_below(r, 400) * MS;
    t.groups = t.elect ? 1 + (uint32_t)(random_below(r, 4) != 0) : 1;
    t.minor = is_listed(without, "versions") ? 36 : 36 + (uint32_t)random_below(r, 2);
    return t;
}

void plan_make(struct plan *plan, uint64_t seed, uint32_t steps, const char *without)
{
    struct random r = {seed * 2654435761u + 17};
    uint64_t weights[ACTIONS];
    int64_t at = 5 * SECOND;
    *plan = (struct plan){.seed = seed, .count = steps, .traits = draw_traits(&r, without)};
    plan->traits.record = seed % RECORD_EVERY == 0;
    plan->traits.own_worker = seed / 3 % 3 == 1 && !is_listed(without, "own-worker");
    plan->traits.workers -= plan->traits.own_worker;
    plan->traits.catch_up = seed / RECORD_EVERY % 2 == 1 && !is_listed(without, "catch-up");
    if (plan->traits.nodes >= 60 && steps > LARGE_STEPS)
        plan->count = steps = LARGE_STEPS;
    draw_weights(&r, without, weights);
    plan->at = memory_take_array(steps, sizeof(*plan->at));
    for (uint32_t i = 0; i < steps; i++) {
        at += draw_gap(&r);
        plan->at[i] = (struct action){.at = at,
                                      .kind = draw_kind(&r, weights),
                                      .a = (uint32_t)random_next(&r),
                                      .b = (uint32_t)random_next(&r),
                                      .c = (uint32_t)random_next(&r)};
    }
}

void plan_known(void)
{
    for (uint32_t i = 0; i < ACTIONS; i++)
        coverage_known("action", actions[i].name);
}

void plan_free(struct plan *plan)
{
    memory_free(plan->at);
    *plan = (struct plan){0};
}

/* ---- doing it ---- */

static void do_one(const struct action *x, struct note *note)
{
    if (x->kind == DO_calm) {
        cover("action", "calm");
        calm(x->a % 2 == 0);
        return;
    }
    trace(1, "- %s", action_name(x->kind));
    note_into(note);
    if (stories_do(x) || users_do(x) || faults_do(x))
        cover("action", action_name(x->kind));
    note_into(NULL);
}

static void trace_start(const struct plan *plan)
{
    struct buffer text = {0};
    script_print_start(&text, plan);
    trace(1, "%s", text.at);
    buffer_free(&text);
}

void plan_run(const struct plan *plan)
{
    int64_t shift = 0; /* by calms */
    const struct traits *t = &plan->traits;
    record_wanted(t->record, plan->seed);
    world_open(t, plan->seed);
    trace_start(plan);
    users_open(plan);
    for (uint32_t i = 0; i < plan->count; i++) {
        int64_t before = plan->at[i].at + shift;
        world_run(before);
        do_one(&plan->at[i], plan->notes != NULL ? &plan->notes[i] : NULL);
        shift += clock_now() > before ? clock_now() - before : 0;
    }
    calm_at_the_end();
    world_close();
}
