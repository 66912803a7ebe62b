/* log_pods: pods of which everything is logged for a while, whatever the level in force: each line
 * that names one of them, by namespace and name or by UID. At most LOG_PODS_MAX, each for an hour
 * at most; while there is none it costs a look at a number. */
#ifndef LOG_PODS_H
#define LOG_PODS_H

#include "proto/base/moment.h"
#include "proto/base/str.h"

#include <stdbool.h>

#define LOG_PODS_MAX      16
#define LOG_PODS_MOST_MS  3600000
#define LOG_PODS_NAME_MAX 320 /* bytes of NAMESPACE/NAME; 63 and 253 are the most */

/* From now on until then; one that is there already gets the new end. for_ms 0: no more. False:
 * there are as many as there may be, or a name is empty or too long, or the time is out of range.
 */
bool log_pods_watch(struct str namespace_name, struct str name, int64_t for_ms, struct moment now);
/* Forgets those whose time is over; returns how many that were, which have been said in the log. */
unsigned log_pods_expire(struct moment now);
unsigned log_pods_count(void);
/* Whether the text has one's namespace/name or UID, not as a part of a longer word. */
bool log_pods_in(const char *text);
/* An object with this UID and these names: whether it is one of them. Learns its UID. */
bool log_pods_is(struct str namespace_name, struct str name, struct str uid);
/* Forgets all, for tests. */
void log_pods_reset(void);

#endif
