/* reserving: a pod's resource claims before its Binding, and after a bind that failed.
 *
 * As upstream's PreBind of DynamicResources: each claim is given its devices and reserved for the
 * pod, a claim for its extended resources is made, and where devices have to be made ready first
 * they are waited for. What a failed bind leaves behind is told one by one, to be taken back. */
#ifndef BINDER_RESERVING_H
#define BINDER_RESERVING_H

#include "binder/prebind.h"

struct reserving;

bool reserving_needed(const struct bind *bind);
/* ended() comes once, with ready or why not; the reserving stays, as it knows what is to be taken
 * back. bind is borrowed. */
struct reserving *reserving_new(const struct prebind_options *options, const struct bind *bind);
void reserving_free(struct reserving **reserving, struct instant at);
/* Begins, or waits for its turn. first: the lane may refuse it, which gives false. */
bool reserving_begin(struct reserving *reserving, struct instant at, bool first);
/* As prebind_cancel. */
bool reserving_cancel(struct reserving *reserving, struct instant at);

/* What is to be taken back, one after another from *place on (0 at first). False: nothing more.
 * Strings are borrowed. */
bool reserving_left(const struct reserving *reserving, uint32_t *place,
                    struct claim_release *release);
/* The special claim has been deleted again. */
void reserving_unmade(struct reserving *reserving);
/* Into a bind_result: which allocations were written or may have been. Strings are borrowed. */
void reserving_tell(struct reserving *reserving, struct bind_result *result, struct arena *a);

#endif
