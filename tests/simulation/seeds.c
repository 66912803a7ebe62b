/* seeds: runs plans, and says of each that violates something how to see it again. What must stay
 * true: a seed, the number of steps and what was left out are all that a run depends on, or, of a
 * script, what is written in it. */
#include "tests/simulation/seeds.h"

#include "tests/simulation/attempt.h"
#include "tests/simulation/jobs.h"
#include "tests/simulation/record.h"
#include "tests/simulation/script.h"
#include "tests/simulation/shrink.h"

#include "proto/base/memory.h"
#include "proto/base/moment.h"

#include <stdlib.h>
#include <string.h>

#define RUN_LIMIT_S 300
#define SCRIPT_MAX  (4 << 20) /* bytes of a file */
#define SIM         "build/release/tests/simulation/sim"

/* The clock that the linker hides from everybody else. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): ld's name */
struct moment __real_moment_now(void);

struct totals {
    uint64_t seeds, scripts, findings;
    int64_t virtual_ns;
    struct coverage coverage;
};

static void count(struct totals *t, const struct run_result *o)
{
    t->virtual_ns += o->finding.found ? o->finding.at : o->virtual_ns;
    coverage_add(&t->coverage, &o->coverage);
}

/* ---- findings ---- */

static void print_finding(const struct plan *plan, const struct run_result *o,
                          const struct seeds_options *options)
{
    printf("FOUND seed %llu (commit %s): %s: %s (at %.3f s)\n", (unsigned long long)plan->seed,
           options->commit, o->finding.check, o->finding.text, (double)o->finding.at / 1e9);
    fflush(stdout);
}

/* FOLDER/seed-7-one-binding.scn */
static void store(const char *folder, uint64_t seed, const char *check, struct str text)
{
    char path[512];
    size_t begin = (size_t)snprintf(path, sizeof(path), "%s/", folder);
    snprintf(path + begin, sizeof(path) - begin, "seed-%llu-%s.scn", (unsigned long long)seed,
             check);
    for (char *c = path + begin; *c != 0; c++)
        if (*c == ' ' || *c == '/')
            *c = '-';
    FILE *f = fopen(path, "w");
    bool written = f != NULL && fwrite(text.at, 1, text.len, f) == text.len;
    written = f != NULL && fclose(f) == 0 && written;
    printf("  %s: %s --script %s --trace 1\n", written ? "replay" : "cannot be written", SIM, path);
}

/* What happens, and the script that makes it happen. seed: it was shrunk from that one. */
static void print_script(struct plan *plan, uint64_t seed, const char *check,
                         const struct seeds_options *options)
{
    struct buffer text = {0};
    buffer_print(&text, "# seed %llu, commit %s\n", (unsigned long long)seed, options->commit);
    plan->notes = notes_new(plan->count);
    const struct run_result *o = attempt_run(plan, 1, RUN_LIMIT_S);
    buffer_print(&text, "# %s\n", o->finding.text);
    script_print(&text, plan, check);
    notes_free(plan->notes, plan->count);
    plan->notes = NULL;
    printf("  script:\n%s", text.at);
    if (options->store != NULL)
        store(options->store, seed, check, buffer_str(&text));
    else
        printf("  replay: %s --script FILE --trace 1, FILE: the lines from start to expect\n", SIM);
    buffer_free(&text);
}

static void explain(struct plan *plan, const struct run_result *found,
                    const struct seeds_options *options)
{
    char check[sizeof(found->finding.check)];
    uint32_t whole = plan->count;
    uint64_t seed = plan->seed;
    snprintf(check, sizeof(check), "%s", found->finding.check);
    if (options->shrink_runs == 0)
        return;
    uint32_t runs = shrink(plan, check, options->shrink_runs);
    printf("  %u of %u actions are left after %u runs:\n", plan->count, whole, runs);
    fflush(stdout);
    print_script(plan, seed, check, options);
}

static void run_seed(uint64_t seed, const struct seeds_options *options, struct totals *t)
{
    struct plan plan;
    plan_make(&plan, seed, options->steps, options->without);
    const struct run_result *o = attempt_run(&plan, options->trace, RUN_LIMIT_S);
    t->seeds++;
    count(t, o);
    uint64_t hash = o->hash;
    if (options->hashes)
        printf("seed %llu: hash %016llx, %llu steps\n", (unsigned long long)seed,
               (unsigned long long)hash, (unsigned long long)o->steps);
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

/* ---- scripts ---- */

static bool read_file(const char *path, struct buffer *text)
{
    char chunk[4096];
    size_t got;
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return false;
    while (text->len < SCRIPT_MAX && (got = fread(chunk, 1, sizeof(chunk), f)) > 0)
        buffer_add(text, chunk, got);
    bool all = feof(f) != 0;
    fclose(f);
    return all;
}

/* What the run says is compared with what the script expects. */
static bool as_expected(const char *path, const struct script *script, const struct run_result *o)
{
    const char *is = o->finding.found ? o->finding.check : EXPECT_QUIET;
    bool ok = strcmp(is, script->expect) == 0;
    printf("%s %s: %s", ok ? "ok" : "FAILED", path, is);
    if (!ok)
        printf(", and not %s", script->expect);
    if (o->finding.found)
        printf(": %s (at %.3f s)", o->finding.text, (double)o->finding.at / 1e9);
    printf("\n");
    return ok;
}

static void run_script(const char *path, const struct seeds_options *options, struct totals *t)
{
    struct buffer text = {0}, error = {0};
    struct script script;
    bool ok = false;
    t->scripts++;
    if (!read_file(path, &text)) {
        printf("FAILED %s: cannot be read\n", path);
    } else if (!script_parse(buffer_str(&text), &script, &error)) {
        printf("FAILED %s: %s\n", path, error.at);
    } else {
        const struct run_result *o = attempt_run(&script.plan, options->trace, RUN_LIMIT_S);
        count(t, o);
        ok = as_expected(path, &script, o);
        plan_free(&script.plan);
    }
    t->findings += !ok;
    buffer_free(&text);
    buffer_free(&error);
}

/* ---- all of them ---- */

static void print_end(struct totals *t, const struct seeds_options *options, struct moment begun)
{
    double took = (double)moment_since(__real_moment_now(), begun).ns / 1e9;
    double hours = (double)t->virtual_ns / 3600e9;
    if (options->table && t->seeds > 0) {
        coverage_print(&t->coverage, stdout);
        printf("coverage: %u of %u reached\n", t->coverage.count - coverage_missing(&t->coverage),
               t->coverage.count);
    }
    printf("%llu scripts, %llu seeds of %u steps, %.1f virtual hours in %.1f s: %.0f an hour; %llu "
           "findings\n",
           (unsigned long long)t->scripts, (unsigned long long)t->seeds, options->steps, hours,
           took, took > 0 ? hours * 3600 / took : 0.0, (unsigned long long)t->findings);
}

struct run {
    const struct seeds_options *options;
    struct moment begun;
    struct totals *totals; /* of each job */
};

static bool is_over(const struct run *run)
{
    int64_t ms = span_ms(moment_since(__real_moment_now(), run->begun));
    return jobs_stopped() ||
           (run->options->seconds > 0 && ms > (int64_t)run->options->seconds * 1000);
}

/* Scripts first; no seed is left out before a later one is begun. */
static void work(void *context, uint32_t job)
{
    const struct run *run = context;
    const struct seeds_options *options = run->options;
    struct totals *t = &run->totals[job];
    for (uint64_t i; (i = jobs_next()) < options->script_count + options->seeds;) {
        bool script = i < options->script_count;
        if (!script && is_over(run))
            break;
        if (script)
            run_script(options->scripts[i], options, t);
        else
            run_seed(options->first + i - options->script_count, options, t);
        if (!script && options->stop && t->findings > 0)
            jobs_stop();
        jobs_say();
    }
}

static void add_totals(struct totals *to, const struct totals *from)
{
    to->seeds += from->seeds;
    to->scripts += from->scripts;
    to->findings += from->findings;
    to->virtual_ns += from->virtual_ns;
    coverage_add(&to->coverage, &from->coverage);
}

uint64_t seeds_run(const struct seeds_options *options)
{
    uint32_t jobs = options->jobs > 0 ? options->jobs : 1;
    struct run run = {options, __real_moment_now(), jobs_memory(jobs * sizeof(struct totals))};
    struct totals *totals = &run.totals[0];
    record_into(options->record);
    uint32_t died = jobs_run(jobs, work, &run);
    for (uint32_t i = 1; i < jobs; i++)
        add_totals(totals, &run.totals[i]);
    print_end(totals, options, run.begun);
    printf("%llu passed, %llu failed\n",
           (unsigned long long)(totals->scripts + totals->seeds - totals->findings),
           (unsigned long long)totals->findings);
    if (died > 0)
        printf("%u of %u jobs died\n", died, jobs);
    return totals->findings + died;
}
