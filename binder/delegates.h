/* delegates: extenders that bind pods instead of us, of the configuration as it is now and of
 * former ones that still have binds under way. Each that is known has a route: a number for the
 * client that leads there.
 *
 * The file is read once more when a bind names extenders of another configuration than the known
 * ones: whoever decided it has read the newer one. */
#ifndef BINDER_DELEGATES_H
#define BINDER_DELEGATES_H

#include "proto/kube/access/talk.h"
#include "proto/kube/extenders/extenders.h"

#define DELEGATES_SETS_MAX 8 /* configurations with binds under way; more are refused */

struct delegates;

/* path is borrowed; NULL: there is no file. NULL, with a line in error, when the file or an
 * extender in it is no good. */
struct delegates *delegates_new(const char *path, char *error, size_t room);
void delegates_free(struct delegates **delegates);
/* The extender that the bind names first, and the route to it until it is released; NULL: the file
 * does not say what the bind is about. */
const struct extender_config *delegates_find(struct delegates *delegates, const struct bind *bind,
                                             uint32_t *route);
void delegates_release(struct delegates *delegates, uint32_t route);
struct talk *delegates_talk(struct delegates *delegates, uint32_t route);
/* For the actor loop: readable when something came. */
int delegates_fd(const struct delegates *delegates);
void delegates_work(struct delegates *delegates, struct moment now);
struct moment delegates_deadline(const struct delegates *delegates, struct moment now);
void delegates_status(const struct delegates *delegates, struct buffer *lines);

#endif
