/* volume_plan: the order in which a node's claims get their volumes. The one idea: claims are
 * served in the findings' order, each with the first of its choices that is left and that the node
 * can use.
 *
 * What must stay true: with the same answers the result is the same, so that the coordinator finds
 * for the chosen node what the worker found. */
#include "scheduler/catalog/volume_plan.h"

static bool is_taken(const uint32_t *chosen, uint32_t count, uint32_t candidate)
{
    for (uint32_t i = 0; i < count; i++)
        if (chosen[i] == candidate)
            return true;
    return false;
}

static uint32_t next(const struct volume_plan_node *node, uint32_t claim, uint32_t from)
{
    return node->next_choice == NULL ? from : node->next_choice(node->context, claim, from);
}

static uint32_t match(const struct volume_findings *findings, const struct volume_plan_node *node,
                      const uint32_t *chosen, uint32_t claim)
{
    const struct delayed_claim *c = &findings->delayed.at[claim];
    for (uint32_t i = next(node, claim, 0); i < c->choices.count; i = next(node, claim, i + 1)) {
        uint32_t candidate = (uint32_t)c->choices.at[i].volume;
        if (is_taken(chosen, claim, candidate))
            continue;
        if (node->can_use(node->context, candidate))
            return candidate;
        if (c->choices.at[i].prebound)
            break; /* this volume or none */
    }
    return VOLUME_TO_MAKE;
}

enum volume_plan volume_plan_make(const struct volume_findings *findings,
                                  const struct volume_plan_node *node, uint32_t *chosen)
{
    for (uint32_t i = 0; i < findings->delayed.count; i++)
        if (findings->delayed.at[i].selected && !node->is_selected(node->context, i))
            return VOLUME_PLAN_no_volume;
    for (uint32_t i = 0; i < findings->delayed.count; i++) {
        const struct delayed_claim *c = &findings->delayed.at[i];
        if (!c->selected && c->problem.len > 0) {
            chosen[0] = i;
            return VOLUME_PLAN_problem;
        }
        chosen[i] = c->selected ? VOLUME_TO_MAKE : match(findings, node, chosen, i);
    }
    for (uint32_t i = 0; i < findings->delayed.count; i++) {
        const struct delayed_claim *c = &findings->delayed.at[i];
        if (chosen[i] != VOLUME_TO_MAKE)
            continue;
        if (!c->provisionable || (c->topologies.count > 0 && !node->can_make(node->context, i)))
            return VOLUME_PLAN_no_volume;
        if (c->room_counts && !node->can_reach(node->context, i))
            return VOLUME_PLAN_no_room;
    }
    return VOLUME_PLAN_fits;
}

bool volume_findings_is_sound(const struct volume_findings *findings)
{
    for (uint32_t i = 0; i < findings->delayed.count; i++)
        for (uint32_t k = 0; k < findings->delayed.at[i].choices.count; k++) {
            int64_t volume = findings->delayed.at[i].choices.at[k].volume;
            if (volume < 0 || volume >= findings->candidates.count)
                return false;
        }
    return true;
}
