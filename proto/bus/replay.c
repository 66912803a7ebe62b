/* replay: the rounds of actor.c with a journal in the place of bus, client and clocks. What must
 * stay true: a core is called here as there, so that what it says comes in the same order. */
#include "proto/bus/replay.h"

#include "proto/journal/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

struct player {
    const struct actor *actor;
    struct outbox out;
    FILE *said; /* NULL: it is not asked for */
    double speed;
    int64_t from_us;
    struct moment began;
};

static int64_t wall_us(void)
{
    return journal_tally(journal_in_force()).wall_us;
}

/* Until the recorded clock is reached. */
static void keep_pace(struct player *p)
{
    int64_t at_us = wall_us();
    if (p->speed == 0 || at_us == 0)
        return;
    if (p->from_us == 0)
        p->from_us = at_us;
    double seconds = (double)(at_us - p->from_us) / 1e6 / p->speed;
    struct moment due = moment_after(p->began, span_of_seconds(seconds > 0 ? seconds : 0));
    for (struct moment now; !moment_reached(now = moment_now(), due);)
        poll(NULL, 0, (int)(span_ms(moment_since(due, now)) % 1000 + 1));
}

static void put_message(struct buffer *entries, const struct outbox *out, size_t i, int64_t at_us)
{
    const struct outgoing *o = &out->at[i];
    journal_put(entries, &(struct journal_entry){.kind = JOURNAL_message,
                                                 .wall_us = at_us,
                                                 .type = o->type,
                                                 .process = o->to.process,
                                                 .peer = o->to.peer,
                                                 .body = outbox_body(out, i)});
}

static void tell_said(struct player *p)
{
    struct buffer entries = {0};
    for (size_t i = 0; i < p->out.count; i++)
        put_message(&entries, &p->out, i, wall_us());
    bool good = fwrite(entries.at, 1, entries.len, p->said) == entries.len;
    if (!good || fflush(p->said) != 0)
        journal_differs("cannot write what is said: %s", strerror(errno));
    buffer_free(&entries);
}

/* Also in the middle of a core's work. */
static void send_all(void *context)
{
    struct player *p = context;
    const struct actor *actor = p->actor;
    journal_send(&p->out, actor->term != NULL ? actor->term(actor->state) : 0);
    if (p->said != NULL && p->out.count > 0 && journal_difference(journal_in_force()) == NULL)
        tell_said(p);
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

static void play(struct player *p)
{
    p->began = moment_now();
    for (const struct journal_entry *e; (e = journal_next()) != NULL;) {
        struct journal_entry told = *e; /* the core will read further ones */
        keep_pace(p);
        tell(p, &told);
    }
    p->out.send = NULL;
}

void replay_play(const struct actor *actor)
{
    struct player p = {.actor = actor, .out = {.send = send_all, .context = &p}};
    play(&p);
    outbox_free(&p.out);
}

/* What is left in the outbox at the end was said behind the last entry. */
static bool write_answers(const struct outbox *out, const char *path)
{
    struct buffer entries = {0};
    FILE *file = fopen(path, "we");
    for (size_t i = 0; i < out->count; i++)
        if (out->at[i].to.process == TOOL)
            put_message(&entries, out, i, 0);
    bool good = file != NULL && fwrite(entries.at, 1, entries.len, file) == entries.len;
    if (file != NULL && fclose(file) != 0)
        good = false;
    if (!good)
        printf("%s: %s\n", path, strerror(errno));
    buffer_free(&entries);
    return good;
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

int replay_run(const struct replay_options *options, const struct actor *actor)
{
    struct journal *journal = journal_in_force();
    const char *path = options->path;
    struct player p = {.actor = actor,
                       .out = {.send = send_all, .context = &p},
                       .speed = options->speed,
                       .from_us = options->from_us};
    if (options->said != NULL && (p.said = fopen(options->said, "we")) == NULL) {
        printf("%s: %s\n", options->said, strerror(errno));
        return 1;
    }
    play(&p);
    bool written = options->answers == NULL || write_answers(&p.out, options->answers);
    outbox_free(&p.out);
    if (p.said != NULL)
        fclose(p.said);
    if (!written)
        return 1;
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
