/* plugin_doors: plugins on the bus are asked without a scheduler: they come in at the same doors,
 * scheduler.sock and queue.sock of a run directory, and are asked one question at a time. */
#ifndef CTL_PLUGIN_DOORS_H
#define CTL_PLUGIN_DOORS_H

#include "ctl/world.h"

struct plugin_doors;

/* Opens both in the directory, which is made if it is missing. NULL with a line in error. */
struct plugin_doors *plugin_doors_open(const char *directory, char *error, size_t room);
void plugin_doors_close(struct plugin_doors **d);
struct plugin_doors_wanted {
    const struct profile *profiles;
    uint32_t count;
    const struct bus_plugin *sorts; /* at QueueSort; NULL: none does */
};
/* These plugins are asked from now on; waits until all of them are there, at most ten
 * seconds. False with why, from the arena: one is not. Plugins that are asked nothing here, as they
 * have a say at PreBind and Bind alone, are not waited for. */
bool plugin_doors_await(struct plugin_doors *d, const struct plugin_doors_wanted *wanted,
                        struct str *why, struct arena *a);
/* How a world asks them; lives as long as the doors. */
const struct world_plugins *plugin_doors_world(struct plugin_doors *d);

#endif
