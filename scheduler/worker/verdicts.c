/* verdicts: a ruling in words, for people who look at one decision. The one idea: filters speak in
 * constants and counts; only who asks for detail pays for sentences. */
#include "scheduler/worker/shard_inside.h"

static struct strs reasons_of(struct evaluation *e, const struct ruling *r)
{
    struct strs list = {0, arena_take(e->arena, r->count * sizeof(struct str))};
    for (uint32_t i = 0; i < r->count; i++)
        list.at[list.count++] = reasons_text(e, r->reasons[i]);
    return list;
}

void verdict_tell(struct evaluation *e, uint32_t row, struct verdict *out)
{
    const struct ruling *r = &e->ruling;
    out->node = atom_text(e->cycle.atoms, e->cycle.nodes->entry[row]->name);
    out->code = code_verdict(r->code);
    if (r->code == CODE_success)
        return;
    if (r->plugin != NO_PLUGIN)
        out->plugin = str_of(e->cycle.framework->filter[r->plugin]->name);
    out->reasons = reasons_of(e, r);
    if (r->code == CODE_error) {
        out->reasons.count = 1;
        out->reasons.at[0] = reasons_error(e);
    }
}

void verdict_tell_others(struct evaluation *e, uint32_t row, struct verdict *out)
{
    const struct framework *fw = e->cycle.framework;
    if (e->ruling.code != CODE_unschedulable && e->ruling.code != CODE_unresolvable)
        return;
    struct ruling alone = {.room = e->ruling.room,
                           .reasons =
                               arena_take(e->cycle.arena, e->ruling.room * sizeof(struct reason))};
    out->others.at = arena_take(e->arena, fw->filter_count * sizeof(struct rejection));
    for (uint32_t i = 0; i < fw->filter_count; i++) {
        if (fw->filter[i]->filter == NULL || (e->skip >> i & 1))
            continue;
        alone.count = 0;
        alone.code = CODE_success;
        fw->filter[i]->filter(&e->cycle, e->filter_state[i], e->cycle.nodes, row, &alone);
        if (alone.count > 0)
            out->others.at[out->others.count++] =
                (struct rejection){.plugin = str_of(fw->filter[i]->name),
                                   .code = code_verdict(alone.code),
                                   .reasons = reasons_of(e, &alone)};
    }
}
