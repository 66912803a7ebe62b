/* gang_room: adds up what nodes offer and pods take, so that minResources costs one look and not a
 * walk over all nodes. What must stay true: a pod counts exactly while its node is known; when that
 * cannot be kept up by adding and taking away, everything is counted anew, at the next question. */
#include "queue/gang_room.h"

#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "queue/group.h"
#include "queue/hints.h"
#include "queue/mirror.h"
#include "queue/places.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- sums ---- */

void sums_add_one(struct sums *s, struct str name, i128 amount)
{
    uint32_t i = 0;
    while (i < s->count && !str_equal(str_of(s->at[i].name), name))
        i++;
    if (i == s->count) {
        s->at = memory_resize(s->at, (s->count + 1) * sizeof(*s->at));
        s->at[s->count++] = (struct sum){.name = str_copy(name)};
    }
    s->at[i].amount += amount;
}

void sums_add(struct sums *s, const struct quantity *list, uint32_t count, int sign)
{
    for (uint32_t i = 0; i < count; i++)
        sums_add_one(s, list[i].name, (i128)list[i].amount * sign);
}

i128 sums_of(const struct sums *s, struct str name)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (str_equal(str_of(s->at[i].name), name))
            return s->at[i].amount;
    return 0;
}

void sums_free(struct sums *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        memory_free(s->at[i].name);
    memory_free(s->at);
    *s = (struct sums){0};
}

/* ---- what is left ---- */

static void count_pod(struct room *r, const struct pod *pod, int sign)
{
    sums_add(&r->left, pod->usage.at, pod->usage.count, -sign);
    sums_add_one(&r->left, STR_LITERAL("pods"), -sign);
}

static void count_node(struct room *r, const struct node *node, int sign)
{
    sums_add(&r->left, node->allocatable.at, node->allocatable.count, sign);
}

void room_pod(struct queues *q, const struct pod *before, const struct pod *after)
{
    struct room *r = &q->gangs.room;
    if (r->stale)
        return;
    if (before != NULL && mirror_has_node(r->mirror, before->node_name))
        count_pod(r, before, -1);
    else if (before != NULL)
        r->strays--;
    if (after != NULL && mirror_has_node(r->mirror, after->node_name))
        count_pod(r, after, 1);
    else if (after != NULL)
        r->strays++;
}

void room_node(struct queues *q, const struct node *before, const struct node *after)
{
    struct room *r = &q->gangs.room;
    if (after == NULL || (before == NULL && r->strays > 0))
        r->stale = true; /* whose pods they were is not filed */
    if (r->stale)
        return;
    if (before != NULL)
        count_node(r, before, -1);
    count_node(r, after, 1);
}

static void count_anew(struct room *r)
{
    struct arena memory = {0};
    struct node node;
    struct pod pod;
    size_t at = 0;
    sums_free(&r->left);
    r->strays = 0;
    while (mirror_next(r->mirror, EVENT_OF_node, &at, &node, &memory)) {
        count_node(r, &node, 1);
        arena_reset(&memory);
    }
    for (at = 0; mirror_next(r->mirror, EVENT_OF_assigned_pod, &at, &pod, &memory);) {
        if (mirror_has_node(r->mirror, pod.node_name))
            count_pod(r, &pod, 1);
        else
            r->strays++;
        arena_reset(&memory);
    }
    arena_free(&memory);
    r->stale = false;
}

/* ---- the question ---- */

static int by_name(const void *a, const void *b)
{
    return str_compare(((const struct quantity *)a)->name, ((const struct quantity *)b)->name);
}

static void ask(const struct room *r, const struct group *g, struct quantity want,
                struct room_gap *gap)
{
    bool pods = str_is(want.name, "pods");
    i128 own = pods ? (i128)g->assigned : sums_of(&g->usage, want.name);
    i128 lacking = want.amount - sums_of(&r->left, want.name) - own;
    want.amount = lacking < INT64_MAX ? (int64_t)lacking : INT64_MAX;
    if (lacking > 0)
        gap->at[gap->count++] = want;
}

struct room_gap room_gap(struct queues *q, const struct group *g, struct arena *a)
{
    struct room *r = &q->gangs.room;
    const struct gang *wanted = &g->record;
    struct room_gap gap = {
        .at = arena_take(a, (wanted->min_resources.count + 1) * sizeof(struct quantity))};
    if (!r->kept) {
        r->kept = r->stale = true;
        r->mirror = g->around->mirror;
    }
    if (r->stale)
        count_anew(r);
    gap.whole = mirror_nodes(r->mirror) == 0;
    for (uint32_t i = 0; i < wanted->min_resources.count; i++)
        if (!str_is(wanted->min_resources.at[i].name, "pods"))
            ask(r, g, wanted->min_resources.at[i], &gap);
    ask(r, g, (struct quantity){STR_LITERAL("pods"), wanted->min_member}, &gap);
    qsort(gap.at, gap.count, sizeof(*gap.at), by_name);
    return gap;
}

/* How a person mostly writes such an amount; what they wrote is not remembered. */
static bool is_binary(struct str name)
{
    return str_is(name, "memory") || str_is(name, "ephemeral-storage") ||
           str_starts_with(name, "hugepages-");
}

void room_print_gap(const struct room_gap *gap, struct buffer *text)
{
    buffer_add_text(text, "resource gap: map[");
    for (uint32_t i = 0; i < gap->count; i++) {
        struct quantity q = gap->at[i];
        bool milli = str_is(q.name, "cpu");
        if (milli && gap->whole && q.amount % 1000 == 0) {
            q.amount /= 1000;
            milli = false;
        }
        buffer_print(text, "%s%.*s:{{%" PRId64 " %s} {<nil>}  %s}", i > 0 ? " " : "",
                     STR_ARG(q.name), q.amount, milli ? "-3" : "0",
                     is_binary(q.name) ? "BinarySI" : "DecimalSI");
    }
    buffer_add_text(text, "]");
}
