/* nominated: claims live with their pods, so adding, updating and deleting a pod does the same to
 * its claim.
 *
 * What must stay true: a decision that the API server has not shown yet outlives updates that know
 * nothing of it, else others would take the room that preemption makes. And a pod with a claim is
 * tried when its last victim has gone. Hints cannot be trusted with that: they ask whether the pod
 * that went could have been the only obstacle (of required anti-affinity, whether it is meant by
 * every term), and a preemptor has as many obstacles on its node as it has victims. So whoever goes
 * from the node wakes it, even while the attempt that made the claim is still under way. */
#include "queue/nominated.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "queue/event.h"
#include "queue/places.h"

struct nominee {
    char *node;
    struct entry *entry;
    struct nominee *next, *prev; /* on the same node, newest first */
};

struct str nominated_node(const struct entry *e)
{
    return e->nominated != NULL ? str_of(e->nominated->node) : (struct str){NULL, 0};
}

/* ---- who has a claim where ---- */

static void link_nominee(struct nominations *all, struct nominee *c)
{
    if (all->by_node == NULL)
        all->by_node = map_new();
    c->next = map_set(all->by_node, str_of(c->node), c);
    if (c->next != NULL)
        c->next->prev = c;
    all->count++;
}

static void unlink_nominee(struct nominations *all, struct nominee *c)
{
    must(all->count > 0);
    all->count--;
    if (c->next != NULL)
        c->next->prev = c->prev;
    if (c->prev != NULL)
        c->prev->next = c->next;
    else if (c->next != NULL)
        map_set(all->by_node, str_of(c->node), c->next);
    else
        map_remove(all->by_node, str_of(c->node));
}

void nominated_leave(struct nominations *all, struct entry *e)
{
    struct nominee *c = e->nominated;
    if (c == NULL)
        return;
    unlink_nominee(all, c);
    memory_free(c->node);
    memory_free(c);
    e->nominated = NULL;
}

static void set(struct nominations *all, struct entry *e, struct str node)
{
    if (str_equal(nominated_node(e), node))
        return;
    nominated_leave(all, e);
    if (node.len == 0)
        return;
    struct nominee *c = memory_take(sizeof(*c));
    c->node = str_copy(node);
    c->entry = e;
    e->nominated = c;
    link_nominee(all, c);
}

/* What the pod's status says; most say nothing. */
static struct str pod_claim(const struct entry *e)
{
    return store_str(e->kept, TAG_pod_nominated_node);
}

void nominated_decided(struct nominations *all, struct entry *e, struct str node, bool clear)
{
    if (node.len > 0)
        set(all, e, node);
    else
        set(all, e, clear ? (struct str){NULL, 0} : pod_claim(e));
}

void nominated_follow(struct nominations *all, struct entry *e, const struct pod *before)
{
    bool unknown_to_both =
        before != NULL && before->nominated_node.len == 0 && pod_claim(e).len == 0;
    if (!unknown_to_both)
        set(all, e, pod_claim(e));
}

void nominated_free(struct nominations *all)
{
    must(all->count == 0);
    if (all->by_node != NULL)
        map_free(&all->by_node);
}

/* ---- who is tried when somebody has left the node ---- */

static size_t wake_claims(struct queues *q, struct moment now, struct nominee *first,
                          const struct departure *gone)
{
    size_t woken = 0;
    for (struct nominee *c = first, *next; c != NULL; c = next) {
        struct entry *e = c->entry;
        next = c->next;
        if (e->place != PLACE_unschedulable || e->gate != GATE_none ||
            (gone->anywhere && e->priority <= gone->priority))
            continue;
        places_requeue(q, now, e, WORTH_after_backoff);
        woken++;
    }
    return woken;
}

static size_t wake_everywhere(struct queues *q, struct moment now, const struct departure *gone)
{
    size_t woken = 0, at = 0;
    void *value;
    while (map_next(q->nominations.by_node, &at, NULL, &value))
        woken += wake_claims(q, now, value, gone);
    return woken;
}

size_t nominated_departed(struct queues *q, struct moment now, const struct event *event)
{
    const struct pod *pod = event->old_pod;
    if (event->resource != EVENT_OF_assigned_pod || event->action != EVENT_DELETE ||
        pod->node_name.len == 0)
        return 0;
    struct departure gone = {.node = str_hash(pod->node_name),
                             .anywhere = str_is(pod->node_name, "?"),
                             .priority = pod->priority,
                             .position = q->in_flight.position};
    in_flight_departed(&q->in_flight, &gone);
    if (q->nominations.count == 0)
        return 0;
    q->cause = event_label(event);
    if (gone.anywhere)
        return wake_everywhere(q, now, &gone);
    return wake_claims(q, now, map_get(q->nominations.by_node, pod->node_name), &gone);
}

/* From the newest to the oldest; positions only fall. More than are remembered may have been any.
 */
bool nominated_missed(const struct queues *q, const struct entry *e, int64_t position)
{
    const struct in_flight *f = &q->in_flight;
    uint64_t node = str_hash(nominated_node(e));
    must(e->place == PLACE_in_flight);
    if (e->nominated == NULL)
        return false;
    for (uint64_t i = f->departed; i > e->flight->departed; i--) {
        if (f->departed - i >= DEPARTURES)
            return true;
        const struct departure *gone = &f->departures[(i - 1) % DEPARTURES];
        if (position > 0 && gone->position <= position)
            return false;
        if (gone->anywhere ? e->priority > gone->priority : gone->node == node)
            return true;
    }
    return false;
}
