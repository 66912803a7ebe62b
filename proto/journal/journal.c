/* journal: one life's entries, written one behind the other into a buffer, or walked through. The
 * one idea: whatever is read of the surroundings is an entry at the place where it is read, so a
 * core that is played back asks for the next entry and finds it is the one that it asks for; if
 * not, that is the difference. What must stay true: what a core is told or reads is an entry before
 * it sees it. */
#include "proto/journal/journal.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "proto/journal/compare.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define PUSH_AT 262144 /* bytes; fewer wait until the core is about to wait */

struct journal {
    struct journal_options options;
    struct buffer bytes, body;
    bool plays, over;        /* over: nothing more is taken down, told or compared */
    int64_t now_ns, wall_us; /* of the last entry */
    /* Playing back: */
    struct journal_cursor cursor;
    struct journal_entry next; /* if peeked */
    bool peeked;
    struct arena memory; /* the head's */
    struct journal_head head;
    struct journal_tally tally;
    struct str said; /* the body of the message that was said last */
    struct buffer difference, reason;
};

static struct journal *in_force;

struct journal *journal_use(struct journal *j)
{
    struct journal *before = in_force;
    in_force = j;
    return before;
}

struct journal *journal_in_force(void)
{
    return in_force;
}

bool journal_plays(void)
{
    return in_force != NULL && in_force->plays;
}

void journal_free(struct journal **journal)
{
    struct journal *j = *journal;
    if (j == NULL)
        return;
    if (in_force == j)
        in_force = NULL;
    buffer_free(&j->bytes);
    buffer_free(&j->body);
    buffer_free(&j->difference);
    buffer_free(&j->reason);
    arena_free(&j->memory);
    memory_free(j);
    *journal = NULL;
}

/* ---- taking down ---- */

struct journal *journal_new(const struct journal_head *head, const struct journal_options *options)
{
    struct journal *j = memory_take(sizeof(*j));
    j->options = *options;
    journal_put_head(&j->bytes, head);
    return j;
}

const struct buffer *journal_bytes(const struct journal *j)
{
    return &j->bytes;
}

static void push(struct journal *j)
{
    if (j->options.push != NULL && !j->options.push(j->options.state, &j->bytes))
        j->over = true;
}

static int64_t step(int64_t *last, int64_t shown)
{
    if (shown == 0) /* it says nothing of this clock */
        return 0;
    uint64_t by = (uint64_t)shown - (uint64_t)*last;
    *last = shown;
    return (int64_t)by;
}

/* With both clocks as they are; 0: not looked at. */
static void put(struct journal *j, struct journal_entry e)
{
    e.now_ns = step(&j->now_ns, e.now_ns);
    e.wall_us = step(&j->wall_us, e.wall_us);
    journal_put(&j->bytes, &e);
    if (j->bytes.len >= PUSH_AT)
        push(j);
    if (j->over || j->bytes.len <= j->options.most)
        return;
    static const char reason[] = "more was to be taken down than could be written";
    journal_put(&j->bytes,
                &(struct journal_entry){.kind = JOURNAL_gap, .error = STR_LITERAL(reason)});
    j->over = true;
    if (j->options.push != NULL)
        log_warn("the recording ends here| reason=\"%s\"", reason);
}

/* The journal to be written to, or NULL. */
static struct journal *written(void)
{
    return in_force != NULL && !in_force->plays && !in_force->over ? in_force : NULL;
}

void journal_take_down(const struct journal_entry *entry)
{
    if (written() != NULL)
        put(in_force, *entry);
}

void journal_finish(struct journal *j)
{
    if (!j->over)
        put(j, (struct journal_entry){.kind = JOURNAL_end});
    j->over = true;
}

void journal_flush(void)
{
    if (in_force != NULL && !in_force->plays)
        push(in_force);
}

/* ---- playing back ---- */

struct journal *journal_play(const char *bytes, size_t len, char *error, size_t room)
{
    struct journal *j = memory_take(sizeof(*j));
    j->plays = true;
    j->cursor = (struct journal_cursor){bytes, bytes + len};
    j->memory.limit = 64 * len + 65536;
    const char *wrong = journal_start(&j->cursor, &j->head, &j->memory);
    if (wrong == NULL)
        return j;
    snprintf(error, room, "%s", wrong);
    journal_free(&j);
    return NULL;
}

const struct journal_head *journal_head(const struct journal *j)
{
    return &j->head;
}

struct moment journal_then(void)
{
    return (struct moment){in_force->now_ns};
}

const char *journal_difference(const struct journal *j)
{
    return j->difference.len > 0 ? j->difference.at : NULL;
}

struct journal_tally journal_tally(const struct journal *j)
{
    struct journal_tally t = j->tally;
    t.wall_us = j->wall_us;
    t.reason = j->reason.len > 0 ? j->reason.at : "";
    return t;
}

static void end_with(struct journal *j, enum journal_fate fate)
{
    j->tally.fate = fate;
    j->over = true;
}

/* The next entry, NULL when there is none. */
static const struct journal_entry *peek(struct journal *j)
{
    if (j->over || j->peeked)
        return j->over ? NULL : &j->next;
    switch (journal_read(&j->cursor, &j->next)) {
    case JOURNAL_STEP_entry: break;
    case JOURNAL_STEP_broken: end_with(j, JOURNAL_broken); return NULL;
    default: end_with(j, JOURNAL_cut); return NULL;
    }
    if (j->next.kind == JOURNAL_end) {
        end_with(j, JOURNAL_whole);
        return NULL;
    }
    if (j->next.kind == JOURNAL_gap) {
        buffer_add_str(&j->reason, j->next.error);
        end_with(j, JOURNAL_gapped);
        return NULL;
    }
    j->peeked = true;
    return &j->next;
}

static const struct journal_entry *take(struct journal *j)
{
    j->peeked = false;
    j->tally.entries++;
    j->now_ns = (int64_t)((uint64_t)j->now_ns + (uint64_t)j->next.now_ns);
    j->wall_us = (int64_t)((uint64_t)j->wall_us + (uint64_t)j->next.wall_us);
    return &j->next;
}

/* Opens the report of a difference; false when there is one already, or nothing to compare with. */
static bool begin_difference(struct journal *j)
{
    char when[32];
    if (j->over)
        return false;
    j->over = true;
    moment_print_micros(j->wall_us, when, sizeof(when));
    buffer_print(&j->difference, "entry %llu, %s: ", (unsigned long long)j->tally.entries, when);
    return true;
}

void journal_differs(const char *format, ...)
{
    char text[1024];
    va_list args;
    if (!journal_plays() || !begin_difference(in_force))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    buffer_add_text(&in_force->difference, text);
}

/* The next entry if it is of that kind; NULL behind the end, and if that is the difference. */
static const struct journal_entry *expect(struct journal *j, enum journal_kind kind)
{
    struct buffer name = {0};
    const struct journal_entry *e = peek(j);
    if (e == NULL || e->kind == kind)
        return e != NULL ? take(j) : NULL;
    compare_name(e, &name);
    journal_differs("%s, where there was: %.*s", journal_kind_name(kind),
                    STR_ARG(buffer_str(&name)));
    buffer_free(&name);
    return NULL;
}

const struct journal_entry *journal_next(void)
{
    struct buffer name = {0};
    const struct journal_entry *e = peek(in_force);
    if (e == NULL || e->kind == JOURNAL_send)
        return e;
    if (e->kind == JOURNAL_delivery || e->kind == JOURNAL_turn || e->kind == JOURNAL_stop ||
        e->kind == JOURNAL_dump)
        return take(in_force);
    take(in_force);
    compare_name(&in_force->next, &name);
    journal_differs("not done again: %.*s", STR_ARG(buffer_str(&name)));
    buffer_free(&name);
    return NULL;
}

const struct journal_entry *journal_next_answer(void)
{
    const struct journal_entry *e = peek(in_force);
    if (e != NULL && (e->kind == JOURNAL_data || e->kind == JOURNAL_answer))
        return take(in_force);
    expect(in_force, JOURNAL_answered);
    return NULL;
}

/* ---- what a core reads ---- */

static void look_at_clocks(struct moment *now, int64_t *wall_us)
{
    const struct journal *j = written();
    struct moment its_now = {0};
    int64_t its_wall_us = 0;
    bool own = j != NULL && j->options.clocks != NULL;
    if (own)
        j->options.clocks(j->options.state, &its_now, &its_wall_us);
    if (now != NULL)
        *now = own ? its_now : moment_now();
    if (wall_us != NULL)
        *wall_us = own ? its_wall_us : moment_wall_us();
}

void journal_clocks(struct moment *now, int64_t *wall_us)
{
    struct journal *j = in_force;
    if (j != NULL && j->plays) {
        expect(j, JOURNAL_clock);
        if (now != NULL)
            *now = (struct moment){j->now_ns};
        if (wall_us != NULL)
            *wall_us = j->wall_us;
        return;
    }
    look_at_clocks(now, wall_us);
    j = written();
    if (j != NULL)
        put(j, (struct journal_entry){.kind = JOURNAL_clock,
                                      .now_ns = now != NULL ? now->ns : 0,
                                      .wall_us = wall_us != NULL ? *wall_us : 0});
}

struct moment journal_now(void)
{
    struct moment now;
    if (in_force == NULL)
        return moment_now();
    journal_clocks(&now, NULL);
    return now;
}

int64_t journal_wall_us(void)
{
    int64_t wall_us;
    journal_clocks(NULL, &wall_us);
    return wall_us;
}

int64_t journal_number(int64_t number)
{
    if (journal_plays()) {
        const struct journal_entry *e = expect(in_force, JOURNAL_number);
        return e != NULL ? e->number : 0;
    }
    journal_take_down(&(struct journal_entry){.kind = JOURNAL_number, .number = number});
    return number;
}

uint64_t journal_seed(void)
{
    uint64_t seed = journal_plays() ? 0 : random_seed();
    return (uint64_t)journal_number((int64_t)seed);
}

bool journal_change(const char *name, bool changed)
{
    if (journal_plays()) {
        const struct journal_entry *e = peek(in_force);
        changed = e != NULL && e->kind == JOURNAL_change && str_is(e->name, name);
        if (changed)
            take(in_force);
    } else if (changed) {
        journal_take_down(&(struct journal_entry){.kind = JOURNAL_change, .name = str_of(name)});
    }
    return changed;
}

bool journal_text(const char *name, bool good, struct buffer *text)
{
    int error = good ? 0 : errno != 0 ? errno : EIO;
    if (journal_plays()) {
        const struct journal_entry *e = expect(in_force, JOURNAL_text);
        if (e != NULL && !str_is(e->name, name))
            journal_differs("reads %s, and had read %.*s", name, STR_ARG(e->name));
        if (e != NULL)
            buffer_add_str(text, e->body);
        error = e != NULL ? (int)e->number : EIO;
    } else {
        journal_take_down(&(struct journal_entry){
            .kind = JOURNAL_text, .name = str_of(name), .number = error, .body = buffer_str(text)});
    }
    errno = error;
    return error == 0;
}

/* ---- what a core is told ---- */

void journal_delivery(struct moment now, const struct delivery *in)
{
    struct journal *j = written();
    if (j == NULL)
        return;
    buffer_reset(&j->body);
    codec_encode(message_info[in->message->type].record, message_body_const(in->message), &j->body);
    put(j, (struct journal_entry){.kind = JOURNAL_delivery,
                                  .now_ns = now.ns,
                                  .wall_us = in->received_us,
                                  .type = in->message->type,
                                  .process = in->from.process,
                                  .peer = in->from.peer,
                                  .term = in->term,
                                  .generation = in->generation,
                                  .epoch = in->epoch,
                                  .sequence = in->sequence,
                                  .part = in->part,
                                  .sent_us = in->sent_us,
                                  .received_us = in->received_us,
                                  .name = in->instance,
                                  .body = buffer_str(&j->body)});
}

static void told(enum journal_kind kind, int64_t now_ns)
{
    int64_t wall_us;
    if (written() == NULL)
        return;
    look_at_clocks(NULL, &wall_us);
    put(in_force, (struct journal_entry){.kind = kind, .now_ns = now_ns, .wall_us = wall_us});
}

void journal_turn(struct moment now)
{
    told(JOURNAL_turn, now.ns);
}

void journal_stop(struct moment now)
{
    told(JOURNAL_stop, now.ns);
}

void journal_dump(void)
{
    told(JOURNAL_dump, 0);
}

/* ---- what a core says ---- */

/* FNV-1a: the same on every machine, as str_hash is not. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
    for (const unsigned char *at = bytes, *end = at + len; at < end; at++)
        hash = (hash ^ *at) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
    for (int i = 0; i < 8; i++, number >>= 8)
        hash = mix(hash, &(unsigned char){(unsigned char)number}, 1);
    return hash;
}

int64_t journal_hash(const struct journal_entry *e, struct str body)
{
    const int64_t numbers[] = {e->kind,  e->type,     e->process, e->peer,   e->term,
                               e->epoch, e->sequence, e->part,    e->number, e->took_ns};
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        hash = mix_number(hash, (uint64_t)numbers[i]);
    hash = mix(mix_number(hash, e->name.len), e->name.at, e->name.len);
    return (int64_t)mix(hash, body.at, body.len);
}

static void compare(struct journal *j, struct journal_entry *now, struct str body)
{
    const struct journal_entry *e = peek(j);
    if (e == NULL)
        return;
    take(j);
    struct journal_entry said = *e;
    if (said.kind == JOURNAL_message && said.body.len > 0)
        j->said = said.body;
    else if (said.kind == JOURNAL_message)
        said.body = j->said; /* as the one before, or it was left out of all */
    if (said.kind == now->kind && said.hash == now->hash) {
        j->tally.said += now->kind != JOURNAL_cancel;
        return;
    }
    now->body = body;
    if (begin_difference(j))
        compare_explain(now, &said, &j->difference);
}

/* again: its body is that of the message before. */
static void say(struct journal *j, struct journal_entry *entry, struct str body, bool again)
{
    entry->hash = journal_hash(entry, body);
    if (j->plays) {
        compare(j, entry, body);
    } else if (!j->over) {
        if (j->options.bodies && !again)
            entry->body = body;
        put(j, *entry);
    }
}

void journal_say(struct journal_entry *entry, struct str body)
{
    if (in_force != NULL)
        say(in_force, entry, body, false);
}

static struct journal_entry entry_of(const struct outgoing *o)
{
    return (struct journal_entry){.kind = JOURNAL_message,
                                  .type = o->type,
                                  .process = o->to.process,
                                  .peer = o->to.peer,
                                  .epoch = o->epoch,
                                  .sequence = o->sequence,
                                  .part = o->part};
}

/* How many messages were said; -1: nothing is known of it. */
static int64_t sent_then(struct journal *j, int64_t term)
{
    const struct journal_entry *e = expect(j, JOURNAL_send);
    if (e == NULL)
        return -1;
    if (e->number < 0)
        journal_differs("fewer than no messages were sent");
    if (e->term != term)
        journal_differs("its term is %lld, and was %lld", (long long)term, (long long)e->term);
    return e->number;
}

static void send_again(struct journal *j, const struct outbox *out, int64_t count)
{
    struct buffer name = {0};
    const struct journal_entry *e = NULL;
    if ((size_t)count < out->count) {
        struct journal_entry more = entry_of(&out->at[count]);
        compare_name(&more, &name);
        journal_differs("says more than it said: %.*s", STR_ARG(buffer_str(&name)));
    } else if ((size_t)count > out->count && (e = peek(j)) != NULL) {
        compare_name(e, &name);
        journal_differs("does not say again: %.*s", STR_ARG(buffer_str(&name)));
    }
    buffer_free(&name);
}

void journal_send(const struct outbox *out, int64_t term)
{
    struct journal *j = in_force;
    int64_t count = (int64_t)out->count;
    if (j == NULL || j->over)
        return;
    if (j->plays)
        count = sent_then(j, term);
    else
        put(j, (struct journal_entry){.kind = JOURNAL_send, .number = count, .term = term});
    for (size_t i = 0; i < out->count && (int64_t)i < count; i++) {
        const struct outgoing *o = &out->at[i];
        struct journal_entry entry = entry_of(o);
        bool again = i > 0 && o->body_offset == (o - 1)->body_offset && o->body_len > 0;
        say(j, &entry, outbox_body(out, i), again);
    }
    if (j->plays && count >= 0)
        send_again(j, out, count);
}
