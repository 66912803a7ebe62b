/* calm: what must stay true: nothing ails the system while it lasts, so whatever is not done in
 * time is its own fault. */
#include "tests/simulation/calm.h"

#include "tests/simulation/checks.h"
#include "tests/simulation/checks_groups.h"
#include "tests/simulation/checks_volumes.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/facts_volumes.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/users.h"
#include "tests/simulation/world.h"

#define QUIET_LIMIT (150 * SECOND) /* all that can be bound is, so long after the last fault */
#define FLUSH_LIMIT (330 * SECOND) /* who waits and was not woken is tried again by then */
#define LATE        (600 * SECOND) /* so long before a calm a claim may change and not be heard of */
#define BIND_LIMIT  (600 * SECOND) /* a bind waits as long for a claim that lost its volume */
#define QUIET_AGAIN (4 * SECOND)   /* and stays so */
#define TOLD_LIMIT  (400 * SECOND) /* a status that failed again and again is said this often */
#define KEPT_LIMIT  (200 * SECOND) /* room that a group keeps for itself and does not use */
#define LISTS       3 /* in a row, as a list that takes long may be too old at its end */

/* The first list may be under way, and of pods that have gone since it began; another kind's may be
 * longer than that of the pods. */
static int64_t paging(void)
{
    const struct traits *t = world_traits();
    int64_t longest = (int64_t)model_longest_list(world_model());
    int64_t before = (int64_t)facts_most_pods();
    int64_t pages = longest / t->page_size + 2;
    int64_t first = (before > longest ? before : longest) / t->page_size + 2;
    return (first + (LISTS - 1) * pages) * (t->page + t->page_most / 20);
}

static bool a_bind_may_wait_in_vain(void)
{
    for (uint32_t i = 0; i < CLAIMS_MAX; i++)
        if (facts_claims[i].there && facts_claims[i].lost &&
            facts_claim_named(facts_claims[i].name))
            return true;
    return false;
}

static void become_quiet(void)
{
    char why[200] = "";
    int64_t begun = clock_now(), limit = begun + QUIET_LIMIT + paging();
    if (a_bind_may_wait_in_vain())
        limit += BIND_LIMIT;
    int64_t quiet_since = -1;
    bool flushes = false;
    while (quiet_since < 0 || clock_now() < quiet_since + QUIET_AGAIN) {
        world_run(clock_now() + SECOND / 2);
        if (!checks_quiet(why, sizeof(why)))
            quiet_since = -1;
        else if (quiet_since < 0)
            quiet_since = clock_now();
        if (quiet_since < 0 && clock_now() > limit && !flushes &&
            checks_volumes_counted_twice(begun - LATE)) {
            flushes = true;
            limit += FLUSH_LIMIT;
        }
        if (quiet_since < 0 && clock_now() > limit)
            violated("all is done in time", "%s, %lld s after the last fault", why,
                     (long long)((clock_now() - begun) / SECOND));
    }
}

static void until(bool (*good)(char *why, size_t room), int64_t length, const char *check)
{
    char why[200] = "";
    int64_t begun = clock_now(), limit = begun + length + paging();
    while (!good(why, sizeof(why))) {
        if (clock_now() > limit)
            violated(check, "%s, after %lld s of peace", why,
                     (long long)((clock_now() - begun) / SECOND));
        world_run(clock_now() + SECOND);
    }
}

void calm(bool examines)
{
    world_heal();
    trace(1, "calm");
    become_quiet();
    until(checks_groups_told, TOLD_LIMIT, "groups are told of");
    until(checks_groups_let_go, KEPT_LIMIT, "groups let go");
    checks_when_quiet();
    if (examines && users_examine_groups()) {
        until(checks_groups_examined, QUIET_LIMIT, "groups start in time");
        users_dismiss_groups();
    }
    facts_count_anew();
    trace(1, "quiet");
}

void calm_at_the_end(void)
{
    calm(true);
    if (!users_leave())
        return;
    trace(1, "all leave");
    calm(false);
}
