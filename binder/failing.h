/* failing: the preemptor whose evictions fail again and again, for whoever asks; pure. Its pod's
 * status does not say so, as upstream's, and each failure alone may be a conflict that passes. */
#ifndef BINDER_FAILING_H
#define BINDER_FAILING_H

#include "proto/base/buffer.h"
#include "proto/base/moment.h"
#include "proto/messages.h"

/* One at a time: whoever failed first, as long as it goes on failing. Zero-initialise. */
struct failing {
    char uid[64], pod[320], why[512]; /* pod: NAMESPACE/NAME; longer texts are cut */
    int64_t times;                    /* one after the other; 0: nobody */
    struct moment first, last;
};

/* How a preemption for the pod has ended; problem: why not well, else "". */
void failing_note(struct failing *f, struct moment now, const struct pod *pod, const char *problem);
/* A line "preempts_failing=…" of a status, if there is somebody who has failed twice or more. */
void failing_print(const struct failing *f, struct moment now, struct buffer *lines);

#endif
