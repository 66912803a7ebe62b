/* settings: what the command line and the configuration file say to the binder. */
#ifndef BINDER_SETTINGS_H
#define BINDER_SETTINGS_H

#include "binder/binder.h"
#include "proto/bus/options.h"
#include "proto/kube/config/config_flags.h"

struct settings {
    struct config_flags flags; /* first: config_flags.h wants it so */
    const char *identity_given;
    int64_t binds_in_flight;
    int64_t falls;
    const char *tracing_config; /* a file; NULL: nothing is exported */
    /* Filled by settings_load; everything below lives in memory. */
    const char *kubeconfig, *master;
    const char *trace_url;        /* where spans go; NULL: nowhere */
    struct binder_options binder; /* all but api */
    struct arena memory;
};

/* For options_parse; the state is a struct settings. */
extern const struct own_option settings_options[];

/* Reads the file (path may be NULL), puts the flags over it, makes the identity. False, with one
 * line in error, when something is wrong. */
bool settings_load(struct settings *s, const char *config_path, struct str *error);
void settings_free(struct settings *s);
/* The limit of requests that a configuration asks for. */
void settings_rate(const struct scheduler_config *config, double *qps, uint32_t *burst);
/* What is read at the start alone, as one text; to tell whether a file changes it. */
int64_t settings_fixed(const struct scheduler_config *config);

#endif
