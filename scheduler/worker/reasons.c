/* reasons: why nodes are rejected, counted; and what ends a cycle. What must stay true: what is
 * told does not depend on who has which node, so of several errors the first in text order is kept.
 */
#include "scheduler/worker/shard_inside.h"

#include <string.h>

struct str reasons_text(struct evaluation *e, struct reason reason)
{
    if (reason.what.len == 0)
        return str_of(reason.text);
    return arena_print(e->arena, "%s%.*s", reason.text, STR_ARG(reason.what));
}

struct str reasons_error(struct evaluation *e)
{
    struct str why = reasons_text(e, e->ruling.reasons[0]);
    return arena_print(e->arena, "running \"%s\" filter plugin: %.*s",
                       e->cycle.framework->filter[e->ruling.plugin]->name, STR_ARG(why));
}

void reasons_add(struct evaluation *e, struct reason_counts *all, const struct ruling *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const struct reason *reason = &r->reasons[i];
        uint32_t k = 0;
        while (k < all->count && (all->at[k].reason.text != reason->text ||
                                  all->at[k].reason.what.at != reason->what.at))
            k++;
        if (k == all->room) {
            uint32_t room = all->room == 0 ? 8 : all->room * 2;
            struct reason_count *at = arena_take(&e->shard->scratch.arena, room * sizeof(*at));
            if (all->count > 0)
                memcpy(at, all->at, all->count * sizeof(*at));
            all->at = at;
            all->room = room;
        }
        if (k == all->count)
            all->at[all->count++] = (struct reason_count){*reason, 0};
        all->at[k].times++;
    }
}

void reasons_tell(struct evaluation *e, const struct reason_counts *all, uint32_t *count,
                  struct tally **out)
{
    *count = all->count;
    *out = arena_take(e->arena, all->count * sizeof(**out));
    for (uint32_t i = 0; i < all->count; i++)
        (*out)[i] = (struct tally){reasons_text(e, all->at[i].reason), all->at[i].times};
}

void reasons_failed(struct evaluation *e)
{
    struct str error = reasons_error(e);
    if (e->result->error.len == 0 || str_compare(error, e->result->error) < 0)
        e->result->error = error;
}

void reasons_rejected(struct evaluation *e)
{
    if (e->ruling.code == CODE_error)
        reasons_failed(e);
    reasons_add(e, &e->reasons, &e->ruling);
    e->rejecting |= e->ruling.plugins;
    e->result->unresolvable += e->ruling.code == CODE_unresolvable;
}
