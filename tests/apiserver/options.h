/* The command line. */
#ifndef APISERVER_OPTIONS_H
#define APISERVER_OPTIONS_H

#include "support.h"

enum { DENY_MAX = 32 };

struct options {
    const char *listen, *port_file, *tls_cert, *tls_key, *client_ca, *token_file, *audit_log,
        *faults, *demo, *fill, *write_kubeconfig, *kubelet, *log_level, *runtime_config, *version;
    const char *deny[DENY_MAX];
    size_t deny_count;
    long watch_history;
    bool help;
};

/* False with one line in why. */
bool options_read(struct options *options, int argc, char **argv, struct buffer *why);
void options_help(void);

#endif
