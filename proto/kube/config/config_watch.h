/* config_watch: notices that a configuration file is another one. */
#ifndef KUBE_CONFIG_CONFIG_WATCH_H
#define KUBE_CONFIG_CONFIG_WATCH_H

#include "proto/base/moment.h"
#include "proto/base/str.h"

/* What a file looked like; zero-initialise with the path alone. */
struct config_watch {
    const char *path; /* NULL: nothing to watch */
    bool seen;
    uint64_t device, inode, size;
    int64_t changed_ns; /* mtime */
    struct moment next; /* look */
};

#define CONFIG_WATCH_MS 1000

/* Looks once a second, or at once when asked to. True when the file is another than at the last
 * look: by inode (as when a mounted ConfigMap changes), size or time. The first look is only taken
 * down; a file that is not there is no other file. Asked to, it is always true if there is a file.
 */
bool config_watch_changed(struct config_watch *w, struct moment now, bool asked);

#endif
