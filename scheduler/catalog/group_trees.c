/* group_trees: the one idea: from a PodGroup one goes upwards by names, a few steps at most. What
 * must stay true: records are borrowed from the catalog, and one group is one record, so that who
 * asks may compare pointers. */
#include "scheduler/catalog/group_trees.h"

#include "scheduler/table/gang_names.h"

/* The group above; NULL: none, or it is not there. */
static const struct gang *above(const struct catalog *catalog, const struct gang *group)
{
    const struct gang named = {.api = STR_LITERAL(GANG_API_TREE),
                               .namespace_name = group->namespace_name,
                               .name = group->parent};
    return group->parent.len > 0 ? catalog_gang(catalog, &named) : NULL;
}

const struct gang *group_trees_root(const struct catalog *catalog, const struct features *features,
                                    const struct gang *named)
{
    const struct gang *group = catalog_gang(catalog, named), *next;
    for (int i = 1; group != NULL && features->group_trees && i < GROUP_TREES_DEPTH; i++)
        if ((next = above(catalog, group)) != NULL)
            group = next;
    return group;
}

const struct gang *group_trees_whole(const struct catalog *catalog, const struct features *features,
                                     const struct gang *named)
{
    const struct gang *whole = NULL, *group = catalog_gang(catalog, named);
    for (int i = 0; group != NULL && i < GROUP_TREES_DEPTH; i++) {
        if (group->disrupted_whole)
            whole = group;
        group = features->group_trees ? above(catalog, group) : NULL;
    }
    return whole;
}

bool group_trees_is_below(const struct catalog *catalog, const struct gang *leaf,
                          const struct gang *top)
{
    const struct gang *group = leaf;
    for (int i = 0; group != NULL && group != top && i < GROUP_TREES_DEPTH; i++)
        group = above(catalog, group);
    return group == top;
}
