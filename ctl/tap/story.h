/* story: what was said about one pod, as blocks in order of time: one an attempt, and one for what
 * was said between two. Pure: from frames to text, so that live taps, recordings and tests go
 * through the same code. */
#ifndef CTL_TAP_STORY_H
#define CTL_TAP_STORY_H

#include "ctl/tap/view.h"

/* How far behind the newest frame a block has to be to be told: taps are heard one after another.
 */
#define STORY_BEHIND_US 300000

struct story_options {
    bool json;
    bool nodes;          /* name nodes, as far as messages do */
    int64_t patience_us; /* an attempt that takes longer is told in parts; 0: never */
};

struct story;

struct story *story_new(const struct story_options *options);
void story_free(struct story **story);

/* Takes the frame that the view looks at, and that belongs to its filter's pod; tapped is the frame
 * as it was mirrored, which is kept. shown: filters let it pass; others only tell where attempts
 * begin and end. missed: frames that were missed before it. */
struct story_frame {
    struct str tapped;
    bool shown;
    uint32_t missed;
};
void story_take(struct story *story, struct tap_view *view, const struct story_frame *frame);

enum story_step {
    STORY_nothing, /* no block is complete */
    STORY_between, /* a block was told, or left out, that is no attempt */
    STORY_attempt
};

/* Appends the next block that is complete as of that time; INT64_MAX: no more frames come, and all
 * are. Blocks of which filters let no message pass, or in which none fulfils the query, are left
 * out: then out is as it was. The view decodes frames for it, and afterwards looks at another. */
enum story_step story_next(struct story *story, struct tap_view *view, int64_t until_us,
                           struct buffer *out);

#endif
