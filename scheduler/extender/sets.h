/* sets: the extenders that berth-extender calls, as the configuration file has them, and those of
 * the next one when it is another: everything behind main.
 *
 * Every question says which extenders it is about, by a hash of them all. The file is read once
 * more when one is about others than those that are known; then these take their place, and what
 * was still asked of the former is forgotten, as the scheduler asks anew. Until the file says what
 * the question is about, which may take a mounted file a while, the question waits. */
#ifndef SCHEDULER_EXTENDER_SETS_H
#define SCHEDULER_EXTENDER_SETS_H

#include "scheduler/extender/caller.h"

#define SETS_WAIT_MS 10000 /* so long a question waits for the file, then it is refused */
#define SETS_LOOK_MS 250   /* how often the file is read while one waits */

struct sets;

/* Reads the file; path (NULL: there is none) and api are borrowed. NULL, with a line in error, when
 * the file or an extender in it is no good. */
struct sets *sets_new(const char *path, struct kube_client *api, char *error, size_t room);
void sets_free(struct sets **sets);
/* For the actor loop; state is a struct sets. */
void sets_handle(void *state, struct moment now, const struct delivery *in, struct outbox *out);
struct moment sets_tick(void *state, struct moment now, struct outbox *out);
void sets_work(void *state, struct moment now, struct outbox *out);
void sets_status(void *state, struct buffer *lines);
/* Readable when something came on any connection. */
int sets_fd(const struct sets *sets);

#endif
