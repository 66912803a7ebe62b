/* otherwise: decides with another KubeSchedulerConfiguration than the scheduler has. The one idea:
 * its profiles take the place of those that the scheduler told, before the world is made of them.
 *
 * What must stay true: the release and the feature gates stay the scheduler's, since they are the
 * cluster's and in no file; what is wrong with the file is said as `berth config` says it. */
#include "ctl/others.h"
#include "ctl/whatif/whatif.h"
#include "proto/kube/config/config_file.h"

#include <stdio.h>

bool whatif_config(void *path, struct explained *told, struct arena *memory, struct str *error)
{
    struct scheduler_config config = {0};
    const char *file = *(const char **)path;
    if (told->profiles.count == 0) {
        *error = STR_LITERAL("the scheduler has not told how it decides");
        return false;
    }
    if (!scheduler_config_load(file, told->profiles.at[0].features, &config, memory, error))
        return false;
    if (config.old.map_name.len > 0) {
        *error = arena_print(memory, "%s: a Policy in a ConfigMap is not read here", file);
        return false;
    }
    for (uint32_t i = 0; i < config.notes.count; i++)
        fprintf(stderr, "berth whatif: warning: %.*s\n", STR_ARG(config.notes.at[i]));
    told->profiles.count = config.profiles.count;
    told->profiles.at = config.profiles.at;
    told->asks = others_of(&config, memory);
    return true;
}
