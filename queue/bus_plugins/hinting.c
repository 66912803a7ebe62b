/* hinting: which pods an event is worth another attempt to, as their plugin says. What must stay
 * true: whoever is asked about sleeps, and is queued when the plugin says so, fails or is late; a
 * wrong yes costs one attempt, so whatever there is no room to ask is a yes; the pods are known by
 * their names and UIDs, as they may be gone when the answer comes. */
#include "queue/bus_plugins/hinting.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/metrics.h"
#include "queue/bus_plugins/wakes.h"
#include "queue/hints.h"
#include "queue/queues.h"

#define PODS_MOST   256 /* in a question */
#define ROUNDS_MOST 256 /* questions that are open */

struct asked_pod {
    char *key, *uid;
};

/* One question. */
struct hint_round {
    struct plugin_question question;
    struct hint_round *next, *prev;
    uint64_t bit;      /* the plugin's */
    uint64_t event;    /* its number */
    const char *label; /* lives for ever */
    struct plugin_hint about;
    struct arena memory; /* of about */
    uint32_t count;
    struct asked_pod pods[PODS_MOST];
};

struct hinting {
    struct queues *queues;
    struct asking *asking;
    struct hint_round *first;
    uint32_t open;
    uint64_t event;
};

struct hinting *hinting_new(struct queues *queues, struct asking *asking)
{
    struct hinting *h = memory_take(sizeof(*h));
    h->queues = queues;
    h->asking = asking;
    return h;
}

static void round_free(struct hinting *h, struct hint_round *r)
{
    asking_drop(h->asking, &r->question);
    for (uint32_t i = 0; i < r->count; i++) {
        memory_free(r->pods[i].key);
        memory_free(r->pods[i].uid);
    }
    if (r->next != NULL)
        r->next->prev = r->prev;
    if (r->prev != NULL)
        r->prev->next = r->next;
    else
        h->first = r->next;
    h->open--;
    arena_free(&r->memory);
    memory_free(r);
}

void hinting_forget(struct hinting *h)
{
    while (h->first != NULL)
        round_free(h, h->first);
}

void hinting_free(struct hinting **hinting)
{
    hinting_forget(*hinting);
    memory_free(*hinting);
    *hinting = NULL;
}

void hinting_begin(struct hinting *h)
{
    h->event++;
}

/* ---- what is asked ---- */

static void name_object(struct plugin_hint *about, const struct event *event, struct arena *a)
{
    const struct pod *pod = event->new_pod != NULL ? event->new_pod : event->old_pod;
    const struct node *node = event->new_node != NULL ? event->new_node : event->old_node;
    if (pod != NULL) {
        about->namespace_name = arena_copy(a, pod->namespace_name);
        about->name = arena_copy(a, pod->name);
    } else if (node != NULL) {
        about->name = arena_copy(a, node->name);
    }
}

/* Also claims have a namespace; of others the name tells. */
static void name_record(struct plugin_hint *about, const struct event *event, struct arena *a)
{
    const void *record = event->new_object != NULL ? event->new_object : event->old_object;
    const struct claim *claim = record;
    const struct resource_claim *devices = record;
    if (record == NULL)
        return;
    if (event->resource == EVENT_OF_claim) {
        about->namespace_name = arena_copy(a, claim->namespace_name);
        about->name = arena_copy(a, claim->name);
    } else if (event->resource == EVENT_OF_resource_claim) {
        about->namespace_name = arena_copy(a, devices->namespace_name);
        about->name = arena_copy(a, devices->name);
    }
}

static void describe_node(struct plugin_hint *about, const struct node *node, struct arena *a)
{
    struct node *kept = arena_take(a, sizeof(*kept));
    codec_copy(&node_record, kept, node, a);
    about->nodes.at = arena_take(a, sizeof(*about->nodes.at));
    about->nodes.count = 1;
    about->nodes.at[0] =
        (struct plugin_node){.name = kept->name,
                             .labels = {kept->labels.count, kept->labels.at},
                             .taints = {kept->taints.count, kept->taints.at},
                             .unschedulable = kept->unschedulable,
                             .allocatable = {kept->allocatable.count, kept->allocatable.at}};
}

static const struct bus_plugin *plugin_of(const struct queues *q, const struct entry *e,
                                          uint64_t bit)
{
    const char *name = plugins_behind(&q->named, (size_t)__builtin_ctzll(bit));
    const struct profile *p = e->around->profile;
    for (uint32_t i = 0; name != NULL && p != NULL && i < p->bus_plugins.count; i++)
        if (str_is(p->bus_plugins.at[i].name, name))
            return &p->bus_plugins.at[i];
    return NULL;
}

static struct hint_round *round_of(const struct hinting *h, const struct bus_plugin *plugin)
{
    for (struct hint_round *r = h->first; r != NULL && r->event == h->event; r = r->next)
        if (r->question.plugin == plugin && r->question.id == 0 && r->count < PODS_MOST)
            return r;
    return NULL;
}

static struct hint_round *begin(struct hinting *h, const struct event *event,
                                const struct bus_plugin *plugin, uint64_t bit)
{
    if (h->open == ROUNDS_MOST)
        return NULL;
    struct hint_round *r = memory_take(sizeof(*r));
    r->question = (struct plugin_question){.plugin = plugin, .owner = r};
    r->bit = bit;
    r->event = h->event;
    r->label = event_label(event);
    name_object(&r->about, event, &r->memory);
    name_record(&r->about, event, &r->memory);
    if (event->new_node != NULL)
        describe_node(&r->about, event->new_node, &r->memory);
    r->next = h->first;
    if (r->next != NULL)
        r->next->prev = r;
    h->first = r;
    h->open++;
    if (asking_add(h->asking, &r->question))
        return r;
    round_free(h, r);
    return NULL;
}

static bool ask(struct hinting *h, struct entry *e, const struct event *event, uint64_t bit)
{
    char uid[UUID_TEXT];
    const struct bus_plugin *plugin = plugin_of(h->queues, e, bit);
    struct hint_round *r = plugin != NULL ? round_of(h, plugin) : NULL;
    if (r == NULL && plugin != NULL)
        r = begin(h, event, plugin, bit);
    if (r == NULL)
        return false;
    struct asked_pod *p = &r->pods[r->count++];
    struct buffer key = {0};
    buffer_print(&key, "%.*s/%.*s", STR_ARG(store_str(e->kept, TAG_pod_namespace_name)),
                 STR_ARG(store_str(e->kept, TAG_pod_name)));
    p->key = str_copy(buffer_str(&key));
    p->uid = str_copy(store_uuid(e->kept, TAG_pod_uid, uid));
    buffer_free(&key);
    return true;
}

bool hinting_add(struct hinting *h, struct entry *e, const struct event *event, uint64_t plugins)
{
    for (; plugins != 0; plugins &= plugins - 1)
        if (!ask(h, e, event, plugins & -plugins))
            return false;
    return true;
}

/* ---- whom it was about ---- */

/* NULL: it is gone, or waits for something else by now. */
static struct entry *still_waits(const struct hinting *h, const struct hint_round *r, uint32_t i)
{
    struct entry *e = queues_get(h->queues, str_of(r->pods[i].key));
    bool waits = e != NULL && entry_has_uid(e, str_of(r->pods[i].uid)) &&
                 e->place == PLACE_unschedulable &&
                 ((e->rejectors | e->pending_plugins) & r->bit) != 0;
    return waits ? e : NULL;
}

bool hinting_fill(struct hinting *h, const struct plugin_question *q, struct message *m,
                  struct arena *a)
{
    const struct hint_round *r = q->owner;
    m->type = MSG_plugin_hint;
    m->plugin_hint = r->about;
    m->plugin_hint.event = str_of(r->label);
    m->plugin_hint.pods.at = arena_take(a, r->count * sizeof(*m->plugin_hint.pods.at));
    for (uint32_t i = 0; i < r->count; i++) {
        const struct entry *e = still_waits(h, r, i);
        if (e != NULL)
            store_get(h->queues->store, e->kept,
                      &m->plugin_hint.pods.at[m->plugin_hint.pods.count++], a);
    }
    return true;
}

static void measure(const struct hint_round *r, bool any, struct span took)
{
    const struct str *values =
        METRIC_VALUES(str_of(r->label), any ? STR_LITERAL("Queue") : STR_LITERAL("QueueSkip"),
                      r->question.plugin->name);
    series_observe(metric_series(METRIC_scheduler_queueing_hint_execution_duration_seconds, values),
                   took.ns);
}

/* The pod may have rejectors that it waits for at once, as with any event. */
static void queue(struct hinting *h, struct moment now, struct hint_round *r, struct entry *e)
{
    struct queues *q = h->queues;
    q->cause = r->label;
    q->counts.woken++;
    places_requeue(q, now, e,
                   (e->pending_plugins & r->bit) != 0 ? WORTH_immediately : WORTH_after_backoff);
}

void hinting_ended(struct hinting *h, struct moment now, struct plugin_question *q,
                   const struct plugin_end *how)
{
    struct hint_round *r = q->owner;
    bool any = false;
    for (uint32_t i = 0; i < r->count; i++) {
        struct entry *e = still_waits(h, r, i);
        bool worth = how->answer == NULL ||
                     strs_hold(how->answer->plugin_hinted.queue, str_of(r->pods[i].uid));
        if (e != NULL && worth)
            queue(h, now, r, e);
        any = any || worth;
    }
    measure(r, any, how->took);
    round_free(h, r);
}
