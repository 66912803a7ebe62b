/* following: as which Kubernetes release it decides where nobody has said so: as the API server's.
 */
#ifndef SCHEDULER_COORDINATOR_FOLLOWING_H
#define SCHEDULER_COORDINATOR_FOLLOWING_H

#include "scheduler/coordinator/coordination.h"

void following_hear(struct coordinator *c, const struct server_version *said);
/* Finds out which release is wanted now; coordinator_release says it. */
void following_look(struct coordinator *c, struct moment now);
/* The configuration is another one now: these feature gates were left out. Whether pods that are
 * known come to something else with it, so that they have to be told once more. */
bool following_taken(struct coordinator *c, const char *left);
/* The pod with what it takes from its node, as the release that is decided as counts it. */
struct pod following_read(struct coordinator *c, const struct pod *pod);
/* It could not be read as of the release that is wanted: the former one stays. */
void following_refused(struct coordinator *c);
/* What is to be told of it although it decides; "" when nothing is. */
void following_note(const struct coordinator *c, char *text, size_t room);
void following_status(const struct coordinator *c, struct buffer *lines);
void following_observe(const struct coordinator *c);

#endif
