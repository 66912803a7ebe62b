/* settings: what the watcher's own command line options say. */
#ifndef WATCHER_SETTINGS_H
#define WATCHER_SETTINGS_H

#include "proto/base/moment.h"
#include "proto/bus/options.h"
#include "proto/kube/config/config_follow.h"

/* Strings borrow from the command line; zero means the default. */
struct settings {
    const char *kubeconfig, *master, *user_agent, *content_type;
    uint32_t page_size;
    bool protobuf; /* set by settings_read_config */
    bool group_trees;
    struct strs annotations; /* what plugins on the bus want to be told of; in memory */
    struct arena memory;     /* set by settings_read_config, and freed with the settings */
    struct span stale_after;
    char *from_config;           /* what kubeconfig points to when the configuration names it */
    struct config_follow config; /* the file as it is now */
};

/* For options_parse; the state is a struct settings. */
extern const struct own_option settings_options[];

/* Takes clientConnection from a KubeSchedulerConfiguration (path NULL: its defaults, and
 * --kube-api-content-type over them): the types of answers, and the kubeconfig; one that is named
 * there comes before --kubeconfig, as for the other processes. The rest of the file is for the
 * other processes, but a mistake anywhere in it is refused, with one line in error. */
bool settings_read_config(struct settings *settings, const char *path, char *error, size_t room);
/* Looks at the file once a second, or when asked to; returns when to call again. */
struct moment settings_follow(struct settings *settings, struct moment now, bool asked);
void settings_free(struct settings *settings);

#endif
