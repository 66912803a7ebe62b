/* settings: what the watcher's own command line options say. */
#ifndef WATCHER_SETTINGS_H
#define WATCHER_SETTINGS_H

#include "proto/base/moment.h"
#include "proto/bus/options.h"

/* Strings borrow from the command line; zero means the default. */
struct settings {
    const char *kubeconfig, *master, *user_agent;
    uint32_t page_size;
    struct span stale_after;
};

/* For options_parse; the state is a struct settings. */
extern const struct own_option settings_options[];

#endif
