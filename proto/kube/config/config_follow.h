/* config_follow: a process that decides nothing keeps up with its configuration file: what it can
 * change while it runs it takes over, and its status says which file it has read. */
#ifndef KUBE_CONFIG_CONFIG_FOLLOW_H
#define KUBE_CONFIG_CONFIG_FOLLOW_H

#include "proto/base/buffer.h"
#include "proto/kube/config/config_file.h"
#include "proto/kube/config/config_watch.h"

/* The queue takes its sort plugin at the start alone, since pods stand in line by it: a
 * configuration with another one is refused by all who would have taken it. */
#define CONFIG_SORT_ROOM 64
void config_sort_note(const struct scheduler_config *config, char sort[CONFIG_SORT_ROOM]);
bool config_sort_kept(const struct scheduler_config *config, const char *sort, struct arena *a,
                      struct str *error);

struct config_follow {
    struct config_watch watch;
    char sort[CONFIG_SORT_ROOM];
    int64_t hash; /* of the file as last read: the same as the scheduler's, unless flags differ */
    uint64_t changes, refused;
};

/* path is borrowed; NULL: nothing to follow. Reads it for its hash. */
void config_follow_init(struct config_follow *f, const char *path);
/* Looks once a second, or at once when asked to. True when the file says something else now, which
 * is in config and lives in the arena; a file that is wrong is counted, and told of by the
 * scheduler. */
bool config_follow_look(struct config_follow *f, struct moment now, bool asked,
                        struct scheduler_config *config, struct arena *a);
/* config_hash=… config_changes=… configs_refused=… */
void config_follow_status(const struct config_follow *f, struct buffer *lines);

#endif
