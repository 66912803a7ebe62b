/* replay: the rounds of actor.c with a journal in the place of bus, client and clocks. What must
 * stay true: a core is called here as there, so that what it says comes in the same order. */
#include "proto/bus/replay.h"

#include "proto/journal/journal.h"

#include <inttypes.h>
#include <stdio.h>

struct player {
    const struct actor *actor;
    struct outbox out;
};

/* Also in the middle of a core's work. */
static void send_all(void *context)
{
    struct player *p = context;
    const struct actor *actor = p->actor;
    journal_send(&p->out, actor->term != NULL ? actor->term(actor->state) : 0);
    outbox_reset(&p->out);
}

static bool decode(const struct journal_entry *e, struct message *m, struct arena *a)
{
    if (e->type <= MSG_none || e->type >= MSG_COUNT || message_info[e->type].record == NULL ||
        e->body.len == 0)
        return false;
    const uint8_t *at = (const uint8_t *)e->body.at;
    struct byte_cursor in = {at, at + e->body.len};
    *m = (struct message){.type = (enum message_type)e->type};
    a->limit = 64 * (size_t)e->body.len + 65536;
    return codec_decode(message_info[m->type].record, message_body(m), &in, a);
}

/* A message that cannot be read again is a broken journal's, and never came from a bus. */
static void deliver(struct player *p, const struct journal_entry *e)
{
    struct arena memory = {0};
    struct message m;
    if (decode(e, &m, &memory))
        p->actor->handle(p->actor->state, journal_then(),
                         &(struct delivery){.from = {(enum process)e->process, (uint32_t)e->peer},
                                            .instance = e->name,
                                            .term = e->term,
                                            .generation = e->generation,
                                            .epoch = e->epoch,
                                            .sequence = e->sequence,
                                            .part = e->part,
                                            .sent_us = e->sent_us,
                                            .received_us = e->received_us,
                                            .message = &m},
                         &p->out);
    else
        journal_differs("a message is not to be read");
    arena_free(&memory);
}

static void tell(struct player *p, const struct journal_entry *e)
{
    const struct actor *actor = p->actor;
    struct moment now = journal_then();
    if (e->kind == JOURNAL_delivery)
        deliver(p, e);
    if (e->kind == JOURNAL_turn && actor->work != NULL)
        actor->work(actor->state, now, &p->out);
    if (e->kind == JOURNAL_turn && actor->tick != NULL)
        actor->tick(actor->state, now, &p->out);
    if (e->kind == JOURNAL_stop && actor->stop != NULL)
        actor->stop(actor->state, now, &p->out);
    if (e->kind == JOURNAL_dump && actor->dump != NULL)
        actor->dump(actor->state);
    if (e->kind == JOURNAL_send)
        send_all(p);
}

void replay_play(const struct actor *actor)
{
    struct player p = {.actor = actor, .out = {.send = send_all, .context = &p}};
    for (const struct journal_entry *e; (e = journal_next()) != NULL;) {
        struct journal_entry told = *e; /* the core will read further ones */
        tell(&p, &told);
    }
    p.out.send = NULL;
    outbox_free(&p.out);
}

static int print_end(const struct journal_tally *t)
{
    char when[32];
    moment_print_micros(t->wall_us, when, sizeof(when));
    if (t->fate == JOURNAL_gapped)
        printf(", up to a gap at %s: %s", when, t->reason);
    else if (t->fate != JOURNAL_whole)
        printf(", up to where it is %s, at %s", t->fate == JOURNAL_cut ? "cut off" : "broken",
               when);
    printf("\n");
    return t->fate == JOURNAL_broken;
}

static void note_version(struct str program)
{
    if (!str_is(program, OPTIONS_VERSION))
        printf("  recorded by: %.*s, this is " OPTIONS_VERSION "\n", STR_ARG(program));
}

int replay_run(const char *path, const struct actor *actor)
{
    struct journal *journal = journal_in_force();
    replay_play(actor);
    const char *difference = journal_difference(journal);
    struct journal_tally t = journal_tally(journal);
    if (difference != NULL) {
        printf("%s: %s\n", path, difference);
        note_version(journal_head(journal)->program);
        return 1;
    }
    printf("%s: %" PRIu64 " entries, %" PRIu64 " messages said, identical", path, t.entries,
           t.said);
    return print_end(&t);
}
