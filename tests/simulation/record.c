/* record: entries one behind the other in a buffer, each a kind, numbers and bytes. Playing back
 * walks them with a process that has no bus and whose client is never answered but from here. What
 * must stay true: whatever a core is told or reads is an entry before it sees it. */
#include "tests/simulation/record.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/coordinator/coordinator.h"
#include "tests/simulation/calls.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/core.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/world.h"

#include <string.h>

#define RECORD_MAX (64u << 20) /* bytes; a longer life is played back as far as it was kept */

enum entry_kind {
    ENTRY_drawn,
    ENTRY_delivery,
    ENTRY_tick,
    ENTRY_reconfigure,
    ENTRY_stop,
    ENTRY_dump,
    ENTRY_data,
    ENTRY_done,
    ENTRY_answered,
    ENTRY_said
};

struct entry {
    enum entry_kind kind;
    uint32_t len; /* of the bytes behind it */
    int64_t now, wall_us;
    int64_t numbers[9];
};

struct life {
    struct buffer bytes;
    size_t at; /* playing back: the next entry */
    bool full, playing;
    const struct scheduler_config *config;
    struct proc origin; /* its name, group and so on */
};

static bool wanted;

void record_wanted(bool w)
{
    wanted = w;
}

static bool is_kept(const struct proc *p)
{
    return p != NULL && p->record != NULL && !p->record->playing && !p->record->full;
}

static void add(struct proc *p, struct entry *e, struct str bytes)
{
    struct life *r = p->record;
    e->now = clock_of(p->host).ns;
    e->wall_us = moment_wall_us();
    e->len = bytes.len;
    if (r->bytes.len + sizeof(*e) + bytes.len > RECORD_MAX) {
        r->full = true;
        cover("record", "is full");
        return;
    }
    buffer_add(&r->bytes, e, sizeof(*e));
    buffer_add(&r->bytes, bytes.at, bytes.len);
}

static void add_plain(struct proc *p, enum entry_kind kind, int64_t number)
{
    struct entry e = {.kind = kind, .numbers = {number}};
    if (is_kept(p))
        add(p, &e, (struct str){"", 0});
}

void record_begin(struct proc *p)
{
    p->record = NULL;
    if (!wanted)
        return;
    p->record = memory_take(sizeof(*p->record));
    p->record->config = p->config;
    p->record->origin = *p;
}

void record_drawn(struct proc *p, uint64_t number)
{
    add_plain(p, ENTRY_drawn, (int64_t)number);
}

void record_tick(struct proc *p, struct moment now)
{
    (void)now;
    add_plain(p, ENTRY_tick, 0);
}

void record_reconfigure(struct proc *p, struct moment now)
{
    (void)now;
    add_plain(p, ENTRY_reconfigure, world_config_number(p->group));
}

void record_dump(struct proc *p)
{
    add_plain(p, ENTRY_dump, 0);
}

void record_stop(struct proc *p, struct moment now)
{
    (void)now;
    add_plain(p, ENTRY_stop, 0);
}

void record_answered(struct proc *p)
{
    add_plain(p, ENTRY_answered, 0);
}

void record_delivery(struct proc *p, struct moment now, const struct delivery *in)
{
    struct buffer body = {0};
    struct entry e = {.kind = ENTRY_delivery,
                      .numbers = {in->message->type, in->from.process, in->from.peer, in->term,
                                  in->generation, in->epoch, in->sequence, in->part, in->sent_us}};
    (void)now;
    if (!is_kept(p))
        return;
    buffer_print(&body, "%-64.*s", STR_ARG(in->instance));
    codec_encode(message_info[in->message->type].record, message_body_const(in->message), &body);
    add(p, &e, buffer_str(&body));
    buffer_free(&body);
}

void record_data(struct proc *p, uint64_t call, struct str piece)
{
    struct entry e = {.kind = ENTRY_data, .numbers = {(int64_t)call}};
    if (is_kept(p))
        add(p, &e, piece);
}

void record_done(struct proc *p, uint64_t call, const struct kube_response *r)
{
    struct buffer bytes = {0};
    struct entry e = {.kind = ENTRY_done,
                      .numbers = {(int64_t)call, r->status, r->maybe_done, r->retry_after_s,
                                  r->took.ns, (int64_t)strlen(r->error), r->silent}};
    if (!is_kept(p))
        return;
    buffer_add(&bytes, r->error, strlen(r->error) + 1);
    buffer_add_str(&bytes, r->body);
    add(p, &e, buffer_str(&bytes));
    buffer_free(&bytes);
}

static uint64_t hash_of(const struct outbox *out, uint64_t hash)
{
    for (size_t i = 0; i < out->count; i++) {
        const struct outgoing *o = &out->at[i];
        struct str body = outbox_body(out, i);
        hash = (hash ^ (uint64_t)o->to.process ^ (uint64_t)o->to.peer << 20 ^
                (uint64_t)o->type << 40) *
               1099511628211u;
        hash = (hash ^ (uint64_t)o->epoch ^ (uint64_t)o->sequence << 1 ^ (uint64_t)o->part << 2 ^
                str_hash(body)) *
               1099511628211u;
    }
    return hash;
}

/* ---- playing back ---- */

static bool next_entry(struct life *r, struct entry *e, struct str *bytes)
{
    if (r->at + sizeof(*e) > r->bytes.len)
        return false;
    memcpy(e, r->bytes.at + r->at, sizeof(*e));
    *bytes = (struct str){r->bytes.at + r->at + sizeof(*e), e->len};
    return true;
}

static void step(struct life *r, const struct entry *e)
{
    r->at += sizeof(*e) + e->len;
}

static void differs(struct proc *p, const char *what)
{
    violated("played back alike", "%s: %s at byte %zu of its record of %zu", p->door, what,
             p->record->at, p->record->bytes.len);
}

bool record_draw(struct proc *p, uint64_t *number)
{
    struct entry e;
    struct str bytes;
    if (p == NULL || p->record == NULL || !p->record->playing)
        return false;
    if (!next_entry(p->record, &e, &bytes) || e.kind != ENTRY_drawn)
        differs(p, "draws a number that it did not draw");
    *number = (uint64_t)e.numbers[0];
    step(p->record, &e);
    return true;
}

/* What is told to a call is told by its number. */
bool record_answer(struct proc *p)
{
    struct entry e;
    struct str bytes;
    if (p->record == NULL || !p->record->playing)
        return false;
    while (next_entry(p->record, &e, &bytes) && e.kind != ENTRY_answered) {
        if (e.kind != ENTRY_data && e.kind != ENTRY_done)
            differs(p, "turns its client when it did not");
        step(p->record, &e);
        struct kube_response response = {.status = (int)e.numbers[1],
                                         .maybe_done = e.numbers[2] != 0,
                                         .retry_after_s = (int)e.numbers[3],
                                         .took = {e.numbers[4]},
                                         .silent = e.numbers[6] != 0,
                                         .error = bytes.at};
        uint32_t behind = (uint32_t)e.numbers[5] + 1;
        if (e.kind == ENTRY_done)
            response.body = (struct str){bytes.at + behind, bytes.len - behind};
        if (!calls_tell(p->calls, (uint64_t)e.numbers[0], bytes,
                        e.kind == ENTRY_done ? &response : NULL))
            differs(p, "an answer comes to a request that it did not make");
    }
    if (next_entry(p->record, &e, &bytes))
        step(p->record, &e);
    return true;
}

void record_said(struct proc *p)
{
    int64_t hash = (int64_t)hash_of(&p->out, 7);
    struct entry e;
    struct str bytes;
    if (p->record == NULL || p->out.count == 0)
        return;
    if (!p->record->playing) {
        add_plain(p, ENTRY_said, hash);
        return;
    }
    if (!next_entry(p->record, &e, &bytes)) /* it was cut off here */
        return;
    if (e.kind != ENTRY_said || e.numbers[0] != hash)
        differs(p, e.kind != ENTRY_said ? "says something more" : "says something else");
    step(p->record, &e);
}

static void play_said(void *context)
{
    struct proc *p = context;
    record_said(p);
    outbox_reset(&p->out);
}

static void play_delivery(struct proc *p, const struct entry *e, struct str bytes)
{
    struct arena memory = {0};
    struct message m = {.type = (enum message_type)e->numbers[0]};
    struct str instance = {bytes.at, 64};
    while (instance.len > 0 && instance.at[instance.len - 1] == ' ')
        instance.len--;
    struct cursor in = {(const uint8_t *)bytes.at + 64, (const uint8_t *)bytes.at + bytes.len};
    must(codec_decode(message_info[m.type].record, message_body(&m), &in, &memory));
    struct delivery d = {.from = {(enum process)e->numbers[1], (uint32_t)e->numbers[2]},
                         .instance = instance,
                         .term = e->numbers[3],
                         .generation = e->numbers[4],
                         .epoch = e->numbers[5],
                         .sequence = e->numbers[6],
                         .part = e->numbers[7],
                         .sent_us = e->numbers[8],
                         .received_us = moment_wall_us(),
                         .message = &m};
    core_handle(p, (struct moment){e->now}, &d);
    arena_free(&memory);
}

/* The clocks show what they showed. */
static void set_clocks(struct host *h, const struct entry *e)
{
    *h = (struct host){.name = h->name};
    h->mono_base = e->now - clock_now();
    clock_at(NULL);
    h->wall_offset_us = e->wall_us - moment_wall_us();
    clock_at(h);
}

static void play_entry(struct proc *p, const struct entry *e, struct str bytes)
{
    struct moment now = {e->now};
    switch (e->kind) {
    case ENTRY_delivery: play_delivery(p, e, bytes); break;
    case ENTRY_tick: (void)core_turn(p, now); break;
    case ENTRY_reconfigure:
        core_reconfigure(p, now, world_config_at((uint32_t)e->numbers[0]));
        break;
    case ENTRY_stop: core_stop(p, now); break;
    case ENTRY_dump: coordinator_dump(p->core); break;
    default: differs(p, "is silent where it spoke");
    }
    if (e->kind == ENTRY_tick)
        play_said(p);
}

static void play(struct life *r)
{
    struct proc p = r->origin;
    struct host host = *p.host;
    struct entry e;
    struct str bytes;
    p.host = &host;
    p.alive = false;
    p.record = r;
    p.bus = NULL;
    p.config = r->config;
    p.out = (struct outbox){.send = play_said, .context = &p};
    r->playing = true;
    r->at = 0;
    if (next_entry(r, &e, &bytes))
        set_clocks(&host, &e);
    proc_play(&p);
    core_start(&p);
    while (next_entry(r, &e, &bytes)) {
        step(r, &e);
        set_clocks(&host, &e);
        play_entry(&p, &e, bytes);
    }
    r->at = r->bytes.len;
    core_free(&p);
    proc_play(NULL);
    if (p.calls != NULL)
        calls_free(&p.calls);
    p.out.send = NULL;
    outbox_free(&p.out);
    cover("played back", process_name(p.kind));
}

void record_end(struct proc *p)
{
    struct life *r = p->record;
    if (r == NULL || r->playing)
        return;
    r->full = true;
    play(r);
    buffer_free(&r->bytes);
    memory_free(r);
    p->record = NULL;
}
