/* reach: whether a node is one of those that a slice or device names. Mirrors upstream's
 * NodeMatches and, for the selector, component-helpers' nodeaffinity: terms are ORed, a term
 * without requirements matches nothing. Selectors in error were found when the slice was read. */
#include "proto/kube/objects/selector.h"
#include "scheduler/devices/inside.h"

static bool label_holds(const struct requirement *r, const struct dra_node *node)
{
    struct str value = {0};
    bool there = node->label(node->context, r->key, &value);
    return requirement_holds(r, there, value);
}

/* A field other than metadata.name is empty on every node. */
static bool field_holds(const struct requirement *r, const struct dra_node *node)
{
    struct str value = str_is(r->key, "metadata.name") ? node->name : (struct str){0};
    return requirement_holds(r, true, value);
}

static bool term_holds(const struct node_term *term, const struct dra_node *node)
{
    if (term->expressions.count == 0 && term->fields.count == 0)
        return false;
    for (uint32_t i = 0; i < term->expressions.count; i++)
        if (!label_holds(&term->expressions.at[i], node))
            return false;
    for (uint32_t i = 0; i < term->fields.count; i++)
        if (!field_holds(&term->fields.at[i], node))
            return false;
    return true;
}

bool reach_matches(const struct dra_reach *reach, const struct dra_node *node)
{
    if (reach->node_name.len > 0)
        return str_equal(reach->node_name, node->name);
    if (reach->all_nodes)
        return true;
    for (uint32_t i = 0; reach->has_terms && i < reach->term_count; i++)
        if (term_holds(&reach->terms[i], node))
            return true;
    return false;
}
