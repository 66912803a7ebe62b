/* stream: both ends of a numbered state stream.
 *
 * The publisher's objects and log share their stored messages by counting references, so a
 * snapshot is a list of references taken at one sequence, and what changes meanwhile cannot touch
 * it. The mark of each is its message's type. The subscriber's whole knowledge is its position;
 * whatever it cannot place behind that position makes it ask again from there. What must stay true:
 * the log holds consecutive sequences up to the newest; a subscriber is sent nothing that it gave
 * no credit for; a message is applied only when it is the very next of the log or of the snapshot.
 */
#include "proto/bus/stream.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <string.h>

#define CREDIT_MAX   (1ll << 32) /* what a subscriber can pile up */
#define ASK_AGAIN_MS 3000        /* a question unanswered for so long was lost */
#define ONCE_MAX     4           /* readers that want something once */
#define QUIET_MS     10000       /* so long without any message, and we ask whether all is well */

/* ---- publisher ---- */

struct reader {
    struct address from;
    int64_t credit;
    int64_t next; /* next sequence of the log */
    /* The snapshot that it is being sent; at == NULL when it follows the log. */
    struct stored **at;
    size_t count;
    int64_t sequence; /* of the snapshot */
    int64_t part;     /* sent last */
    int64_t end;      /* for once: the last sequence that it wants; 0: the snapshot is all */
    bool once, pods;  /* what there is now is all it wants; of pods alone */
};

struct publisher {
    struct publisher_options options;
    int64_t sequence;
    struct packed_store *stores[MSG_COUNT]; /* by message type, where one was needed */
    struct published **objects;             /* all that are in the stream, in no particular order */
    uint32_t object_count, object_room;
    struct stored **log; /* ring of log_count messages from log_first on */
    size_t log_first, log_count, log_room, log_bytes;
    struct reader *readers;
    uint32_t reader_count;
    uint64_t snapshots;
    struct buffer scratch;
};

/* Pods and nodes are cut, as they are many; all else is kept whole. */
static struct packed_store *store_of(struct publisher *p, enum message_type type)
{
    const struct store_rule whole = {.record = message_info[type].record};
    if (p->stores[type] != NULL)
        return p->stores[type];
    if (type == MSG_pod_set)
        p->stores[type] = store_new(&store_pods);
    else
        p->stores[type] = store_new(type == MSG_node_set ? &store_nodes : &whole);
    return p->stores[type];
}

/* What is stored of the message: its one record, or all of it. */
static const void *part_of(const struct message *m)
{
    if (m->type == MSG_pod_set)
        return &m->pod_set.pod;
    return m->type == MSG_node_set ? (const void *)&m->node_set.node : message_body_const(m);
}

static struct stored *store(struct publisher *p, const struct message *m)
{
    struct stored *s = store_put(store_of(p, m->type), part_of(m));
    s->mark = m->type;
    return s;
}

static void release(struct publisher *p, struct stored *s)
{
    if (s != NULL)
        store_drop(p->stores[s->mark], s);
}

/* The message's body, as the codec encodes it; holds until the next call. */
static struct str body_of(struct publisher *p, const struct stored *s)
{
    static const uint8_t head_of_pod[] = {0x81, TAG_pod_set_pod};
    static const uint8_t head_of_node[] = {0x81, TAG_node_set_node};
    buffer_reset(&p->scratch);
    if (s->mark == MSG_pod_set)
        buffer_add(&p->scratch, head_of_pod, sizeof(head_of_pod));
    else if (s->mark == MSG_node_set)
        buffer_add(&p->scratch, head_of_node, sizeof(head_of_node));
    store_encoded(p->stores[s->mark], s, &p->scratch);
    return buffer_str(&p->scratch);
}

struct publisher *publisher_new(const struct publisher_options *options)
{
    must(options->epoch > 0 && options->subscribers_max > 0);
    struct publisher *p = memory_take(sizeof(*p));
    p->options = *options;
    p->readers = memory_take_array(options->subscribers_max, sizeof(*p->readers));
    return p;
}

static void snapshot_end(struct publisher *p, struct reader *reader)
{
    for (size_t i = 0; reader->at && i < reader->count; i++)
        release(p, reader->at[i]);
    memory_free(reader->at);
    reader->at = NULL;
}

static struct stored *log_at(const struct publisher *p, size_t i)
{
    return p->log[(p->log_first + i) % p->log_room];
}

void publisher_free(struct publisher **freeing)
{
    struct publisher *p = *freeing;
    if (p == NULL)
        return;
    for (uint32_t i = 0; i < p->object_count; i++)
        release(p, p->objects[i]->now);
    for (size_t i = 0; i < p->log_count; i++)
        release(p, log_at(p, i));
    for (uint32_t i = 0; i < p->reader_count; i++)
        snapshot_end(p, &p->readers[i]);
    for (int i = 0; i < MSG_COUNT; i++)
        store_free(&p->stores[i]);
    memory_free(p->objects);
    memory_free(p->log);
    memory_free(p->readers);
    buffer_free(&p->scratch);
    memory_free(p);
    *freeing = NULL;
}

static void log_grow(struct publisher *p)
{
    size_t room = p->log_room ? p->log_room * 2 : 64;
    struct stored **log = memory_take_array(room, sizeof(struct stored *));
    for (size_t i = 0; i < p->log_count; i++)
        log[i] = log_at(p, i);
    memory_free(p->log);
    p->log = log;
    p->log_room = room;
    p->log_first = 0;
}

/* Gives the change the next sequence and makes room by forgetting the oldest. Takes the reference.
 */
static void log_add(struct publisher *p, struct stored *s)
{
    if (p->log_count == p->log_room)
        log_grow(p);
    p->log[(p->log_first + p->log_count++) % p->log_room] = s;
    p->log_bytes += store_size(p->stores[s->mark], s);
    p->sequence++;
    while (p->log_count > 1 && p->log_bytes > p->options.log_bytes_max) {
        struct stored *oldest = log_at(p, 0);
        p->log_bytes -= store_size(p->stores[oldest->mark], oldest);
        p->log_first = (p->log_first + 1) % p->log_room;
        p->log_count--;
        release(p, oldest);
    }
}

/* The oldest sequence that the log still has; one past the newest when it is empty. */
static int64_t log_oldest(const struct publisher *p)
{
    return p->sequence - (int64_t)p->log_count + 1;
}

static void add_object(struct publisher *p, struct published *object)
{
    if (p->object_count == p->object_room) {
        must(p->object_room < UINT32_MAX / 2);
        p->object_room += p->object_room / 2 + 64;
        p->objects = memory_resize(p->objects, p->object_room * sizeof(struct published *));
    }
    object->place = p->object_count;
    p->objects[p->object_count++] = object;
}

bool publisher_set(struct publisher *p, struct published *object, const struct message *m)
{
    struct stored *now = store(p, m);
    if (object->now != NULL && object->now->mark == m->type && store_same(object->now, now)) {
        release(p, now);
        return false;
    }
    if (object->now == NULL)
        add_object(p, object);
    release(p, object->now);
    object->now = now;
    log_add(p, store_share(now));
    return true;
}

void publisher_get(const struct publisher *p, const struct published *object, struct message *m,
                   struct arena *a)
{
    const struct stored *now = object->now;
    *m = (struct message){.type = (enum message_type)now->mark};
    void *part = message_body(m);
    if (m->type == MSG_pod_set)
        part = &m->pod_set.pod;
    else if (m->type == MSG_node_set)
        part = &m->node_set.node;
    store_get(p->stores[m->type], now, part, a);
}

bool publisher_remove(struct publisher *p, struct published *object, const struct message *gone)
{
    if (object->now == NULL)
        return false;
    must(object->place < p->object_count && p->objects[object->place] == object);
    p->objects[object->place] = p->objects[--p->object_count];
    p->objects[object->place]->place = object->place;
    release(p, object->now);
    object->now = NULL;
    publisher_note(p, gone);
    return true;
}

void publisher_note(struct publisher *p, const struct message *m)
{
    log_add(p, store(p, m));
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
    snapshot_end(p, reader);
    reader->at = memory_take_array(p->object_count + 1, sizeof(struct stored *));
    reader->count = 0;
    for (uint32_t i = 0; i < p->object_count; i++)
        if (!reader->pods || p->objects[i]->now->mark == MSG_pod_set)
            reader->at[reader->count++] = store_share(p->objects[i]->now);
    reader->sequence = p->sequence;
    reader->next = p->sequence + 1;
    reader->part = 0;
    p->snapshots += !reader->once;
}

static void leave(struct publisher *p, struct reader *reader)
{
    snapshot_end(p, reader);
    *reader = p->readers[--p->reader_count];
}

/* Nobody says when one who wants it once is gone; so there are few, and the oldest gives way. */
static void make_room(struct publisher *p)
{
    uint32_t count = 0, oldest = 0;
    for (uint32_t i = p->reader_count; i-- > 0;)
        if (p->readers[i].once) {
            oldest =
                count == 0 || p->readers[i].sequence <= p->readers[oldest].sequence ? i : oldest;
            count++;
        }
    if (count >= ONCE_MAX)
        leave(p, &p->readers[oldest]);
}

static void on_subscribe(struct publisher *p, struct address from, const struct subscribe *m)
{
    struct reader *reader = reader_of(p, from);
    bool once = m->once || m->pods_once || m->changes_once;
    if (reader == NULL && once)
        make_room(p);
    if (reader == NULL) {
        if (p->reader_count == p->options.subscribers_max) {
            log_warn("subscriber refused: as many as there may be|kind=%s max=%u",
                     process_name(from.process), p->options.subscribers_max);
            return;
        }
        reader = &p->readers[p->reader_count++];
        *reader = (struct reader){.from = from};
    }
    snapshot_end(p, reader);
    reader->credit = m->credit < 0 ? 0 : m->credit > CREDIT_MAX ? CREDIT_MAX : m->credit;
    reader->once = once;
    reader->pods = m->pods_once;
    reader->end = m->changes_once ? p->sequence : 0;
    bool anew = m->once || m->pods_once;
    bool known = !anew && m->epoch == p->options.epoch && m->sequence <= p->sequence &&
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
    if (reader != NULL)
        leave(p, reader);
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
        head.type = (enum message_type)reader->at[object]->mark;
        body = body_of(p, reader->at[object]);
    }
    put(p, reader, &head, body, out);
    if (head.type == MSG_snapshot_end)
        snapshot_end(p, reader);
}

/* It has had what it wanted once. */
static bool is_over(const struct reader *reader)
{
    return reader->once && reader->at == NULL && (reader->end == 0 || reader->next > reader->end);
}

static void put_change(struct publisher *p, struct reader *reader, struct outbox *out)
{
    const struct stored *s = log_at(p, (size_t)(reader->next - log_oldest(p)));
    struct outgoing head = {.type = (enum message_type)s->mark, .sequence = reader->next++};
    put(p, reader, &head, body_of(p, s), out);
}

static void flush_reader(struct publisher *p, struct reader *reader, struct outbox *out)
{
    for (; reader->credit > 0 && !is_over(reader); reader->credit--) {
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
    for (uint32_t i = p->reader_count; i-- > 0;) {
        flush_reader(p, &p->readers[i], out);
        if (is_over(&p->readers[i]))
            leave(p, &p->readers[i]);
    }
}

int64_t publisher_epoch(const struct publisher *p)
{
    return p->options.epoch;
}

int64_t publisher_sequence(const struct publisher *p)
{
    return p->sequence;
}

size_t publisher_objects(const struct publisher *p)
{
    return p->object_count;
}

uint32_t publisher_subscribers(const struct publisher *p)
{
    return p->reader_count;
}

uint64_t publisher_snapshots(const struct publisher *p)
{
    return p->snapshots;
}

size_t publisher_log(const struct publisher *p)
{
    return p->log_count;
}

/* ---- subscriber ---- */

void subscriber_init(struct subscriber *s, uint32_t window)
{
    must(window > 0);
    *s = (struct subscriber){.publisher.process = WATCHER, .window = window};
}

void subscriber_again(struct subscriber *s)
{
    s->synced = false;
    s->in_snapshot = false;
    s->again = true;
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
    if (!s->in_snapshot) {
        s->whole_epoch = s->epoch;
        s->whole_sequence = s->sequence;
    }
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
        if (s->whole_epoch != 0 && s->whole_epoch != s->epoch)
            s->left[s->left_count++ % EPOCHS_LEFT] = s->whole_epoch;
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

bool subscriber_has_reached(const struct subscriber *s, int64_t epoch, int64_t sequence)
{
    int64_t at = s->in_snapshot ? s->whole_epoch : s->epoch;
    int64_t reached = s->in_snapshot ? s->whole_sequence : s->sequence;
    return at == epoch ? reached >= sequence : epoch == 0 || subscriber_has_left(s, epoch);
}

bool subscriber_has_left(const struct subscriber *s, int64_t epoch)
{
    for (uint32_t i = 0; i < EPOCHS_LEFT; i++)
        if (epoch != 0 && s->left[i] == epoch)
            return true;
    return false;
}

struct moment subscriber_tick(struct subscriber *s, struct moment now, struct outbox *out)
{
    if (s->publisher.peer == 0)
        return MOMENT_NEVER; /* peer_up asks */
    if (s->again)
        ask(s, now, out);
    s->again = false;
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
