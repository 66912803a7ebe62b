/* hinting: asks plugins on the bus which of the pods that they turned away an event may help
 * (upstream's queueing hints): one question for an event, a plugin and all pods concerned. */
#ifndef QUEUE_BUS_PLUGINS_HINTING_H
#define QUEUE_BUS_PLUGINS_HINTING_H

#include "proto/plugins/asking.h"
#include "queue/entry.h"
#include "queue/event.h"

struct hinting;
struct queues;

/* Both are borrowed. */
struct hinting *hinting_new(struct queues *queues, struct asking *asking);
void hinting_free(struct hinting **hinting);
/* Nothing is asked any more: whoever was asked about sleeps on. */
void hinting_forget(struct hinting *h);

/* What is added from now on is of another event. */
void hinting_begin(struct hinting *h);
/* Asks the plugins of a set about the pod, which stays where it is until one says yes, or fails.
 * False: so much is asked already that it is not; the pod should be queued. */
bool hinting_add(struct hinting *h, struct entry *e, const struct event *event, uint64_t plugins);

/* For asking's options. */
bool hinting_fill(struct hinting *h, const struct plugin_question *q, struct message *m,
                  struct arena *a);
void hinting_ended(struct hinting *h, struct moment now, struct plugin_question *q,
                   const struct plugin_end *how);

#endif
