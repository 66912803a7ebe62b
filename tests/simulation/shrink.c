/* shrink: delta debugging over the list of actions: leaves out halves, then quarters, and so on;
 * then makes plainer what is left: the world, numbers, times. What must stay true: the same check
 * is violated by each plan that takes the place of the one before. */
#include "tests/simulation/shrink.h"

#include "proto/base/memory.h"
#include "tests/simulation/attempt.h"
#include "tests/simulation/script.h"

#include <string.h>

#define RUN_LIMIT_S 60

struct shrinking {
    struct plan *plan;
    const char *check;
    uint32_t runs, runs_max, taken;
};

/* It takes the plan's place if it is found as well; else it is given back. */
static bool take(struct shrinking *s, struct plan *less)
{
    bool found = false;
    if (s->runs < s->runs_max) {
        const struct run_result *o = attempt_run(less, 0, RUN_LIMIT_S);
        found = o->finding.found && strcmp(o->finding.check, s->check) == 0;
        s->runs++;
    }
    if (found) {
        struct plan before = *s->plan;
        *s->plan = *less;
        *less = before;
        s->taken++;
    }
    plan_free(less);
    return found;
}

/* ---- fewer actions ---- */

static struct plan without(const struct plan *plan, uint32_t first, uint32_t count)
{
    struct plan less = *plan;
    less.count = plan->count - count;
    less.at = memory_take_array(less.count + 1, sizeof(*less.at));
    memcpy(less.at, plan->at, first * sizeof(*less.at));
    memcpy(less.at + first, plan->at + first + count,
           (plan->count - first - count) * sizeof(*less.at));
    return less;
}

static struct plan same(const struct plan *plan)
{
    return without(plan, plan->count, 0);
}

/* What happens behind the violation is of no use. */
static void cut_tail(struct shrinking *s)
{
    const struct run_result *o = attempt_run(s->plan, 0, RUN_LIMIT_S);
    uint32_t count = s->plan->count;
    s->runs++;
    while (o->finding.found && count > 0 && s->plan->at[count - 1].at > o->finding.at)
        count--;
    struct plan less = without(s->plan, count, s->plan->count - count);
    take(s, &less);
}

/* One pass over the list with pieces of that size. */
static bool leave_out(struct shrinking *s, uint32_t size)
{
    bool any = false;
    for (uint32_t first = 0; first < s->plan->count && s->runs < s->runs_max;) {
        uint32_t left = s->plan->count - first, count = size < left ? size : left;
        struct plan less = without(s->plan, first, count);
        bool taken = take(s, &less);
        any = any || taken;
        first += taken ? 0 : count;
    }
    return any;
}

static void fewer_actions(struct shrinking *s)
{
    bool any = true;
    for (uint32_t size = (s->plan->count + 1) / 2; size > 1 && s->runs < s->runs_max; size /= 2)
        leave_out(s, size);
    while (any && s->runs < s->runs_max)
        any = leave_out(s, 1);
}

/* ---- a plainer world ---- */

static bool plainer_word(struct shrinking *s, uint32_t word, bool half)
{
    struct plan less = same(s->plan);
    if (script_plainer(&less, word, half))
        return take(s, &less);
    plan_free(&less);
    return false;
}

static void plainer_world(struct shrinking *s)
{
    for (uint32_t i = 0; i < script_words(); i++)
        if (!plainer_word(s, i, false))
            while (plainer_word(s, i, true))
                continue;
}

/* ---- small numbers ---- */

static uint32_t *die(struct plan *plan, uint32_t action, uint32_t which)
{
    struct action *x = &plan->at[action];
    return which == 0 ? &x->a : which == 1 ? &x->b : &x->c;
}

static void small_die(struct shrinking *s, uint32_t action, uint32_t which)
{
    static const uint32_t below[] = {1, 10, 100, 1000};
    uint32_t was = *die(s->plan, action, which);
    for (size_t i = 0; i < sizeof(below) / sizeof(below[0]) && was >= below[i]; i++) {
        struct plan less = same(s->plan);
        *die(&less, action, which) = was % below[i];
        if (take(s, &less))
            return;
    }
}

static void small_numbers(struct shrinking *s)
{
    for (uint32_t i = 0; i < s->plan->count; i++) {
        struct plan less = same(s->plan);
        less.at[i].a = less.at[i].b = less.at[i].c = 0;
        if (take(s, &less))
            continue;
        for (uint32_t which = 0; which < 3; which++)
            small_die(s, i, which);
    }
}

/* ---- round times ---- */

static bool all_round(struct shrinking *s, int64_t unit)
{
    struct plan less = same(s->plan);
    for (uint32_t i = 0; i < less.count; i++)
        less.at[i].at -= less.at[i].at % unit;
    return take(s, &less);
}

/* The action, and with it those behind it, stands so long behind the one before. */
static bool move_up(struct shrinking *s, uint32_t action, int64_t gap)
{
    int64_t before = action > 0 ? s->plan->at[action - 1].at : 0;
    int64_t by = s->plan->at[action].at - before - gap;
    struct plan less = same(s->plan);
    for (uint32_t i = action; i < less.count; i++)
        less.at[i].at -= by;
    if (by > 0)
        return take(s, &less);
    plan_free(&less);
    return by == 0;
}

static void round_times(struct shrinking *s)
{
    static const int64_t gaps[] = {0, SECOND, 10 * SECOND};
    if (!all_round(s, SECOND))
        all_round(s, SECOND / 10);
    for (uint32_t i = 0; i < s->plan->count; i++) {
        bool moved = false;
        for (size_t k = 0; k < sizeof(gaps) / sizeof(gaps[0]) && !moved; k++)
            moved = move_up(s, i, gaps[k]);
        int64_t gap = s->plan->at[i].at - (i > 0 ? s->plan->at[i - 1].at : 0);
        if (!moved && gap % SECOND != 0 && !move_up(s, i, gap - gap % SECOND))
            move_up(s, i, gap - gap % (SECOND / 10));
    }
}

uint32_t shrink(struct plan *plan, const char *check, uint32_t runs_max)
{
    struct shrinking s = {.plan = plan, .check = check, .runs_max = runs_max - runs_max / 3};
    cut_tail(&s);
    fewer_actions(&s);
    s.runs_max = runs_max;
    for (uint32_t taken = s.taken + 1; taken != s.taken && s.runs < s.runs_max;) {
        taken = s.taken;
        plainer_world(&s);
        small_numbers(&s);
        round_times(&s);
        fewer_actions(&s);
    }
    return s.runs;
}
