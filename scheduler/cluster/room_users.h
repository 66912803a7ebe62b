/* room_users: which pods on nodes say in their status that a ResourceClaim takes of their node's
 * own resources. Only for 1.36, which lets such a claim be used by one pod of a node. */
#ifndef SCHEDULER_CLUSTER_ROOM_USERS_H
#define SCHEDULER_CLUSTER_ROOM_USERS_H

#include "proto/messages.h"

struct room_users;

struct room_users *room_users_new(void);
void room_users_free(struct room_users **users);
/* The claims of a pod on that node; one that is named twice counts once. */
void room_users_add(struct room_users *users, const struct pod *pod, struct str node);
/* What was added for it. */
void room_users_remove(struct room_users *users, const struct pod *pod, struct str node);
/* Adds a claim's users to the findings, from the arena. */
void room_users_tell(const struct room_users *users, struct str namespace_name, struct str claim,
                     struct findings *out, struct arena *a);

#endif
