/* config_args: what the readers of plugins' arguments have in common with the one who calls them.
 */
#ifndef KUBE_CONFIG_CONFIG_ARGS_H
#define KUBE_CONFIG_CONFIG_ARGS_H

#include "proto/kube/config/config_internal.h"

#define PLUGIN_CONFIG_MAX 1000 /* entries of any list: bounds the search for duplicates */

/* What a reader of arguments works on. */
struct args_reader {
    struct loading *l;         /* of these arguments alone: paths begin here, errors get wrapped */
    struct loading *outer;     /* of the file: validation and notes */
    const struct cursor *path; /* where they stand in the file, for validation */
    struct profile *profile;
    struct plugin_args *args;
    struct buffer *faults; /* of the arguments of NodeResourcesFit, */
    uint32_t *fault_count; /* and how many */
};

/* Reads the arguments into the reader's profile and args, with defaults for what is not there. */
typedef void args_read(const struct args_reader *r, const struct cursor *args);

/* Every plugin that has arguments; their kind is the plugin's name with Args behind it. */
struct args_kind {
    const char *plugin;
    args_read *read;
};
extern const struct args_kind config_args_kinds[];
extern const size_t config_args_kind_count;

/* Those of a plugin that is a process on the bus, which a file says by their kind. */
args_read config_args_read_bus;

#endif
