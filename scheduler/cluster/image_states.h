/* image_states: which images are on how many nodes of the cluster, and how big. */
#ifndef SCHEDULER_CLUSTER_IMAGE_STATES_H
#define SCHEDULER_CLUSTER_IMAGE_STATES_H

#include "proto/messages.h"

struct image_states;

struct image_states *image_states_new(void);
void image_states_free(struct image_states **s);
/* A node comes with these images, or goes. A name counts once a node. */
void image_states_add(struct image_states *s, const struct node *node);
void image_states_remove(struct image_states *s, const struct node *node);
bool image_states_changed(const struct image_states *s);
/* Hands out, in messages of bounded size, all states or those that changed since the last time (and
 * then forgets that they changed). nodes: how many there are in the cluster. */
void image_states_tell(struct image_states *s, bool all, int64_t nodes,
                       void (*tell)(void *context, const struct message *m), void *context);

#endif
