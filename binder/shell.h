/* shell: between the core and the Kubernetes client: carries requests, and stands guard. */
#ifndef BINDER_SHELL_H
#define BINDER_SHELL_H

#include "binder/binder.h"
#include "binder/delegates.h"
#include "proto/bus/actor.h"
#include "proto/kube/access/talk.h"
#include "proto/kube/config/config_follow.h"
#include "proto/kube/tracing/exporter.h"

struct shell {
    struct kube_client *client;  /* borrowed; NULL: the journal in force is played back */
    struct talk *talk;           /* to it */
    struct delegates *delegates; /* the extenders that bind */
    int fd;                      /* readable when something came for either */
    struct binder *binder;       /* borrowed; set after binder_new */
    struct exporter *exporter;   /* of spans; NULL: none, or a journal is played back */
    struct config_follow config;
    int64_t fixed; /* settings_fixed of the file at the start */
    bool sent;     /* something was handed to a client since it last worked */
};

struct shell_options {
    const char *config_path; /* borrowed; NULL: there is no file */
    const char *trace_url;   /* where spans go; NULL: nowhere */
};

/* Reads which extenders bind, and opens the way there. False, with a line in error, when that
 * cannot be; to be closed in either case. */
bool shell_open(struct shell *shell, const struct shell_options *options, char *error, size_t room);
void shell_close(struct shell *shell);
/* What the core is given. */
struct api shell_api(struct shell *shell);
/* The actor that runs the core. */
struct actor shell_actor(struct shell *shell);

#endif
