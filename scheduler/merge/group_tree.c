/* group_tree: the one idea: a list in which each group stands behind its parent and the groups of a
 * subtree stand together, so that a subtree is a range, of groups and of pods.
 *
 * What must stay true: words are kube-scheduler's. */
#include "scheduler/merge/group_tree.h"

#include "scheduler/table/gang_names.h"

#include <inttypes.h>

#define UNSCHEDULABLE "pod group is unschedulable"

/* ---- the tree ---- */

#define DEPTH_MOST 4 /* upstream's WorkloadMaxTreeDepth */

/* Who stands last has nobody below. */
static void measure(struct group_tree *tree)
{
    for (uint32_t i = tree->count; i > 1; i--) {
        const struct tree_branch *b = &tree->at[i - 1];
        struct tree_branch *parent = &tree->at[b->parent];
        parent->size += b->size;
        parent->children++;
    }
}

/* Each group behind its parent, with the parent's other groups around it. */
static bool stands_together(const struct group_tree *tree)
{
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct tree_branch *parent = &tree->at[tree->at[i].parent];
        if (parent->leaf || i >= tree->at[i].parent + (int64_t)parent->size)
            return false;
    }
    return true;
}

struct group_tree group_tree_read(const struct gang_attempt *attempt, struct arena *a)
{
    const struct group_tree none = {0};
    uint32_t count = attempt->tree.count;
    struct group_tree tree = {count, arena_take(a, count * sizeof(*tree.at))};
    for (uint32_t i = 0; i < count; i++) {
        const struct gang_branch *from = &attempt->tree.at[i];
        struct tree_branch *b = &tree.at[i];
        *b = (struct tree_branch){.parent = from->parent, .size = 1};
        codec_copy(&gang_record, &b->group, &from->group, a);
        b->leaf = !str_is(b->group.api, GANG_API_TREE);
        if (b->parent >= i || (i == 0 ? b->parent != -1 : b->parent < 0))
            return none;
    }
    measure(&tree);
    return stands_together(&tree) ? tree : none;
}

void group_tree_seat(struct group_tree *tree)
{
    uint32_t next = 0; /* behind the last leaf */
    for (uint32_t i = 0; i < tree->count; i++) {
        struct tree_branch *b = &tree->at[i];
        if (!b->leaf)
            *b = (struct tree_branch){.group = b->group,
                                      .parent = b->parent,
                                      .size = b->size,
                                      .children = b->children,
                                      .first = next};
        else
            next = b->first + b->count;
    }
    for (uint32_t i = tree->count; i > 1; i--)
        tree->at[tree->at[i - 1].parent].count += tree->at[i - 1].count;
}

uint32_t group_tree_too_deep(const struct group_tree *tree, uint32_t top)
{
    for (uint32_t i = top + 1; i < top + tree->at[top].size; i++) {
        uint32_t depth = 0;
        for (int64_t k = i; k != top; k = tree->at[k].parent)
            depth++;
        if (depth >= DEPTH_MOST)
            return i;
    }
    return 0;
}

/* ---- a status ---- */

struct tree_status group_tree_feasible(const struct tree_branch *branch, int64_t scheduled,
                                       int64_t remaining, struct arena *a)
{
    int64_t min = branch->group.min_member > 0 ? branch->group.min_member : 1;
    if (scheduled >= min)
        return (struct tree_status){.code = TREE_success};
    bool hopeless = scheduled + remaining < min;
    const char *how = hopeless ? "cannot be" : "is not yet";
    return (struct tree_status){
        .code = hopeless ? TREE_unschedulable : TREE_waits,
        .reasons = arena_print(
            a, "minCount (%" PRId64 ") %s satisfied: %" PRId64 " scheduled, %" PRId64 " remaining",
            min, how, scheduled, remaining)};
}

struct tree_status group_tree_failed(struct str reasons)
{
    return (struct tree_status){TREE_unschedulable, STR_LITERAL(UNSCHEDULABLE), reasons};
}

struct tree_status group_tree_ended(const struct tree_status *status)
{
    return status->code == TREE_waits ? group_tree_failed(status->reasons) : *status;
}

struct tree_status group_tree_unplaced(const struct tree_status *first, uint32_t placements,
                                       struct arena *a)
{
    struct str quoted = group_tree_quoted(first, a);
    return group_tree_failed(
        arena_print(a, "0/%" PRIu32 " placements are available, first placement status: %.*s",
                    placements, STR_ARG(quoted)));
}

struct tree_status group_tree_error(struct str error)
{
    return (struct tree_status){.code = TREE_error, .error = error};
}

struct str group_tree_message(const struct tree_status *status, struct arena *a)
{
    if (status->error.len == 0)
        return status->reasons;
    if (status->reasons.len == 0)
        return status->error;
    return arena_print(a, "%.*s, %.*s", STR_ARG(status->error), STR_ARG(status->reasons));
}

struct str group_tree_quoted(const struct tree_status *status, struct arena *a)
{
    return status->error.len > 0 ? status->error : group_tree_message(status, a);
}

/* ---- the end ---- */

struct tree_ending *group_tree_end(const struct group_tree *tree, struct tree_result *results,
                                   struct arena *a)
{
    struct tree_ending *endings = arena_take(a, tree->count * sizeof(*endings));
    for (uint32_t i = 0; i < tree->count; i++) {
        int64_t parent = tree->at[i].parent;
        bool own = results[i].status.code != TREE_unseen;
        endings[i] = (struct tree_ending){.owner = i};
        if (parent >= 0 && (!own || (results[parent].status.code != TREE_success &&
                                     results[i].status.code == TREE_success))) {
            endings[i].owner = endings[parent].owner;
            results[i] = (struct tree_result){.status = results[parent].status};
        }
        endings[endings[i].owner].sharers++;
    }
    for (uint32_t i = 0; i < tree->count; i++)
        endings[i].sharers = endings[endings[i].owner].sharers;
    return endings;
}

struct str group_tree_told(const struct tree_status *status, uint32_t sharers, struct str said,
                           struct arena *a)
{
    struct str text = group_tree_message(status, a);
    for (uint32_t i = 0; i < sharers; i++)
        text = arena_print(a, "%.*s, %.*s", STR_ARG(text), STR_ARG(said));
    return text;
}
