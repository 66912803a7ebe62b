/* tree_try: the one idea: upstream's recursion with its stack written out, as deciding a pod takes
 * several messages. A frame is a group that is being tried; on top is the one whose turn it is.
 *
 *   open ──► try a domain ──► children, one after the other ──► tried ──► the next domain
 *   (domains)   └── a leaf's pods are decided ──────────────────►│   ──► the best again ──► done
 *
 * What must stay true: after a group has failed none of its pods is placed; after it has ended
 * well, those are that its result says; results of a group and of all below it are of one try. */
#include "scheduler/merge/tree_try.h"

#include "proto/base/must.h"

#include <string.h>

enum tree_step { STEP_open, STEP_try, STEP_pods, STEP_children, STEP_tried, STEP_again };

/* What came of a domain. */
struct tree_saved {
    bool fits;
    struct tree_result *results; /* of the group and those below it */
    struct tree_member *members;
};

struct tree_frame {
    uint32_t branch;
    enum tree_step step;
    const struct strs *within; /* where the groups above it are; NULL: anywhere */
    struct gang_placements places;
    uint32_t tries, tried; /* domains, at least one; the one that is tried */
    struct tree_saved *saved;
    uint32_t child; /* number of the child that is tried */
    int64_t scheduled, remaining;
    uint32_t placed_before; /* members, when the leaf's pods were lined up */
    struct moment began;
};

/* ---- what is asked of it ---- */

static struct tree_frame *top_of(const struct tree_try *t)
{
    return t->depth > 0 ? &t->frames[t->depth - 1] : NULL;
}

static const struct tree_branch *branch_of(const struct tree_try *t, const struct tree_frame *f)
{
    return &t->tree.at[f->branch];
}

static const struct strs *nodes_of(const struct tree_frame *f)
{
    return f->places.count > 0 ? &f->places.at[f->tried].nodes : f->within;
}

const struct strs *tree_try_nodes(const struct tree_try *t)
{
    const struct tree_frame *f = top_of(t);
    return f != NULL ? nodes_of(f) : NULL;
}

bool tree_try_is_enough(const struct tree_try *t)
{
    return t->results != NULL && t->depth == 0 && t->results[0].status.code == TREE_success;
}

static bool is_error(const struct tree_pod *pod)
{
    return pod->there && pod->why != NULL && pod->why->kind == DECISION_error;
}

static bool has_error(const struct tree_try *t, const struct tree_branch *leaf)
{
    for (uint32_t i = leaf->first; i < leaf->first + leaf->count; i++) {
        const struct tree_pod pod = t->hands->look(t->context, i);
        if (is_error(&pod))
            return true;
    }
    return false;
}

bool tree_try_rests(const struct tree_try *t)
{
    const struct tree_frame *f = top_of(t);
    const struct tree_counts now = t->hands->count(t->context);
    if (now.waiting == 0 || f == NULL)
        return true;
    if (f->step != STEP_pods)
        return false;
    const struct tree_branch *leaf = branch_of(t, f);
    int64_t min = leaf->group.min_member > 0 ? leaf->group.min_member : 1;
    return f->scheduled + ((int64_t)now.placed - f->placed_before) + now.waiting < min ||
           has_error(t, leaf);
}

/* ---- its beginning ---- */

struct tree_try *tree_try_new(const struct gang_attempt *attempt, struct arena *a)
{
    struct group_tree tree = group_tree_read(attempt, a);
    if (tree.count == 0)
        return NULL;
    struct tree_try *t = arena_take(a, sizeof(*t));
    *t = (struct tree_try){.tree = tree, .arena = a};
    return t;
}

static void push(struct tree_try *t, uint32_t branch, const struct strs *within)
{
    must(t->depth < t->tree.count);
    t->frames[t->depth++] =
        (struct tree_frame){.branch = branch, .within = within, .began = t->now};
}

/* Nothing is known of the group's pods and of the groups below it. */
static void forget_below(struct tree_try *t, uint32_t branch)
{
    const struct tree_branch *b = &t->tree.at[branch];
    for (uint32_t i = 1; i < b->size; i++)
        t->results[branch + i] = (struct tree_result){.seen = 0};
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        t->members[i] = (struct tree_member){.why = NULL};
}

void tree_try_begin(struct tree_try *t)
{
    t->frames = arena_take(t->arena, t->tree.count * sizeof(*t->frames));
    t->results = arena_take(t->arena, t->tree.count * sizeof(*t->results));
    t->members = arena_take(t->arena, t->count * sizeof(*t->members));
    t->said = NULL;
    tree_try_again(t);
}

void tree_try_again(struct tree_try *t)
{
    for (uint32_t i = 0; i < t->count; i++) /* who names no leaf of the tree, too */
        t->members[i] = (struct tree_member){.why = NULL};
    forget_below(t, 0);
    t->results[0] = (struct tree_result){.seen = 0};
    t->lost = false;
    t->depth = 0;
    push(t, 0, NULL);
}

/* ---- pods ---- */

/* The texts of another decision are gone by then; the record's are not. */
static struct tree_member note(struct tree_try *t, const struct tree_pod *pod)
{
    if (pod->why == NULL)
        return (struct tree_member){.node = pod->placed ? pod->node : (struct str){NULL, 0}};
    struct decision *why = arena_take(t->arena, sizeof(*why));
    *why = *pod->why;
    return (struct tree_member){.why = why};
}

static int64_t count_pods(const struct tree_try *t, const struct tree_branch *leaf)
{
    int64_t count = 0;
    for (uint32_t i = leaf->first; i < leaf->first + leaf->count; i++)
        count += t->hands->look(t->context, i).there;
    return count;
}

/* Upstream's walk over the leaf's pods: it ends where the rest cannot make up for those that found
 * no place, though more may have been decided here. */
static struct tree_result walk(struct tree_try *t, const struct tree_frame *f)
{
    const struct tree_branch *leaf = branch_of(t, f);
    int64_t remaining = count_pods(t, leaf), scheduled = f->scheduled;
    struct tree_result r = {.status = group_tree_feasible(leaf, scheduled, remaining, t->arena)};
    for (uint32_t i = 0; i < leaf->count; i++) {
        const struct tree_pod pod = t->hands->look(t->context, leaf->first + i);
        if (!pod.there)
            continue;
        r.seen = i + 1;
        if (is_error(&pod)) {
            r.status = group_tree_error(
                arena_print(t->arena, "failed to schedule other pod from a pod group: %.*s",
                            STR_ARG(pod.why->message)));
            return r;
        }
        remaining--;
        scheduled += pod.why == NULL;
        r.status = group_tree_feasible(leaf, scheduled, remaining, t->arena);
        if (r.status.code == TREE_unschedulable)
            return r;
        r.any |= pod.why == NULL;
    }
    r.status = group_tree_ended(&r.status);
    return r;
}

static void end_pods(struct tree_try *t, struct tree_frame *f)
{
    const struct tree_branch *leaf = branch_of(t, f);
    struct tree_result r = walk(t, f);
    t->hands->pass(t->context);
    for (uint32_t i = 0; i < leaf->count; i++) {
        const struct tree_pod pod = t->hands->look(t->context, leaf->first + i);
        bool seen = i < r.seen && pod.there;
        t->members[leaf->first + i] = seen ? note(t, &pod) : (struct tree_member){.why = NULL};
    }
    t->hands->undo(t->context, leaf->first + r.seen, leaf->count - r.seen);
    t->results[f->branch] = r;
    f->step = STEP_tried;
}

/* A leaf's pods, unless they are too few from the first. */
static void try_leaf(struct tree_try *t, struct tree_frame *f)
{
    const struct tree_branch *leaf = branch_of(t, f);
    f->scheduled = cache_gang_on_nodes(t->cache, &leaf->group);
    f->placed_before = t->hands->count(t->context).placed;
    struct tree_status at_once =
        group_tree_feasible(leaf, f->scheduled, count_pods(t, leaf), t->arena);
    forget_below(t, f->branch);
    f->step = STEP_pods;
    if (at_once.code == TREE_unschedulable) {
        t->results[f->branch] = (struct tree_result){.status = group_tree_failed(at_once.reasons)};
        f->step = STEP_tried;
    } else {
        t->hands->line_up(t->context, leaf->first, leaf->count);
    }
}

/* ---- groups of groups ---- */

static void try_children(struct tree_try *t, struct tree_frame *f)
{
    const struct tree_branch *b = branch_of(t, f);
    forget_below(t, f->branch);
    f->scheduled = 0;
    f->remaining = b->children;
    f->child = f->branch + 1;
    t->results[f->branch] = (struct tree_result){
        .status = group_tree_feasible(b, f->scheduled, f->remaining, t->arena)};
    bool hopeless = t->results[f->branch].status.code == TREE_unschedulable;
    f->step = hopeless ? STEP_tried : STEP_children;
}

/* The next child, or there is none. */
static void next_child(struct tree_try *t, struct tree_frame *f)
{
    const struct tree_branch *b = branch_of(t, f);
    if (f->child < f->branch + b->size) {
        push(t, f->child, nodes_of(f));
        return;
    }
    struct tree_result *r = &t->results[f->branch];
    r->status = group_tree_ended(&r->status);
    f->step = STEP_tried;
}

static void child_ended(struct tree_try *t, struct tree_frame *f)
{
    const struct tree_result *child = &t->results[f->child];
    struct tree_result *r = &t->results[f->branch];
    if (child->status.code == TREE_error) {
        struct str why = group_tree_quoted(&child->status, t->arena);
        *r = (struct tree_result){
            .status = group_tree_error(arena_print(
                t->arena, "composite pod group evaluation failed due to child error: %.*s",
                STR_ARG(why)))};
        f->step = STEP_tried;
        return;
    }
    f->remaining--;
    f->scheduled += child->status.code == TREE_success;
    r->any |= child->any;
    r->status = group_tree_feasible(branch_of(t, f), f->scheduled, f->remaining, t->arena);
    f->child += t->tree.at[f->child].size;
    if (r->status.code == TREE_unschedulable)
        f->step = STEP_tried;
}

/* ---- domains ---- */

static const struct gang **leaves_of(const struct tree_try *t, uint32_t branch, uint32_t *count)
{
    const struct group_tree *tree = &t->tree;
    const struct gang **leaves =
        arena_take(t->arena, tree->at[branch].size * sizeof(const struct gang *));
    *count = 0;
    for (uint32_t i = branch; i < branch + tree->at[branch].size; i++)
        if (tree->at[i].leaf)
            leaves[(*count)++] = &tree->at[i].group;
    return leaves;
}

static void end_frame(struct tree_try *t, const struct tree_frame *f)
{
    must(f == top_of(t));
    t->depth--;
    if (t->depth > 0)
        child_ended(t, top_of(t));
}

/* Without anything below it. */
static void end_bare(struct tree_try *t, const struct tree_frame *f, struct tree_status status)
{
    forget_below(t, f->branch);
    t->results[f->branch] = (struct tree_result){.status = status};
    end_frame(t, f);
}

/* Upstream looks for pods on nodes so deep and no deeper. */
static struct str depth_fault(struct tree_try *t, const struct tree_frame *f)
{
    uint32_t i = group_tree_too_deep(&t->tree, f->branch);
    if (i == 0 || !f->places.constrained)
        return (struct str){NULL, 0};
    const struct gang *group = &t->tree.at[i].group;
    return arena_print(t->arena, "exceeded maximum hierarchy depth at %s/%.*s/%.*s",
                       t->tree.at[i].leaf ? "podgroup" : "compositepodgroup",
                       STR_ARG(group->namespace_name), STR_ARG(group->name));
}

static void open_frame(struct tree_try *t, struct tree_frame *f)
{
    struct placement_question q = {.group = &branch_of(t, f)->group, .within = f->within};
    q.leaves = leaves_of(t, f->branch, &q.leaf_count);
    f->places = gang_placements_find(t->framework, &q, t->cache, t->arena);
    struct str fault = depth_fault(t, f);
    if (fault.len == 0)
        fault = f->places.fault;
    if (fault.len > 0) {
        end_bare(t, f, group_tree_error(fault));
    } else if (f->places.none) {
        const struct tree_status none = {.code = TREE_unschedulable,
                                         .reasons = STR_LITERAL("no feasible placements found")};
        end_bare(t, f, none);
    } else {
        f->tries = f->places.count > 0 ? f->places.count : 1;
        f->saved = arena_take(t->arena, f->tries * sizeof(*f->saved));
        f->step = STEP_try;
    }
}

static struct tree_saved save(const struct tree_try *t, const struct tree_frame *f)
{
    const struct tree_branch *b = branch_of(t, f);
    struct tree_saved s = {.fits = t->results[f->branch].status.code == TREE_success};
    s.results = arena_take(t->arena, b->size * sizeof(*s.results));
    s.members = arena_take(t->arena, b->count * sizeof(*s.members));
    memcpy(s.results, &t->results[f->branch], b->size * sizeof(*s.results));
    if (b->count > 0)
        memcpy(s.members, &t->members[b->first], b->count * sizeof(*s.members));
    return s;
}

static void take_up(struct tree_try *t, const struct tree_frame *f, const struct tree_saved *s)
{
    const struct tree_branch *b = branch_of(t, f);
    memcpy(&t->results[f->branch], s->results, b->size * sizeof(*s->results));
    if (b->count > 0)
        memcpy(&t->members[b->first], s->members, b->count * sizeof(*s->members));
}

static int64_t pods_on_nodes(const struct tree_try *t, uint32_t branch)
{
    int64_t pods = 0;
    for (uint32_t i = branch; i < branch + t->tree.at[branch].size; i++)
        if (t->tree.at[i].leaf)
            pods += cache_gang_on_nodes(t->cache, &t->tree.at[i].group);
    return pods;
}

/* What the domain is worth, with the pods still there. */
static void rate(struct tree_try *t, struct tree_frame *f, bool fits)
{
    const struct tree_branch *b = branch_of(t, f);
    f->places.current = f->tried;
    if (b->leaf) /* upstream measures no others */
        t->hands->measure(t->context, &f->places, fits, moment_since(t->now, f->began).ns);
    f->began = t->now;
    if (f->places.count == 0)
        return;
    f->places.asked = t->hands->asked(t->context, b->first, b->count);
    gang_placements_note(&f->places, t->framework, t->cache, pods_on_nodes(t, f->branch), fits);
}

/* ---- once more where it was ---- */

/* The leaf has what it needs, and so has each group from there up to this one. */
static bool counts_for(const struct tree_try *t, uint32_t leaf, uint32_t top)
{
    int64_t i = leaf;
    while (i != top && t->results[i].status.code == TREE_success)
        i = t->tree.at[i].parent;
    return t->results[i].status.code == TREE_success;
}

/* In the domain that was chosen. */
static void place_again(struct tree_try *t, struct tree_frame *f)
{
    bool *wanted = arena_take(t->arena, t->count * sizeof(*wanted));
    for (uint32_t i = 0; i < t->count; i++)
        wanted[i] = false;
    for (uint32_t k = f->branch; k < f->branch + branch_of(t, f)->size; k++) {
        const struct tree_branch *leaf = &t->tree.at[k];
        for (uint32_t i = 0; leaf->leaf && counts_for(t, k, f->branch) && i < leaf->count; i++)
            wanted[leaf->first + i] = t->members[leaf->first + i].node.len > 0;
    }
    f->step = STEP_again;
    t->lost |= !t->hands->place(t->context, t->members, wanted);
}

static void end_again(struct tree_try *t, const struct tree_frame *f)
{
    const struct tree_branch *b = branch_of(t, f);
    if (t->hands->placed(t->context, t->members)) {
        end_frame(t, f);
        return;
    }
    t->hands->undo(t->context, b->first, b->count);
    end_bare(t, f, group_tree_error(STR_LITERAL("failed to assume the subtree")));
}

/* ---- which domain ---- */

static uint32_t best_of(const struct tree_try *t, const struct tree_frame *f)
{
    if (f->places.count == 0)
        return f->saved[0].fits ? 0 : f->tries;
    return gang_placements_best(&f->places, t->framework, t->dice);
}

static void choose(struct tree_try *t, struct tree_frame *f)
{
    const struct tree_branch *b = branch_of(t, f);
    uint32_t best = best_of(t, f);
    if (best == f->tried) {
        end_frame(t, f);
        return;
    }
    t->hands->undo(t->context, b->first, b->count);
    if (best < f->tries) {
        take_up(t, f, &f->saved[best]);
        f->tried = best;
        place_again(t, f);
        return;
    }
    take_up(t, f, &f->saved[0]);
    struct tree_status *status = &t->results[f->branch].status;
    *status = group_tree_unplaced(status, f->tries, t->arena);
    end_frame(t, f);
}

static void end_try(struct tree_try *t, struct tree_frame *f)
{
    const struct tree_branch *b = branch_of(t, f);
    struct tree_result *r = &t->results[f->branch];
    bool fits = r->status.code == TREE_success;
    if (!fits) {
        r->any = false;
        t->hands->undo(t->context, b->first, b->count);
    }
    if (r->status.code == TREE_error) {
        if (!b->leaf)
            forget_below(t, f->branch);
        end_frame(t, f);
        return;
    }
    rate(t, f, fits);
    f->saved[f->tried] = save(t, f);
    if (f->tried + 1 == f->tries) {
        choose(t, f);
        return;
    }
    t->hands->undo(t->context, b->first, b->count);
    f->tried++;
    f->step = STEP_try;
}

/* ---- the steps ---- */

static void take_step(struct tree_try *t, struct tree_frame *f)
{
    switch (f->step) {
    case STEP_open: open_frame(t, f); break;
    case STEP_try:
        if (branch_of(t, f)->leaf)
            try_leaf(t, f);
        else
            try_children(t, f);
        break;
    case STEP_pods: end_pods(t, f); break;
    case STEP_children: next_child(t, f); break;
    case STEP_tried: end_try(t, f); break;
    case STEP_again: end_again(t, f); break;
    }
}

/* The first try is what is told; upstream takes no success for one without a pod. */
static void end(struct tree_try *t)
{
    struct tree_result *root = &t->results[0];
    if (root->status.code == TREE_success && !root->any)
        root->status = group_tree_failed((struct str){NULL, 0});
    if (t->said != NULL)
        return;
    size_t results = t->tree.count * sizeof(*t->said), members = t->count * sizeof(*t->said_of);
    t->said = arena_take(t->arena, results);
    t->said_of = arena_take(t->arena, members);
    memcpy(t->said, t->results, results);
    if (t->count > 0)
        memcpy(t->said_of, t->members, members);
}

bool tree_try_goes_on(struct tree_try *t, struct moment now)
{
    t->now = now;
    while (t->depth > 0 && !t->lost) {
        take_step(t, top_of(t));
        if (t->depth > 0 && !t->lost && !tree_try_rests(t))
            return true;
    }
    if (!t->lost)
        end(t);
    return t->lost;
}
