/* shell: between the core and the Kubernetes client: carries requests, and stands guard. */
#ifndef BINDER_SHELL_H
#define BINDER_SHELL_H

#include "binder/binder.h"
#include "proto/bus/actor.h"

struct shell {
    struct kube_client *client; /* borrowed */
    struct binder *binder;      /* borrowed; set after binder_new */
    bool sent;                  /* something was handed to the client since it last worked */
};

/* What the core is given. */
struct api shell_api(struct shell *shell);
/* The actor that runs the core. */
struct actor shell_actor(struct shell *shell);

#endif
