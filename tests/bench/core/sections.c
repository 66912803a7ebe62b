/* sections: which clusters and workloads each part of the report is about. What must stay true:
 * without options the whole takes no more than three minutes on a small machine. */
#include "tests/bench/core/sections.h"

#include "tests/bench/core/decisions.h"
#include "tests/bench/core/profile.h"

bool decisions_run(const struct core_options *o, struct report *r)
{
    struct arena memory = {0};
    struct profile profile;
    bool well = profile_make(&profile, o->rule, &memory);
    if (!well)
        fprintf(stderr, "bench-core: the default profile has no rule %s\n", o->rule);
    decisions_begin(r, "decisions", "CPU time of a decision, and how many one core makes");
    for (uint32_t i = 0; well && i < o->nodes.count; i++)
        for (uint32_t k = 0; well && k < o->workers.count; k++) {
            const struct decisions_setup setup = {.shape = {.nodes = o->nodes.at[i],
                                                            .bound_per_node = o->bound_per_node,
                                                            .zones = o->zones},
                                                  .workers = o->workers.at[k],
                                                  .profile = &profile,
                                                  .rule = o->rule != NULL ? o->rule : "all"};
            well = decisions_measure(o, &setup, o->workloads, r);
        }
    arena_free(&memory);
    return well;
}

bool sections_run(const struct core_options *o, struct report *r)
{
    static const struct {
        const char *name;
        bool (*run)(const struct core_options *o, struct report *r);
    } all[] = {{"decisions", decisions_run}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (list_has(o->sections, all[i].name) && !all[i].run(o, r))
            return false;
    return true;
}
