/* picture: nodes and pods by their keys. A pod that is on a node counts there from the message that
 * says so until the one that says that it is gone; nothing is counted twice, since what a pod took
 * is kept with it.
 *
 * What must stay true: a message is applied only as the very next of the stream or of its snapshot,
 * so that sums are those of the cluster; amounts are those of NodeResourcesFit; and what is told at
 * once is bounded, except for the whole. */
#include "ctl/follow/picture.h"

#include "proto/base/memory.h"
#include "proto/base/table.h"
#include "proto/kube/objects/requests.h"

#include <string.h>

struct amount {
    struct str name; /* kept */
    int64_t used, room;
    bool offered; /* the node has it allocatable */
};

struct seen_node {
    struct str name, zone; /* kept */
    struct amount *amounts;
    uint32_t amount_count;
    int64_t pods, taints;
    bool there; /* false: only pods speak of it */
    bool ready, unschedulable;
    bool changed; /* since the last telling */
};

struct taken {
    struct str name; /* kept */
    int64_t amount;
};

struct seen_pod {
    struct str uid, space, name, message; /* kept; message: of one that waits */
    struct seen_node *node;               /* NULL: it waits */
    struct taken *takes;
    uint32_t take_count;
};

struct event {
    struct str space, name, node, message; /* kept */
    int64_t at_us;
};

#define PENDING_PLACES 16 /* at least as many as pending_place has words */

struct picture {
    struct features features, wanted;
    bool has_features, wants_features;
    struct table nodes, pods;
    int64_t epoch, sequence, part;
    bool torn, whole;                       /* whole: all of it is to be told */
    bool changed;                           /* some node */
    struct str gone[PICTURE_DECISIONS_MAX]; /* kept: nodes that have gone */
    uint32_t gone_count;
    struct event events[PICTURE_DECISIONS_MAX];
    uint32_t event_count;
    int64_t more; /* decisions for which there was no room */
    bool keeps_last;
};

static void keep(struct str *at, struct str value)
{
    if (str_equal(*at, value))
        return;
    str_drop(at);
    *at = value.len > 0 ? str_keep(value) : (struct str){0};
}

/* ---- finding ---- */

static bool is_node(const void *thing, const void *key)
{
    return str_equal(((const struct seen_node *)thing)->name, *(const struct str *)key);
}

static bool is_pod(const void *thing, const void *key)
{
    return str_equal(((const struct seen_pod *)thing)->uid, *(const struct str *)key);
}

static uint32_t hash_of(struct str key)
{
    return table_hash(str_hash(key));
}

static struct seen_node *node_of(struct picture *p, struct str name)
{
    struct seen_node *n = table_get(&p->nodes, hash_of(name), is_node, &name);
    if (n == NULL) {
        n = memory_take(sizeof(*n));
        keep(&n->name, name);
        table_add(&p->nodes, hash_of(name), n);
    }
    return n;
}

static struct seen_pod *pod_of(const struct picture *p, struct str uid)
{
    return table_get(&p->pods, hash_of(uid), is_pod, &uid);
}

static struct amount *amount_of(struct seen_node *n, struct str name)
{
    for (uint32_t i = 0; i < n->amount_count; i++)
        if (str_equal(n->amounts[i].name, name))
            return &n->amounts[i];
    n->amounts = memory_resize(n->amounts, (n->amount_count + 1) * sizeof(*n->amounts));
    n->amounts[n->amount_count] = (struct amount){.name = str_keep(name)};
    return &n->amounts[n->amount_count++];
}

/* ---- forgetting ---- */

static void free_node(struct picture *p, struct seen_node *n)
{
    table_remove(&p->nodes, hash_of(n->name), n);
    for (uint32_t i = 0; i < n->amount_count; i++)
        str_drop(&n->amounts[i].name);
    memory_free(n->amounts);
    str_drop(&n->name);
    str_drop(&n->zone);
    memory_free(n);
}

static void free_takes(struct seen_pod *pod)
{
    for (uint32_t i = 0; i < pod->take_count; i++)
        str_drop(&pod->takes[i].name);
    memory_free(pod->takes);
    pod->takes = NULL;
    pod->take_count = 0;
}

/* Gives back what it took from its node. */
static void lift(struct picture *p, struct seen_pod *pod)
{
    struct seen_node *n = pod->node;
    if (n == NULL)
        return;
    for (uint32_t i = 0; i < pod->take_count; i++)
        amount_of(n, pod->takes[i].name)->used -= pod->takes[i].amount;
    n->pods--;
    n->changed = p->changed = true;
    pod->node = NULL;
    free_takes(pod);
    if (!n->there && n->pods == 0)
        free_node(p, n);
}

static void free_pod(struct picture *p, struct seen_pod *pod)
{
    table_remove(&p->pods, hash_of(pod->uid), pod);
    free_takes(pod);
    str_drop(&pod->uid);
    str_drop(&pod->space);
    str_drop(&pod->name);
    str_drop(&pod->message);
    memory_free(pod);
}

static void drop_event(struct event *e)
{
    str_drop(&e->space);
    str_drop(&e->name);
    str_drop(&e->node);
    str_drop(&e->message);
}

static void clear_events(struct picture *p)
{
    for (uint32_t i = 0; i < p->event_count; i++)
        drop_event(&p->events[i]);
    for (uint32_t i = 0; i < p->gone_count; i++)
        str_drop(&p->gone[i]);
    p->event_count = p->gone_count = 0;
    p->more = 0;
}

static void clear(struct picture *p)
{
    void *thing;
    for (size_t at = 0; (thing = table_next(&p->pods, &at)) != NULL;)
        free_pod(p, thing);
    for (size_t at = 0; (thing = table_next(&p->nodes, &at)) != NULL;)
        free_node(p, thing);
}

struct picture *picture_new(void)
{
    return memory_take(sizeof(struct picture));
}

void picture_free(struct picture **picture)
{
    struct picture *p = *picture;
    if (p == NULL)
        return;
    clear(p);
    clear_events(p);
    table_free(&p->nodes);
    table_free(&p->pods);
    memory_free(p);
    *picture = NULL;
}

void picture_keep_last(struct picture *p)
{
    p->keeps_last = true;
}

void picture_count_with(struct picture *p, const struct features *features)
{
    p->wanted = *features;
    p->wants_features = true;
}

/* ---- objects ---- */

static bool is_ready(const struct node *node)
{
    for (uint32_t i = 0; i < node->conditions.count; i++)
        if (str_is(node->conditions.at[i].key, "Ready"))
            return str_is(node->conditions.at[i].value, "True");
    return true; /* nobody says otherwise */
}

static void take_node(struct picture *p, const struct node *node)
{
    struct seen_node *n = node_of(p, node->name);
    struct str zone = {0};
    for (uint32_t i = 0; i < node->labels.count; i++)
        if (str_is(node->labels.at[i].key, "topology.kubernetes.io/zone"))
            zone = node->labels.at[i].value;
    keep(&n->zone, zone);
    n->ready = is_ready(node);
    n->unschedulable = node->unschedulable;
    n->taints = node->taints.count;
    for (uint32_t i = 0; i < n->amount_count; i++)
        n->amounts[i].offered = false;
    for (uint32_t i = 0; i < node->allocatable.count; i++) {
        struct amount *a = amount_of(n, node->allocatable.at[i].name);
        a->room = node->allocatable.at[i].amount;
        a->offered = true;
    }
    n->there = n->changed = p->changed = true;
}

/* Many more than there is room for: all is told instead. */
static void tell_gone(struct picture *p, struct str name)
{
    if (p->gone_count == PICTURE_DECISIONS_MAX)
        p->whole = true;
    else
        p->gone[p->gone_count++] = str_keep(name);
}

static void lose_node(struct picture *p, struct str name)
{
    struct seen_node *n = table_get(&p->nodes, hash_of(name), is_node, &name);
    if (n == NULL)
        return;
    tell_gone(p, name);
    n->there = false;
    if (n->pods == 0)
        free_node(p, n);
}

static void drop_first_event(struct picture *p)
{
    drop_event(&p->events[0]);
    memmove(p->events, p->events + 1, --p->event_count * sizeof(*p->events));
    p->more++;
}

static void put_event(struct picture *p, const struct pod *pod, struct str message, int64_t at_us)
{
    if (p->event_count == PICTURE_DECISIONS_MAX && !p->keeps_last) {
        p->more++;
        return;
    }
    if (p->event_count == PICTURE_DECISIONS_MAX)
        drop_first_event(p);
    struct event *e = &p->events[p->event_count++];
    *e = (struct event){.at_us = at_us};
    keep(&e->space, pod->namespace_name);
    keep(&e->name, pod->name);
    keep(&e->node, pod->node_name);
    keep(&e->message, message);
}

static void place(struct picture *p, struct seen_pod *seen, const struct pod *pod)
{
    struct seen_node *n = node_of(p, pod->node_name);
    seen->node = n;
    seen->takes = memory_take_array(pod->usage.count + 1u, sizeof(*seen->takes));
    for (uint32_t i = 0; i < pod->usage.count; i++) {
        seen->takes[seen->take_count++] = (struct taken){.name = str_keep(pod->usage.at[i].name),
                                                         .amount = pod->usage.at[i].amount};
        amount_of(n, pod->usage.at[i].name)->used += pod->usage.at[i].amount;
    }
    n->pods++;
    n->changed = p->changed = true;
}

static void take_pod(struct picture *p, const struct pod *as_sent, int64_t at_us)
{
    const struct pod pod = p->has_features ? requests_as_of(as_sent, &p->features) : *as_sent;
    struct seen_pod *seen = pod_of(p, pod.uid);
    struct str why = pod.node_name.len == 0 && str_is(pod.scheduled.status, "False")
                         ? pod.scheduled.message
                         : (struct str){0};
    bool waited = seen == NULL || seen->node == NULL;
    if (seen == NULL) {
        seen = memory_take(sizeof(*seen));
        keep(&seen->uid, pod.uid);
        table_add(&p->pods, hash_of(pod.uid), seen);
    }
    if (!p->torn && pod.node_name.len > 0 && waited)
        put_event(p, &pod, (struct str){0}, at_us);
    else if (!p->torn && why.len > 0 && !str_equal(why, seen->message))
        put_event(p, &pod, why, at_us);
    keep(&seen->space, pod.namespace_name);
    keep(&seen->name, pod.name);
    keep(&seen->message, why);
    lift(p, seen);
    if (pod.node_name.len > 0)
        place(p, seen, &pod);
}

static void lose_pod(struct picture *p, struct str uid)
{
    struct seen_pod *seen = pod_of(p, uid);
    if (seen == NULL)
        return;
    lift(p, seen);
    free_pod(p, seen);
}

/* ---- the stream ---- */

static bool follows(struct picture *p, const struct delivery *in)
{
    if (in->message->type == MSG_snapshot_begin) {
        p->torn = true;
        p->epoch = in->epoch;
        p->sequence = in->sequence;
        p->part = 1;
        return true;
    }
    if (in->epoch != p->epoch)
        return false;
    if (p->torn)
        return in->sequence == p->sequence && in->part == ++p->part;
    if (in->part != 0 || in->sequence != p->sequence + 1)
        return false;
    p->sequence = in->sequence;
    return true;
}

/* Said twice, because it was asked for twice. */
static bool is_old(const struct picture *p, const struct delivery *in)
{
    return !p->torn && p->epoch != 0 && in->epoch == p->epoch && in->sequence <= p->sequence;
}

static void begin(struct picture *p)
{
    clear(p);
    clear_events(p);
    if (p->wants_features) {
        p->features = p->wanted;
        p->has_features = true;
    }
}

enum picture_step picture_take(struct picture *p, const struct delivery *in)
{
    const struct message *m = in->message;
    if (in->epoch == 0 || (is_old(p, in) && m->type != MSG_snapshot_begin))
        return PICTURE_ignored;
    if (!follows(p, in)) {
        picture_forget_position(p);
        return PICTURE_gap;
    }
    switch (m->type) {
    case MSG_snapshot_begin: begin(p); break;
    case MSG_snapshot_end:
        p->torn = false;
        p->whole = true;
        break;
    case MSG_node_set: take_node(p, &m->node_set.node); break;
    case MSG_node_gone: lose_node(p, m->node_gone.name); break;
    case MSG_pod_set: take_pod(p, &m->pod_set.pod, in->sent_us); break;
    case MSG_pod_gone: lose_pod(p, m->pod_gone.uid); break;
    default: return PICTURE_ignored;
    }
    return PICTURE_applied;
}

void picture_position(const struct picture *p, int64_t *epoch, int64_t *sequence)
{
    *epoch = p->torn ? 0 : p->epoch;
    *sequence = p->torn ? 0 : p->sequence;
}

bool picture_is_torn(const struct picture *p)
{
    return p->torn;
}

void picture_forget_position(struct picture *p)
{
    p->epoch = p->sequence = 0;
    p->torn = false;
}

struct str picture_message(const struct picture *p, struct str uid)
{
    const struct seen_pod *seen = pod_of(p, uid);
    return seen != NULL ? seen->message : (struct str){0};
}

/* ---- telling ---- */

bool picture_has_news(const struct picture *p)
{
    return p->epoch != 0 && !p->torn &&
           (p->whole || p->changed || p->gone_count > 0 || p->event_count > 0);
}

static void tell_node(const struct seen_node *n, struct json_out *j)
{
    json_open(j, NULL, '{');
    json_str(j, "name", n->name);
    json_str_if(j, "zone", n->zone);
    json_bool(j, "ready", n->ready);
    json_bool(j, "unschedulable", n->unschedulable);
    json_i64(j, "taints", n->taints);
    json_i64(j, "pods", n->pods);
    json_open(j, "resources", '{');
    for (uint32_t i = 0; i < n->amount_count; i++) {
        const struct amount *a = &n->amounts[i];
        if (!a->offered)
            continue;
        char *name = str_copy(a->name);
        json_open(j, name, '{');
        json_i64(j, "used", str_is(a->name, "pods") ? n->pods : a->used);
        json_i64(j, "allocatable", a->room);
        json_close(j, '}');
        memory_free(name);
    }
    json_close(j, '}');
    json_close(j, '}');
}

static void tell_nodes(struct picture *p, bool whole, struct json_out *j)
{
    struct seen_node *n;
    json_open(j, "nodes", '[');
    for (size_t at = 0; (n = table_next(&p->nodes, &at)) != NULL;) {
        if (n->there && (whole || n->changed))
            tell_node(n, j);
        n->changed = false;
    }
    json_close(j, ']');
}

static void tell_events(struct picture *p, struct json_out *j)
{
    json_open(j, "decisions", '[');
    for (uint32_t i = 0; i < p->event_count; i++) {
        const struct event *e = &p->events[i];
        json_open(j, NULL, '{');
        json_i64(j, "at", e->at_us / 1000);
        json_str(j, "namespace", e->space);
        json_str(j, "name", e->name);
        json_str_if(j, "node", e->node);
        json_str_if(j, "message", e->message);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_i64(j, "more", p->more);
}

static void tell_places(const struct pending_pods *pods, struct json_out *j)
{
    int64_t counts[PENDING_PLACES] = {0};
    for (uint32_t i = 0; i < pods->pods.count; i++)
        counts[pods->pods.at[i].place % PENDING_PLACES]++;
    json_open(j, "places", '{');
    for (uint32_t place = 0; place < PENDING_PLACES; place++)
        if (counts[place] > 0)
            json_i64(j, words_text(&pending_place_words, place).at, counts[place]);
    json_close(j, '}');
}

void picture_tell_pending(const struct picture *p, const struct pending_pods *pods, uint32_t most,
                          struct buffer *out)
{
    struct json_out j = {.out = out};
    json_open(&j, NULL, '{');
    json_str(&j, "kind", STR_LITERAL("queue"));
    json_i64(&j, "total", pods->total);
    if (pods->total == pods->pods.count) /* all were told of */
        tell_places(pods, &j);
    json_open(&j, "pods", '[');
    for (uint32_t i = 0; i < pods->pods.count && i < most; i++) {
        const struct pending_pod *pod = &pods->pods.at[i];
        json_open(&j, NULL, '{');
        json_str(&j, "namespace", pod->namespace_name);
        json_str(&j, "name", pod->name);
        json_str(&j, "place", words_text(&pending_place_words, pod->place));
        json_i64(&j, "priority", pod->priority);
        json_i64(&j, "attempts", pod->attempts);
        json_i64(&j, "waitingMs", pod->waiting_ms);
        json_str_if(&j, "nominatedNode", pod->nominated_node);
        json_strs_if(&j, "rejectedBy", pod->rejected_by);
        json_str_if(&j, "message", picture_message(p, pod->uid));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    buffer_add_text(out, "\n");
}

void picture_tell(struct picture *p, bool whole, int64_t release, struct buffer *out)
{
    struct json_out j = {.out = out};
    json_open(&j, NULL, '{');
    json_str(&j, "kind",
             p->whole ? STR_LITERAL("whole")
             : whole  ? STR_LITERAL("again")
                      : STR_LITERAL("changes"));
    whole |= p->whole;
    if (whole && release != 0)
        json_i64(&j, "release", release);
    tell_nodes(p, whole, &j);
    if (!whole) {
        struct strs gone = {p->gone_count, p->gone};
        json_strs_if(&j, "gone", gone);
    }
    tell_events(p, &j);
    json_close(&j, '}');
    buffer_add_text(out, "\n");
    clear_events(p);
    p->whole = p->changed = false;
}
