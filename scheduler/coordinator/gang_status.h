/* gang_status: the status of PodGroups as the controller of scheduler-plugins keeps it, where no
 * such controller runs: phase, counts, owners and start; and of those in the tree, whether what was
 * said of them was seen.
 *
 * A step is a pure function of what a PodGroup and its pods are now; each write brings the group
 * back through the watch, for the next step. What got lost on the way is said again. Where another
 * controller wrote the status it is left to that one, until a step is missing for minutes. */
#ifndef SCHEDULER_COORDINATOR_GANG_STATUS_H
#define SCHEDULER_COORDINATOR_GANG_STATUS_H

#include "proto/base/moment.h"
#include "proto/bus/outbox.h"
#include "proto/messages.h"

/* The next step of the group with these pods (NULL: none names it). False when its status is as it
 * should be, or nobody's to write. Texts are borrowed from both. A negative schedule_start is: now.
 */
bool gang_status_step(const struct gang *group, const struct group_members *members,
                      struct group_status *next);

struct gang_statuses;

struct gang_statuses *gang_statuses_new(void);
void gang_statuses_free(struct gang_statuses **s);

/* pod_group_set, group_members, object_gone, and both ends of a snapshot; others are ignored. */
void gang_statuses_take(struct gang_statuses *s, struct moment now, const struct message *m);
/* Says to the binder what is due. */
void gang_statuses_tick(struct gang_statuses *s, struct moment now, struct address binder,
                        struct outbox *out);
/* How it went with a pod of a group, or with the group. */
struct gang_news {
    struct str namespace_name, name; /* the group's */
    bool scheduled;
    struct str scheduler_name; /* the profile */
};

/* The group of the API in the tree, when its condition is to be said to be so: by what was last
 * seen it is not, and it was not said a moment ago. NULL: there is nothing to say; what was
 * scheduled once stays so. Borrowed until the next message. That it is scheduled is said again by
 * the tick, in the name of that profile, until it is seen. */
const struct gang *gang_statuses_condition(struct gang_statuses *s, struct moment now,
                                           const struct gang_news *news);
/* Was the group of the API in the tree said to be scheduled, in any term of ours? The view may not
 * show it yet. */
bool gang_statuses_was_scheduled(const struct gang_statuses *s, const struct gang *group);
/* The PodGroup is there, and asks for several together. */
bool gang_statuses_is_gang(const struct gang_statuses *s, const struct gang *group);
/* PodGroups that are there, or that pods name. */
uint32_t gang_statuses_count(const struct gang_statuses *s);
/* A new term: everything is looked at anew; who was said to be scheduled stays so. */
void gang_statuses_look(struct gang_statuses *s, struct moment now);

#endif
