/* preflight: `berth preflight`, which looks whether `berth run` with the same flags would work:
 * what is checked, and what was found. */
#ifndef PREFLIGHT_H
#define PREFLIGHT_H

#include "ctl/preflight/permissions.h"
#include "ctl/run_options.h"
#include "proto/kube/access/client.h"

/* Somebody that berth is to the API server: watcher and binder one, berth-serve up to two. */
struct identity {
    const char *flag; /* that names its kubeconfig */
    struct kube_config *kube;
    struct kube_client *client; /* NULL: there is none */
    char user[256];             /* "": not known */
    bool reachable;
    bool missing[PERMISSIONS_MAX];
};

enum { IDENTITY_main, IDENTITY_authentication, IDENTITY_authorization, IDENTITIES };

struct preflight {
    struct run_options options;
    struct scheduler_config config;
    struct arena memory;
    struct identity who[IDENTITIES];
    struct strs groups; /* API groups that serve PodGroups */
    unsigned good, warned, failed;
};

enum finding { FINDING_ok, FINDING_warn, FINDING_fail };

/* One line: the finding, what was looked at, and what there is to say. */
void preflight_say(struct preflight *p, enum finding finding, const char *check, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));

/* Everything that the API server is asked about; the configuration must have been read. */
void preflight_api(struct preflight *p);

int command_preflight(int argc, char **argv);

#endif
