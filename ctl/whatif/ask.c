/* ask: plugins on the bus are asked about what would be, at doors of its own. What must stay true:
 * the scheduler's own plugins hear nothing of it, since they may keep books of what they answered.
 */
#include "ctl/others.h"
#include "ctl/plugin_doors.h"
#include "ctl/whatif/whatif.h"

bool whatif_ask(struct whatif *w, const struct explained *told, const char *directory)
{
    char error[512];
    w->not_asked = told->asks;
    if (directory == NULL)
        return true;
    w->doors = plugin_doors_open(directory, error, sizeof(error));
    if (w->doors == NULL) {
        w->error = arena_print(&w->arena, "--plugins: %s", error);
        return false;
    }
    const struct plugin_doors_wanted wanted = {told->profiles.at, told->profiles.count, NULL};
    if (!plugin_doors_await(w->doors, &wanted, &w->error, &w->arena))
        return false;
    world_ask_plugins(w->world, plugin_doors_world(w->doors));
    w->not_asked =
        others_but_plugins(told->asks, told->profiles.at, told->profiles.count, &w->arena);
    return true;
}
