/* members: how many pods name each PodGroup, and in which phase, those that have finished included.
 *
 * The mirror of pods leaves finished ones out, so these are listed by the labels that name a
 * PodGroup, in lists of their own. Counts are published for API groups that are served. */
#ifndef WATCHER_MEMBERS_H
#define WATCHER_MEMBERS_H

#include "proto/base/moment.h"
#include "proto/bus/stream.h"
#include "proto/kube/objects/objects.h"

/* A list of finished pods that name a PodGroup of one API group. */
struct finished_list {
    struct kube_resource kind;
    const char *api;            /* API group of the PodGroups; without it no list is needed */
    const char *label_selector; /* who is in it */
};
enum { FINISHED_LISTS = 2 };
extern const struct finished_list finished_lists[FINISHED_LISTS];

struct members;

/* The publisher is borrowed, and freed first. */
struct members *members_new(struct publisher *publisher);
void members_free(struct members **m);

/* Whether PodGroups of the API group are served: only then are its groups told of. */
void members_serve(struct members *m, const char *api, bool served);

/* What the mirror of pods says: set with the object behind it, or gone. Other messages: ignored. */
void members_told(struct members *m, const struct message *what, const struct kube_json *object);

/* One of the lists of finished pods; list is its place in finished_lists. */
void members_list_begin(struct members *m, size_t list);
void members_list_end(struct members *m, size_t list);
void members_finished(struct members *m, size_t list, const struct kube_json *object);
void members_finished_gone(struct members *m, size_t list, const struct kube_json *object);

/* Publishes what changed a second ago, or all that has changed; returns when it wants to be called
 * next. */
struct moment members_tick(struct members *m, struct moment now);
void members_flush(struct members *m);

size_t members_count(const struct members *m); /* pods that name a PodGroup */
size_t members_groups(const struct members *m);
/* Finished pods in a list. */
size_t members_in_list(const struct members *m, size_t list);

#endif
