/* tree_words: the one idea: what came of a group is told to its leaf and to those of its pods that
 * have no words of their own. What must stay true: pods that nobody looked at are told what came of
 * the group before it was looked for victims, as upstream completes its results then. */
#include "scheduler/merge/tree_words.h"

#define UNSCHEDULABLE "pod group is unschedulable"

static struct str said_of_room(const struct tree_try *t, enum gang_room room, uint32_t victims)
{
    struct str helpless = group_tree_message(&t->results[0].status, t->arena);
    const struct gang_room_found found = {GANG_CLAIMS_kept, room, victims, helpless, true};
    return gang_rules_room(t->framework, &found, t->arena);
}

struct tree_words *tree_words_find(struct tree_try *t, enum gang_room room, uint32_t victims)
{
    bool looked = t->said[0].status.code == TREE_unschedulable;
    bool waits = looked && (room == GANG_ROOM_found || room == GANG_ROOM_going);
    struct str said = looked ? said_of_room(t, room, victims) : (struct str){NULL, 0};
    const struct tree_ending *endings = group_tree_end(&t->tree, t->said, t->arena);
    struct tree_words *words = arena_take(t->arena, t->tree.count * sizeof(*words));
    for (uint32_t i = 0; i < t->tree.count; i++) {
        const struct tree_status *status = &t->said[i].status;
        struct str before = group_tree_message(status, t->arena);
        words[i] = (struct tree_words){before, before, waits};
        if (looked)
            words[i].after = group_tree_told(status, endings[i].sharers, said, t->arena);
    }
    return words;
}

struct tree_told tree_words_of_leaf(const struct tree_try *t, const struct tree_words *words,
                                    uint32_t branch)
{
    enum tree_code code = t->said[branch].status.code;
    const struct str nothing = {NULL, 0};
    return (struct tree_told){code, code == TREE_success ? nothing : words[branch].after};
}

/* The number of its leaf; 0: it names none of the tree. */
static uint32_t leaf_of(const struct group_tree *tree, uint32_t member)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->at[i].leaf && member >= tree->at[i].first &&
            member < tree->at[i].first + tree->at[i].count)
            return i;
    return 0;
}

/* Who has a place that its group does not get. */
static struct tree_member_told of_placed(const struct tree_try *t, const struct tree_words *w)
{
    struct tree_member_told told = {.message = w->after, .clears = true};
    if (!w->waits)
        told.message = arena_print(t->arena, UNSCHEDULABLE ", %.*s", STR_ARG(w->after));
    return told;
}

struct tree_member_told tree_words_of_member(const struct tree_try *t,
                                             const struct tree_words *words, uint32_t member)
{
    uint32_t leaf = leaf_of(&t->tree, member);
    const struct tree_result *r = &t->said[leaf];
    const struct tree_words *w = &words[leaf];
    bool seen = leaf > 0 && member < t->tree.at[leaf].first + r->seen;
    const struct decision *why = seen ? t->said_of[member].why : NULL;
    if (r->status.code == TREE_error) {
        bool own = why != NULL && why->kind == DECISION_error;
        return (struct tree_member_told){.error = true,
                                         .message = own ? why->message : w->after,
                                         .own = own ? why : NULL,
                                         .clears = true};
    }
    if (why != NULL)
        return (struct tree_member_told){.message = why->message, .own = why};
    return seen ? of_placed(t, w) : (struct tree_member_told){.message = w->before};
}
