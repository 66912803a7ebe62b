/* stream: both ends of a numbered state stream.
 *
 * The publisher's mirror and log share their encoded messages by counting references, so a snapshot
 * is a list of references taken at one sequence, and what changes meanwhile cannot touch it. The
 * subscriber's whole knowledge is its position; whatever it cannot place behind that position makes
 * it ask again from there. What must stay true: the log holds consecutive sequences up to the
 * newest; a subscriber is sent nothing that it gave no credit for; a message is applied only when
 * it is the very next of the log or of the snapshot. */
#include "proto/bus/stream.h"

#include "proto/base/log.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <string.h>

#define CREDIT_MAX   (1ll << 32) /* what a subscriber can pile up */
#define ASK_AGAIN_MS 3000        /* a question unanswered for so long was lost */
#define QUIET_MS     10000       /* so long without any message, and we ask whether all is well */

/* ---- publisher ---- */

/* One encoded message, shared by mirror, log and snapshots. */
struct blob {
    uint32_t references;
    enum message_type type;
    uint32_t len;
    char at[];
};

struct reader {
    struct address from;
    int64_t credit;
    int64_t next; /* next sequence of the log */
    /* The snapshot that it is being sent; at == NULL when it follows the log. */
    struct blob **at;
    size_t count;
    int64_t sequence; /* of the snapshot */
    int64_t part;     /* sent last */
};

struct publisher {
    struct publisher_options options;
    int64_t sequence;
    struct map *mirror; /* key → struct blob */
    struct blob **log;  /* ring of log_count blobs from log_first on */
    size_t log_first, log_count, log_room, log_bytes;
    struct reader *readers;
    uint32_t reader_count;
    uint64_t snapshots;
    struct buffer scratch;
};

static struct blob *blob_new(enum message_type type, struct str body)
{
    struct blob *blob = memory_take(sizeof(*blob) + body.len);
    blob->references = 1;
    blob->type = type;
    blob->len = body.len;
    memcpy(blob->at, body.at, body.len);
    return blob;
}

static struct blob *blob_share(struct blob *blob)
{
    must(blob->references > 0 && blob->references < UINT32_MAX);
    blob->references++;
    return blob;
}

static void blob_release(struct blob *blob)
{
    if (blob != NULL && --blob->references == 0)
        memory_free(blob);
}

struct publisher *publisher_new(const struct publisher_options *options)
{
    must(options->epoch > 0 && options->subscribers_max > 0);
    struct publisher *p = memory_take(sizeof(*p));
    p->options = *options;
    p->mirror = map_new();
    p->readers = memory_take_array(options->subscribers_max, sizeof(*p->readers));
    return p;
}

static void snapshot_end(struct reader *reader)
{
    for (size_t i = 0; reader->at && i < reader->count; i++)
        blob_release(reader->at[i]);
    memory_free(reader->at);
    reader->at = NULL;
}

static struct blob *log_at(const struct publisher *p, size_t i)
{
    return p->log[(p->log_first + i) % p->log_room];
}

void publisher_free(struct publisher **freeing)
{
    struct publisher *p = *freeing;
    if (p == NULL)
        return;
    struct str key;
    void *blob;
    for (size_t at = 0; map_next(p->mirror, &at, &key, &blob);)
        blob_release(blob);
    map_free(&p->mirror);
    for (size_t i = 0; i < p->log_count; i++)
        blob_release(log_at(p, i));
    for (uint32_t i = 0; i < p->reader_count; i++)
        snapshot_end(&p->readers[i]);
    memory_free(p->log);
    memory_free(p->readers);
    buffer_free(&p->scratch);
    memory_free(p);
    *freeing = NULL;
}

static void log_grow(struct publisher *p)
{
    size_t room = p->log_room ? p->log_room * 2 : 64;
    struct blob **log = memory_take_array(room, sizeof(struct blob *));
    for (size_t i = 0; i < p->log_count; i++)
        log[i] = log_at(p, i);
    memory_free(p->log);
    p->log = log;
    p->log_room = room;
    p->log_first = 0;
}

/* Gives the change the next sequence and makes room by forgetting the oldest. Takes the reference.
 */
static void log_add(struct publisher *p, struct blob *blob)
{
    if (p->log_count == p->log_room)
        log_grow(p);
    p->log[(p->log_first + p->log_count++) % p->log_room] = blob;
    p->log_bytes += sizeof(*blob) + blob->len;
    p->sequence++;
    while (p->log_count > 1 && p->log_bytes > p->options.log_bytes_max) {
        struct blob *oldest = log_at(p, 0);
        p->log_bytes -= sizeof(*oldest) + oldest->len;
        p->log_first = (p->log_first + 1) % p->log_room;
        p->log_count--;
        blob_release(oldest);
    }
}

/* The oldest sequence that the log still has; one past the newest when it is empty. */
static int64_t log_oldest(const struct publisher *p)
{
    return p->sequence - (int64_t)p->log_count + 1;
}

static struct str encode(struct publisher *p, const struct message *m)
{
    buffer_reset(&p->scratch);
    codec_encode(message_info[m->type].record, message_body_const(m), &p->scratch);
    return buffer_str(&p->scratch);
}

bool publisher_set(struct publisher *p, struct str key, const struct message *m)
{
    struct str body = encode(p, m);
    struct blob *known = map_get(p->mirror, key);
    if (known != NULL && known->type == m->type &&
        str_equal((struct str){known->at, known->len}, body))
        return false;
    struct blob *blob = blob_new(m->type, body);
    blob_release(map_set(p->mirror, key, blob));
    log_add(p, blob_share(blob));
    return true;
}

bool publisher_remove(struct publisher *p, struct str key, const struct message *gone)
{
    struct blob *known = map_remove(p->mirror, key);
    if (known == NULL)
        return false;
    blob_release(known);
    publisher_note(p, gone);
    return true;
}

void publisher_note(struct publisher *p, const struct message *m)
{
    log_add(p, blob_new(m->type, encode(p, m)));
}

static struct reader *reader_of(struct publisher *p, struct address from)
{
    for (uint32_t i = 0; i < p->reader_count; i++)
        if (p->readers[i].from.peer == from.peer)
            return &p->readers[i];
    return NULL;
}

static void snapshot_begin(struct publisher *p, struct reader *reader)
{
    struct str key;
    void *blob;
    snapshot_end(reader);
    reader->count = 0;
    reader->at = memory_take_array(map_count(p->mirror) + 1, sizeof(struct blob *));
    for (size_t at = 0; map_next(p->mirror, &at, &key, &blob);)
        reader->at[reader->count++] = blob_share(blob);
    must(reader->count == map_count(p->mirror));
    reader->sequence = p->sequence;
    reader->next = p->sequence + 1;
    reader->part = 0;
    p->snapshots++;
}

static void on_subscribe(struct publisher *p, struct address from, const struct subscribe *m)
{
    struct reader *reader = reader_of(p, from);
    if (reader == NULL) {
        if (p->reader_count == p->options.subscribers_max) {
            log_warn("subscriber refused: as many as there may be|kind=%s max=%u",
                     process_name(from.process), p->options.subscribers_max);
            return;
        }
        reader = &p->readers[p->reader_count++];
        *reader = (struct reader){.from = from};
    }
    snapshot_end(reader);
    reader->credit = m->credit < 0 ? 0 : m->credit > CREDIT_MAX ? CREDIT_MAX : m->credit;
    bool known = m->epoch == p->options.epoch && m->sequence <= p->sequence &&
                 m->sequence >= log_oldest(p) - 1;
    if (known)
        reader->next = m->sequence + 1;
    else
        snapshot_begin(p, reader);
}

static void on_credit(struct publisher *p, struct address from, const struct credit *m)
{
    struct reader *reader = reader_of(p, from);
    if (reader == NULL || m->count <= 0)
        return;
    reader->credit =
        m->count > CREDIT_MAX - reader->credit ? CREDIT_MAX : reader->credit + m->count;
}

static void on_peer_down(struct publisher *p, struct address from)
{
    struct reader *reader = reader_of(p, from);
    if (reader == NULL)
        return;
    snapshot_end(reader);
    *reader = p->readers[--p->reader_count];
}

void publisher_handle(struct publisher *p, struct address from, const struct message *m)
{
    if (m->type == MSG_subscribe)
        on_subscribe(p, from, &m->subscribe);
    else if (m->type == MSG_credit)
        on_credit(p, from, &m->credit);
    else if (m->type == MSG_peer_down)
        on_peer_down(p, from);
}

static void put(const struct publisher *p, const struct reader *reader, const struct outgoing *what,
                struct str body, struct outbox *out)
{
    struct outgoing head = *what;
    head.to = reader->from;
    head.epoch = p->options.epoch;
    outbox_put_encoded(out, &head, body);
}

static void put_snapshot(struct publisher *p, struct reader *reader, struct outbox *out)
{
    static const char empty_map = (char)0x80; /* the body of a message without fields */
    struct outgoing head = {.sequence = reader->sequence, .part = ++reader->part};
    struct str body = {&empty_map, 1};
    size_t object = (size_t)reader->part - 2;
    if (reader->part == 1) {
        head.type = MSG_snapshot_begin;
    } else if (object == reader->count) {
        head.type = MSG_snapshot_end;
    } else {
        head.type = reader->at[object]->type;
        body = (struct str){reader->at[object]->at, reader->at[object]->len};
    }
    put(p, reader, &head, body, out);
    if (head.type == MSG_snapshot_end)
        snapshot_end(reader);
}

static void put_change(struct publisher *p, struct reader *reader, struct outbox *out)
{
    const struct blob *blob = log_at(p, (size_t)(reader->next - log_oldest(p)));
    struct outgoing head = {.type = blob->type, .sequence = reader->next++};
    put(p, reader, &head, (struct str){blob->at, blob->len}, out);
}

static void flush_reader(struct publisher *p, struct reader *reader, struct outbox *out)
{
    for (; reader->credit > 0; reader->credit--) {
        if (reader->at == NULL && reader->next < log_oldest(p))
            snapshot_begin(p, reader); /* it was too slow: the log has moved on */
        if (reader->at != NULL)
            put_snapshot(p, reader, out);
        else if (reader->next <= p->sequence)
            put_change(p, reader, out);
        else
            return;
    }
}

void publisher_flush(struct publisher *p, struct outbox *out)
{
    for (uint32_t i = 0; i < p->reader_count; i++)
        flush_reader(p, &p->readers[i], out);
}

int64_t publisher_sequence(const struct publisher *p)
{
    return p->sequence;
}

size_t publisher_objects(const struct publisher *p)
{
    return map_count(p->mirror);
}

uint32_t publisher_subscribers(const struct publisher *p)
{
    return p->reader_count;
}

uint64_t publisher_snapshots(const struct publisher *p)
{
    return p->snapshots;
}

/* ---- subscriber ---- */

void subscriber_init(struct subscriber *s, uint32_t window)
{
    must(window > 0);
    *s = (struct subscriber){.publisher.process = WATCHER, .window = window};
}

/* Half a snapshot is no position to go on from. */
static void ask(struct subscriber *s, struct moment now, struct outbox *out)
{
    bool placed = s->synced && !s->in_snapshot;
    struct message m = {.type = MSG_subscribe,
                        .subscribe = {.epoch = placed ? s->epoch : 0,
                                      .sequence = placed ? s->sequence : 0,
                                      .credit = s->window}};
    must(s->publisher.peer != 0);
    outbox_put(out, s->publisher, &m);
    s->used = 0;
    s->asked = true;
    s->asked_at = now;
}

static enum stream_step gap(struct subscriber *s, struct moment now, struct outbox *out)
{
    if (!s->asked) {
        s->gaps++;
        ask(s, now, out);
    }
    return STREAM_ignore;
}

/* Gives back credit in halves of the window: the publisher never waits for a whole round trip. */
static void consume(struct subscriber *s, struct outbox *out)
{
    if (++s->used < (s->window + 1) / 2)
        return;
    struct message m = {.type = MSG_credit, .credit = {.count = s->used}};
    outbox_put(out, s->publisher, &m);
    s->used = 0;
}

static enum stream_step take_begin(struct subscriber *s, const struct delivery *in)
{
    bool wanted = s->asked || in->epoch != s->epoch || in->sequence > s->sequence ||
                  (!s->synced && !s->in_snapshot);
    if (!wanted || in->part > 1)
        return STREAM_ignore; /* said twice */
    s->epoch = in->epoch;
    s->sequence = in->sequence;
    s->part = 1;
    s->in_snapshot = true;
    s->asked = false;
    s->snapshots++;
    return STREAM_apply;
}

static enum stream_step take_part(struct subscriber *s, struct moment now,
                                  const struct delivery *in, struct outbox *out)
{
    bool ours = in->epoch == s->epoch && in->sequence == s->sequence;
    int64_t part = in->part > 0 ? in->part : s->part + 1; /* 0: its sender does not count them */
    if (ours && part <= s->part)
        return STREAM_ignore;
    if (!ours || part != s->part + 1)
        return gap(s, now, out);
    s->part++;
    if (in->message->type == MSG_snapshot_end) {
        s->in_snapshot = false;
        s->synced = true;
    }
    return STREAM_apply;
}

static enum stream_step take_change(struct subscriber *s, struct moment now,
                                    const struct delivery *in, struct outbox *out)
{
    if (in->part > 0)
        return STREAM_ignore; /* the rest of a snapshot that we have left behind */
    if (!s->synced || in->epoch != s->epoch)
        return gap(s, now, out);
    if (in->sequence <= s->sequence)
        return STREAM_ignore;
    if (in->sequence != s->sequence + 1)
        return gap(s, now, out);
    s->sequence++;
    s->asked = false;
    return STREAM_apply;
}

static void take_peer(struct subscriber *s, struct moment now, const struct delivery *in,
                      struct outbox *out)
{
    if (in->message->type == MSG_peer_up) {
        s->publisher = in->from;
        s->heard_at = now;
        ask(s, now, out);
    } else if (in->from.peer == s->publisher.peer) {
        s->publisher.peer = 0;
        s->asked = false;
    }
}

enum stream_step subscriber_take(struct subscriber *s, struct moment now, const struct delivery *in,
                                 struct outbox *out)
{
    enum message_type type = in->message->type;
    if (in->from.process != s->publisher.process)
        return STREAM_apply;
    if (type == MSG_peer_up || type == MSG_peer_down) {
        take_peer(s, now, in, out);
        return STREAM_apply;
    }
    if (in->epoch == 0)
        return STREAM_apply; /* no part of a stream */
    if (in->from.peer != s->publisher.peer || s->publisher.peer == 0)
        return STREAM_ignore;
    s->heard_at = now;
    consume(s, out);
    if (type == MSG_snapshot_begin)
        return take_begin(s, in);
    return s->in_snapshot ? take_part(s, now, in, out) : take_change(s, now, in, out);
}

struct moment subscriber_tick(struct subscriber *s, struct moment now, struct outbox *out)
{
    if (s->publisher.peer == 0)
        return MOMENT_NEVER; /* peer_up asks */
    bool waiting = s->asked || s->in_snapshot || !s->synced;
    /* What comes in while a question waits is no answer: the publisher may never have got it. */
    struct moment last = s->asked ? s->asked_at : s->heard_at;
    struct span patience = span_of_ms(waiting ? ASK_AGAIN_MS : QUIET_MS);
    if (moment_reached(now, moment_after(last, patience))) {
        ask(s, now, out);
        return moment_after(now, span_of_ms(ASK_AGAIN_MS));
    }
    return moment_after(last, patience);
}
