/* api: what the API server has of a kind: names, UIDs and versions. */
#ifndef CTL_DOCTOR_API_H
#define CTL_DOCTOR_API_H

#include "proto/kube/access/client.h"
#include "proto/messages.h"

/* Zero-initialise. */
struct api {
    struct kube_config *config;
    struct kube_client *client;
    struct span timeout;
    bool silent;     /* a request had no answer: another one would have none, and take as long */
    char error[512]; /* why the last call failed */
};

/* As kube_config_load; false with error. Each request ends with the timeout. */
bool api_open(struct api *api, const char *kubeconfig, const char *master, struct span timeout);
/* Everything that is listed at the path, with the selector that the watcher lists it with; strings
 * and things are the arena's. False with error: it could not be had whole. */
struct api_list {
    struct held_thing *things;
    uint32_t count, room;
};
bool api_list(struct api *api, struct str path, struct api_list *list, struct arena *a);
void api_close(struct api *api);

#endif
