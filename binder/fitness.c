/* fitness: how long the scheduler has been ready or not, and how often it fell lately. The one
 * idea: one lack that lasts and several that do not are the same failure, a hang and a crash loop.
 * What must stay true: what passes by itself in the time of a restart is no failure. */
#include "binder/fitness.h"

#include <stdio.h>

void fitness_init(struct fitness *f, struct moment now)
{
    *f = (struct fitness){.since = now, .heard = now, .fallen = true, .lacks = "the scheduler"};
}

static bool lasts(const struct fitness *f, struct moment now, int64_t ms)
{
    return moment_reached(now, moment_after(f->since, span_of_ms(ms)));
}

static void count_fall(struct fitness *f, struct moment now)
{
    if (f->fallen)
        return;
    f->fallen = true;
    f->falls[f->fall_count++ % FITNESS_FALLS] = now;
}

static void turn(struct fitness *f, struct moment now, bool ready)
{
    if (ready == f->ready)
        return;
    f->ready = ready;
    f->since = now;
    f->fallen = false;
}

/* Brings it up to date: who says nothing is not ready, and what lasts is a fall. */
static void look(struct fitness *f, struct moment now)
{
    if (f->ready && moment_reached(now, moment_after(f->heard, span_of_ms(FITNESS_SILENCE_MS)))) {
        turn(f, now, false);
        snprintf(f->lacks, sizeof(f->lacks), "word from the scheduler");
    }
    if (!f->ready && lasts(f, now, FITNESS_FALL_MS))
        count_fall(f, now);
}

void fitness_hear(struct fitness *f, struct moment now, bool ready, struct str lacks)
{
    look(f, now);
    f->heard = now;
    turn(f, now, ready);
    snprintf(f->lacks, sizeof(f->lacks), "%.*s", STR_ARG(lacks));
}

void fitness_lost(struct fitness *f, struct moment now)
{
    look(f, now);
    turn(f, now, false);
    count_fall(f, now);
    snprintf(f->lacks, sizeof(f->lacks), "the scheduler");
}

static bool falls_often(const struct fitness *f, struct moment now)
{
    /* The next one to be overwritten is the oldest of those that are kept. */
    struct moment oldest = f->falls[f->fall_count % FITNESS_FALLS];
    bool stands = f->ready && lasts(f, now, FITNESS_TRUSTED_MS);
    return f->fall_count >= FITNESS_FALLS && !stands &&
           !moment_reached(now, moment_after(oldest, span_of_ms(FITNESS_WINDOW_MS)));
}

const char *fitness_sick(struct fitness *f, struct moment now)
{
    look(f, now);
    if (!f->ready && lasts(f, now, FITNESS_PATIENCE_MS))
        snprintf(f->text, sizeof(f->text), "it lacks %s for %lld s", f->lacks,
                 (long long)(span_ms(moment_since(now, f->since)) / 1000));
    else if (falls_often(f, now))
        snprintf(f->text, sizeof(f->text), "it failed %d times within a minute", FITNESS_FALLS);
    else
        return NULL;
    return f->text;
}

bool fitness_ready(struct fitness *f, struct moment now)
{
    return fitness_sick(f, now) == NULL && f->ready && lasts(f, now, FITNESS_STEADY_MS);
}
