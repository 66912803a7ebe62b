/* shell: between the core and the Kubernetes client: carries requests, and stands guard. */
#ifndef BINDER_SHELL_H
#define BINDER_SHELL_H

#include "binder/binder.h"
#include "proto/bus/actor.h"

struct shell {
    struct kube_client *client;   /* borrowed */
    struct kube_config *way;      /* to the extender */
    struct kube_client *extender; /* of the one that binds; NULL: there is none */
    int fd;                /* readable when something came for either; -1: the client's alone */
    struct binder *binder; /* borrowed; set after binder_new */
    bool sent;             /* something was handed to the client since it last worked */
};

/* Opens the way to the extender that binds, if the configuration names one. False, with a line in
 * error, when that cannot be. */
bool shell_reach_extender(struct shell *shell, const struct binder_options *options, char *error,
                          size_t room);
void shell_leave_extender(struct shell *shell);
/* What the core is given. */
struct api shell_api(struct shell *shell);
/* The actor that runs the core. */
struct actor shell_actor(struct shell *shell);

#endif
