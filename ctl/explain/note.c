/* note: what a decision that is made again lacks, since nobody else is asked for it. What must stay
 * true: whoever has a say in the real decision and not in this one is named. */
#include "ctl/explain/explain.h"

/* A plugin on the bus; others that are asked are extenders. */
static bool is_plugin(const struct explanation *e, struct str name)
{
    const struct explained *said = &e->live->explained;
    for (uint32_t i = 0; i < said->profiles.count; i++)
        for (uint32_t k = 0; k < said->profiles.at[i].bus_plugins.count; k++)
            if (str_equal(said->profiles.at[i].bus_plugins.at[k].name, name))
                return true;
    return false;
}

/* To a recorded decision all extenders were asked whose answer was wanted for it. */
static bool lacks_extenders(const struct explanation *e, bool group)
{
    return group || e->then_us == 0 || (e->past->consulted_count > 0 && !e->answers_used);
}

struct str explain_note(const struct explanation *e, bool group, struct arena *a)
{
    const struct strs all = e->live->explained.asks;
    bool used = e->answers_used && !group, extenders = lacks_extenders(e, group);
    struct str note = {NULL, 0};
    struct strs left = {0, arena_take(a, (all.count + 1) * sizeof(struct str))};
    for (uint32_t i = 0; i < all.count; i++)
        if (extenders || is_plugin(e, all.at[i]))
            left.at[left.count++] = all.at[i];
    if (used)
        note = STR_LITERAL("Extenders were not asked again: what they had answered then counts.");
    for (uint32_t i = 0; i < left.count; i++)
        note = arena_print(a, "%.*s%s%.*s", STR_ARG(note),
                           i > 0  ? ", "
                           : used ? " Nobody has asked these, who have a say in it: "
                                  : "Nobody has asked these, who have a say in it: ",
                           STR_ARG(left.at[i]));
    return note;
}
