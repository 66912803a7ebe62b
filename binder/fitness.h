/* fitness: can this instance schedule? Judged by its scheduler: whether it is there, and what it
 * says (readiness) each second. */
#ifndef BINDER_FITNESS_H
#define BINDER_FITNESS_H

#include "proto/base/moment.h"
#include "proto/base/str.h"

#include <stdbool.h>

#define FITNESS_PATIENCE_MS 10000 /* unready for so long: sick */
#define FITNESS_SILENCE_MS  5000  /* a scheduler that says nothing for so long is not ready */
#define FITNESS_FALL_MS     3000  /* unready for so long, or the scheduler lost: a fall */
#define FITNESS_STEADY_MS   2000  /* ready for so long: it may be relied upon */
#define FITNESS_WINDOW_MS   60000
#define FITNESS_FALLS       3 /* so many within the window: sick, though it may stand just now, */
#define FITNESS_TRUSTED_MS  20000 /* until it has been ready for so long */

struct fitness {
    bool ready, fallen;                 /* fallen: the present unreadiness is counted as a fall */
    struct moment since, heard;         /* since: as ready as it is */
    struct moment falls[FITNESS_FALLS]; /* the last ones; the oldest is overwritten */
    unsigned fall_count;                /* of all times */
    char lacks[64], text[128];
};

/* Not ready, from now on. */
void fitness_init(struct fitness *f, struct moment now);
/* What the scheduler says. */
void fitness_hear(struct fitness *f, struct moment now, bool ready, struct str lacks);
/* The link to it is lost. */
void fitness_lost(struct fitness *f, struct moment now);
/* Why this instance should not lead; NULL: it may. The text is valid until the next call. */
const char *fitness_sick(struct fitness *f, struct moment now);
/* True when it can take over at once. */
bool fitness_ready(struct fitness *f, struct moment now);

#endif
