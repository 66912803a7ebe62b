/* talk: a core's requests to the API server, or to whoever else speaks HTTP, as its journal has
 * them: they are compared when it is played back, and answered from it. */
#ifndef KUBE_TALK_H
#define KUBE_TALK_H

#include "proto/kube/access/client.h"

struct talk;

/* client is borrowed. NULL: the journal in force is played back, and nothing is sent. */
struct talk *talk_new(struct kube_client *client);
void talk_free(struct talk **talk);
/* As kube_client_…. */
uint64_t talk_send(struct talk *talk, const struct kube_request *request);
void talk_cancel(struct talk *talk, uint64_t number);
void talk_distrust(struct talk *talk, enum kube_channel channel);
void talk_work(struct talk *talk, struct moment now);
int talk_fd(const struct talk *talk);
struct moment talk_deadline(const struct talk *talk, struct moment now);

#endif
