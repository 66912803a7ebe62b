/* The verbs on resources. Each handler sets the answer; none of them knows HTTP. */
#ifndef APISERVER_API_H
#define APISERVER_API_H

#include "server.h"

/* Routes are parsed and the user is known and allowed: does what the verb says. */
void api_handle(struct request *request, struct answer *answer);

/* api_read.c */
void api_get(struct request *request, struct answer *answer);
void api_list(struct request *request, struct answer *answer);
void api_watch(struct request *request, struct answer *answer);
/* The resourceVersion a client sent: 0 for none or "0"; a Status when it is no number. */
cJSON *api_version_arg(const struct request *request, uint64_t *version);

/* api_write.c */
void api_create(struct request *request, struct answer *answer);
void api_update(struct request *request, struct answer *answer);
void api_patch(struct request *request, struct answer *answer);

/* Stores a new object, tree in stored shape, with defaults and checks. Takes the tree; a Status
 * (and no object) when it is refused. With dry, nothing is stored and tree_out gets the result. */
struct created {
    struct object *object;
    cJSON *dry_tree;
};
cJSON *api_store_new(struct server *server, const struct resource *resource, cJSON *tree, bool dry,
                     struct created *created);

/* api_delete.c */
void api_delete(struct request *request, struct answer *answer);
void api_delete_collection(struct request *request, struct answer *answer);
/* Removes an object now when nothing holds it back; used after an update took the last finalizer.
 */
bool api_delete_ready(const struct object *object);

/* pods.c */
void pods_bind(struct request *request, struct answer *answer);
/* Assigns a pod as POST pods/binding does; NULL, or the Status that says why not. */
cJSON *pods_assign(struct server *server, const char *namespace, const char *name,
                   const cJSON *binding);

/* reviews.c: resources that are computed. */
void reviews_create(struct request *request, struct answer *answer);

/* kubelet.c: the toy kubelet reacts to a change of a pod. */
void kubelet_notice(struct server *server, struct object *pod);

#endif
