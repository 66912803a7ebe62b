/* seeds: runs plans, and says of each that violates something how to see it again. What must stay
 * true: a seed, the number of steps and what was left out are all that a run depends on. */
#include "tests/simulation/seeds.h"

#include "tests/simulation/attempt.h"
#include "tests/simulation/shrink.h"

#include "proto/base/memory.h"
#include "proto/base/moment.h"

#include <stdlib.h>

#include <string.h>

#define RUN_LIMIT_S 300

/* The clock that the linker hides from everybody else. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): ld's name */
struct moment __real_moment_now(void);

struct totals {
    uint64_t seeds, findings;
    int64_t virtual_ns;
    struct coverage coverage;
};

/* Only the actions whose numbers are listed stay. */
static void keep_listed(struct plan *plan, const char *list)
{
    uint32_t kept = 0;
    for (const char *at = list; *at != 0;) {
        char *end;
        uint32_t n = (uint32_t)strtoul(at, &end, 10);
        if (n < plan->count)
            plan->at[kept++] = plan->at[n];
        at = *end == ',' ? end + 1 : end;
    }
    plan->count = kept;
}

static void print_script(const struct plan *small, const struct plan *whole,
                         const struct seeds_options *o)
{
    const char *comma = "";
    printf("  replay: build/release/tests/simulation/sim --first %llu --seeds 1 --steps %u%s%s "
           "--trace 1 --keep ",
           (unsigned long long)small->seed, whole->count, *o->without ? " --without " : "",
           o->without);
    for (uint32_t i = 0, k = 0; i < small->count && k < whole->count; k++)
        if (memcmp(&small->at[i], &whole->at[k], sizeof(small->at[i])) == 0) {
            printf("%s%u", comma, k);
            comma = ",";
            i++;
        }
    printf("%s\n", small->count == 0 ? "none" : "");
}

static void print_finding(const struct plan *plan, const struct run_result *o,
                          const struct seeds_options *options)
{
    printf("FOUND seed %llu (commit %s): %s: %s (at %.3f s)\n", (unsigned long long)plan->seed,
           options->commit, o->finding.check, o->finding.text, (double)o->finding.at / 1e9);
    fflush(stdout);
}

static void explain(struct plan *plan, const struct run_result *found,
                    const struct seeds_options *options)
{
    char check[sizeof(found->finding.check)];
    struct plan small;
    snprintf(check, sizeof(check), "%s", found->finding.check);
    if (options->shrink_runs == 0)
        return;
    plan_make(&small, plan->seed, options->steps, options->without);
    if (options->keep != NULL)
        keep_listed(&small, options->keep);
    uint32_t runs = shrink(&small, check, options->shrink_runs);
    printf("  %u of %u actions are left after %u runs:\n", small.count, plan->count, runs);
    fflush(stdout);
    attempt_run(&small, 1, RUN_LIMIT_S);
    print_script(&small, plan, options);
    plan_free(&small);
}

static void run_seed(uint64_t seed, const struct seeds_options *options, struct totals *t)
{
    struct plan plan;
    plan_make(&plan, seed, options->steps, options->without);
    if (options->keep != NULL)
        keep_listed(&plan, options->keep);
    const struct run_result *o = attempt_run(&plan, options->trace, RUN_LIMIT_S);
    t->seeds++;
    t->virtual_ns += o->finding.found ? o->finding.at : o->virtual_ns;
    coverage_add(&t->coverage, &o->coverage);
    uint64_t hash = o->hash;
    if (o->finding.found) {
        t->findings++;
        print_finding(&plan, o, options);
        explain(&plan, o, options);
    } else if (options->twice && attempt_run(&plan, 0, RUN_LIMIT_S)->hash != hash) {
        t->findings++;
        printf("FOUND seed %llu: two runs of it differ\n", (unsigned long long)seed);
    }
    plan_free(&plan);
}

static void print_end(struct totals *t, const struct seeds_options *options, struct moment begun)
{
    double took = (double)moment_since(__real_moment_now(), begun).ns / 1e9;
    double hours = (double)t->virtual_ns / 3600e9;
    if (options->table) {
        coverage_print(&t->coverage, stdout);
        printf("coverage: %u of %u reached\n", t->coverage.count - coverage_missing(&t->coverage),
               t->coverage.count);
    }
    printf("%llu seeds of %u steps, %.1f virtual hours in %.1f s: %.0f an hour; %llu findings\n",
           (unsigned long long)t->seeds, options->steps, hours, took,
           took > 0 ? hours * 3600 / took : 0.0, (unsigned long long)t->findings);
}

uint64_t seeds_run(const struct seeds_options *options)
{
    static struct totals totals;
    struct moment begun = __real_moment_now();
    for (uint64_t i = 0; i < options->seeds; i++) {
        int64_t ms = span_ms(moment_since(__real_moment_now(), begun));
        if (options->seconds > 0 && ms > (int64_t)options->seconds * 1000)
            break;
        run_seed(options->first + i, options, &totals);
        if (options->stop && totals.findings > 0)
            break;
    }
    print_end(&totals, options, begun);
    printf("%llu passed, %llu failed\n", (unsigned long long)(totals.seeds - totals.findings),
           (unsigned long long)totals.findings);
    return totals.findings;
}
