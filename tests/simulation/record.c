/* record: journals (proto/journal) of lives in memory. Playing back makes a process of the same
 * making, which has no bus and no client. What must stay true: the core of a life that is played
 * back is started as the one that lived was, and finds nothing outside of its journal. */
#include "tests/simulation/record.h"

#include "proto/base/must.h"
#include "proto/bus/replay.h"
#include "proto/journal/journal.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/core.h"
#include "tests/simulation/coverage.h"

#include <stdio.h>

#define JOURNAL_MAX (64u << 20) /* bytes; a longer life is played back as far as it was kept */
#define LIVES       3           /* of so many of a process one is recorded */

static struct {
    bool wanted;
    const char *dir;
    uint64_t seed;
} record;

void record_into(const char *dir)
{
    record.dir = dir;
}

void record_wanted(bool wanted, uint64_t seed)
{
    record.wanted = wanted || record.dir != NULL;
    record.seed = seed;
}

/* Playing back takes as long as living did, so the lives of a process take turns, and its kinds
 * and instances do not begin alike. */
static bool is_of_turn(const struct proc *p)
{
    uint64_t turn = record.seed / RECORD_EVERY + (uint64_t)__builtin_ctz(p->kind) + p->life;
    return (turn + (uint64_t)(p->group + 1)) % LIVES == 0;
}

void record_begin(struct proc *p)
{
    p->journal = NULL;
    if (!record.wanted || (record.dir == NULL && !is_of_turn(p)))
        return;
    const struct journal_head head = {.program = STR_LITERAL("simulation"),
                                      .process = str_of(process_name(p->kind)),
                                      .instance = str_of(p->name),
                                      .started_us = moment_wall_us()};
    p->journal = journal_new(
        &head, &(struct journal_options){.most = JOURNAL_MAX, .bodies = record.dir != NULL});
    journal_use(p->journal);
}

/* A file a life: seed-7.0-binder.3.rec. */
static void write_file(const struct proc *p, const struct buffer *bytes)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/seed-%llu.%d-%s.%llu.rec", record.dir,
             (unsigned long long)record.seed, p->group, p->name, (unsigned long long)p->life);
    FILE *file = fopen(path, "we");
    bool written = file != NULL && fwrite(bytes->at, 1, bytes->len, file) == bytes->len;
    written = (file == NULL || fclose(file) == 0) && written;
    must(written && "a journal cannot be written");
}

static void play(const struct proc *life, const struct buffer *bytes)
{
    char error[256];
    struct proc p = *life;
    struct journal *journal = journal_play(bytes->at, bytes->len, error, sizeof(error));
    must(journal != NULL);
    journal_use(journal);
    p.bus = NULL;
    p.calls = NULL;
    p.talk = NULL;
    p.feed = NULL;
    core_start(&p);
    replay_play(&p.actor);
    core_free(&p);
    if (journal_difference(journal) != NULL)
        violated("played back alike", "%s: %s", p.door, journal_difference(journal));
    struct journal_tally t = journal_tally(journal);
    must(t.fate == JOURNAL_whole || t.fate == JOURNAL_gapped);
    if (t.fate == JOURNAL_gapped)
        cover("record", "is full");
    cover("played back", process_name(p.kind));
    journal_free(&journal);
}

void record_end(struct proc *p)
{
    if (p->journal == NULL)
        return;
    journal_finish(p->journal);
    if (record.dir != NULL)
        write_file(p, journal_bytes(p->journal));
    struct account *before = account_to(NULL);
    play(p, journal_bytes(p->journal));
    account_to(before);
    journal_free(&p->journal);
}
