/* node_picks: what a worker says of pods that are unlike each other. The one idea: on nodes as they
 * are each pod can be looked at without knowing where those before it go; what they change is
 * looked at afterwards, and only on the few nodes to which some of them really come.
 *
 * What must stay true: no node is picked for two pods of a question, so whoever comes to a node of
 * this share comes to one of the picks; and what was put on the share is off again when a check is
 * answered. The scheduler is a peer: it may ask for anything. */
#include "scheduler/worker/node_picks.h"

#include "proto/base/memory.h"

#define PODS_MAX 64 /* of a question: as many as there are bits */

struct node_picks {
    struct arena memory;    /* of the question */
    struct map_picks asked; /* all of it; cycle 0: none */
    uint32_t next;          /* the next pod to be looked at */
    struct apart apart;     /* the nodes that were picked, in order of the picks behind number */
    uint32_t *number;       /* which pick that was */
    uint64_t *passed;       /* by pod, bit by pick: the pick's node passes, with nobody there */
    int64_t skipped, score_skipped; /* as the last pod's */
};

struct node_picks *node_picks_new(void)
{
    return memory_take(sizeof(struct node_picks));
}

void node_picks_free(struct node_picks **picks)
{
    if (*picks == NULL)
        return;
    arena_free(&(*picks)->memory);
    memory_free(*picks);
    *picks = NULL;
}

void node_picks_forget(struct node_picks *p)
{
    arena_reset(&p->memory);
    p->asked = (struct map_picks){0};
    p->apart = (struct apart){0};
}

/* ---- picking ---- */

void node_picks_begin(struct node_picks *p, const struct map_picks *asked, struct arena *memory)
{
    node_picks_forget(p);
    if (memory != NULL) {
        arena_swap(&p->memory, memory);
        p->asked = *asked;
    } else {
        codec_copy(message_info[MSG_map_picks].record, &p->asked, asked, &p->memory);
    }
    uint32_t room = asked->requests.count;
    p->apart.at = arena_take(&p->memory, room * sizeof(*p->apart.at));
    p->number = arena_take(&p->memory, room * sizeof(*p->number));
    p->passed = arena_take(&p->memory, room * sizeof(*p->passed));
    p->next = 0;
    p->skipped = p->score_skipped = 0;
}

static const struct extreme *range_in(const struct map_request *r, struct str plugin)
{
    for (uint32_t i = 0; i < r->extremes.count; i++)
        if (str_equal(r->extremes.at[i].plugin, plugin))
            return &r->extremes.at[i];
    return NULL;
}

/* Those that are others than the request's. */
static void tell_ranges(const struct map_request *request, const struct map_result *r,
                        struct node_pick *out, struct arena *a)
{
    for (uint32_t i = 0; i < r->extremes.count; i++) {
        const struct extreme *own = &r->extremes.at[i], *asked = range_in(request, own->plugin);
        if (asked != NULL && asked->least == own->least && asked->greatest == own->greatest)
            continue;
        if (out->extremes.count == 0)
            out->extremes.at = arena_take(a, r->extremes.count * sizeof(*out->extremes.at));
        out->extremes.at[out->extremes.count++] = *own;
    }
}

/* Nodes that were picked before and are as good as this one, or better. */
static void tell_rivals(struct node_picks *p, struct node_pick *out, struct arena *a)
{
    for (uint32_t i = 0; i < p->apart.count; i++) {
        const struct apart_row *row = &p->apart.at[i];
        if (row->passes)
            p->passed[p->next] |= UINT64_C(1) << p->number[i];
        if (!row->passes || (out->ties > 0 && row->total < out->total))
            continue;
        if (out->ties > 0 && row->total == out->total) {
            out->tied |= (int64_t)(UINT64_C(1) << p->number[i]);
            continue;
        }
        if (out->rivals.count == 0)
            out->rivals.at = arena_take(a, p->apart.count * sizeof(*out->rivals.at));
        out->rivals.at[out->rivals.count++] = (struct pick_rival){p->number[i], row->total};
    }
}

static bool is_told(const struct map_result *r)
{
    return r->error.len == 0 && r->score_error.len == 0 && !r->nominated_fits;
}

static void leave_to_this(struct node_picks *p, const struct shard *s, uint32_t number,
                          struct str node)
{
    p->number[p->apart.count] = number;
    p->apart.at[p->apart.count++] = (struct apart_row){.row = shard_row(s, node)};
}

bool node_picks_next(struct node_picks *p, struct shard *s, struct node_pick *out,
                     struct map_result *result, struct arena *a)
{
    if (p->next >= p->asked.requests.count || p->next == PODS_MAX)
        return false;
    const struct map_request *request = &p->asked.requests.at[p->next];
    shard_map_apart(s, request, &p->apart, result, a);
    *out = (struct node_pick){.feasible = result->feasible,
                              .fails = !is_told(result),
                              .skipped = result->skipped ^ p->skipped,
                              .score_skipped = result->score_skipped ^ p->score_skipped};
    p->skipped = result->skipped;
    p->score_skipped = result->score_skipped;
    if (out->fails || result->feasible == 0) {
        p->next++;
        return true;
    }
    tell_ranges(request, result, out, a);
    if (result->best_count > 0) {
        out->node = arena_copy(a, result->best_node);
        out->total = result->best_total;
        out->ties = result->best_count;
    }
    tell_rivals(p, out, a);
    if (out->ties > 0)
        leave_to_this(p, s, p->next, out->node);
    p->next++;
    return true;
}

/* ---- checking ---- */

/* The nodes that pods of a check were put on. */
struct taken {
    uint32_t count;
    struct str *nodes;
};

/* Raw scores of these nodes are normalised with ranges that they do not leave. */
static bool is_within(const struct map_request *request, const struct map_result *r)
{
    for (uint32_t i = 0; i < r->extremes.count; i++) {
        const struct extreme *own = &r->extremes.at[i], *asked = range_in(request, own->plugin);
        if (asked == NULL || own->least < asked->least || own->greatest > asked->greatest)
            return false;
    }
    return true;
}

static const struct listed_node *find(const struct map_result *r, struct str node)
{
    for (uint32_t i = 0; i < r->listed.count; i++)
        if (str_equal(r->listed.at[i].node, node))
            return &r->listed.at[i];
    return NULL;
}

struct look {
    struct node_picks *picks;
    struct shard *shard;
    struct map_checked *out;
    struct arena *arena;
    uint32_t room; /* of out->changed */
};

static void add(struct look *l, const struct checked_node *one)
{
    struct map_checked *out = l->out;
    if (out->changed.count == l->room) {
        struct checked_node *more = arena_take(l->arena, (l->room * 2 + 16) * sizeof(*more));
        for (uint32_t i = 0; i < out->changed.count; i++)
            more[i] = out->changed.at[i];
        out->changed.at = more;
        l->room = l->room * 2 + 16;
    }
    out->changed.at[out->changed.count++] = *one;
}

/* The node passed for the pod, with nobody there. */
static bool has_passed(const struct look *l, uint32_t pod, struct str node)
{
    const struct node_picks *p = l->picks;
    uint32_t row = shard_row(l->shard, node);
    for (uint32_t i = 0; i < p->apart.count; i++)
        if (p->apart.at[i].row == row)
            return (p->passed[pod] >> p->number[i] & 1) != 0;
    return true; /* not known */
}

/* What the nodes with pods of the check on them are to this one. */
static void look_at(struct look *l, uint32_t pod, int64_t total, const struct taken *taken)
{
    struct map_result r;
    struct map_request request = l->picks->asked.requests.at[pod];
    request.only = (struct strs){taken->count, taken->nodes};
    request.list = true;
    shard_map(l->shard, &request, &r, l->arena);
    bool told = is_told(&r) && is_within(&request, &r);
    for (uint32_t i = 0; i < taken->count; i++) {
        struct checked_node one = {.pod = pod, .node = taken->nodes[i], .fails = !told};
        const struct listed_node *found = told ? find(&r, taken->nodes[i]) : NULL;
        one.rejected = told && found == NULL && has_passed(l, pod, one.node);
        one.total = found != NULL ? found->total : 0;
        if (one.fails || one.rejected || (found != NULL && found->total >= total))
            add(l, &one);
    }
}

static void put(struct look *l, uint32_t pod, struct str node, struct taken *taken)
{
    struct pod placed = l->picks->asked.requests.at[pod].pod;
    placed.node_name = node;
    shard_pod_set(l->shard, &placed);
    if (!strs_hold((struct strs){taken->count, taken->nodes}, node))
        taken->nodes[taken->count++] = node;
}

bool node_picks_check(struct node_picks *p, struct shard *s, const struct map_check *check,
                      struct map_checked *out, struct arena *a)
{
    if (p->asked.cycle == 0 || check->cycle != p->asked.cycle || check->round != p->asked.round)
        return false;
    uint32_t count = check->pods.count < p->next ? check->pods.count : p->next;
    struct taken taken = {.nodes = arena_take(a, count * sizeof(struct str))};
    struct look l = {.picks = p, .shard = s, .out = out, .arena = a};
    for (uint32_t i = 0; i < count; i++) {
        const struct check_pod *pod = &check->pods.at[i];
        if (taken.count > 0)
            look_at(&l, i, pod->total, &taken);
        if (pod->node.len > 0)
            put(&l, i, pod->node, &taken);
    }
    for (uint32_t i = count; i > 0; i--)
        if (check->pods.at[i - 1].node.len > 0)
            shard_pod_gone(s, p->asked.requests.at[i - 1].pod.uid);
    return true;
}

/* ---- the end ---- */

void node_picks_place(struct node_picks *p, struct shard *s, const struct map_picks_end *end)
{
    if (p->asked.cycle == 0 || end->cycle != p->asked.cycle || end->round != p->asked.round)
        return;
    for (uint32_t i = 0; i < end->pods.count; i++) {
        const struct picked_place *at = &end->pods.at[i];
        if (at->pod < 0 || at->pod >= p->next)
            continue;
        struct pod placed = p->asked.requests.at[at->pod].pod;
        placed.node_name = at->node;
        shard_pod_set(s, &placed);
    }
    node_picks_forget(p);
}
