/* comparison: watcher, queue, scheduler, workers and, where it is asked for, the API server beside
 * each other: digests first, and the names where these differ. */
#ifndef CTL_DOCTOR_COMPARISON_H
#define CTL_DOCTOR_COMPARISON_H

#include "ctl/doctor/api.h"
#include "ctl/doctor/differences.h"
#include "ctl/doctor/inquiry.h"

#define COMPARISON_PAUSE_MS 1000 /* between two looks */

/* One of them as it was in the last look; strings live until the next. */
struct compared {
    struct str name;
    enum process kind; /* 0: it is not known who is behind that door */
    bool holds;        /* it is one of those that are compared */
    bool answered;
    struct holdings said;
};

/* What the watcher lists at the API server. */
struct listed {
    struct str path;
    struct str failed; /* why it could not be listed, in whichever look; empty: it could */
};

/* Zero-initialise, then asking_init. */
struct comparison {
    struct asking asking;
    struct inquiry inquiry;
    struct api *api; /* NULL: it is not asked */
    struct differences differences;
    struct compared *compared; /* by door */
    size_t count;
    uint32_t looks;
    uint64_t api_things;    /* what the API server has shown when all was listed */
    struct buffer problems; /* lines: why something could not be compared */
    struct arena memory, look_memory;
    struct listed *listed;
    uint32_t listed_count;
    uint32_t listed_in;      /* the look in which all was listed; 0: none was */
    int64_t epoch, sequence; /* of the watcher, in the first look */
};

/* Why that one could not be compared in the last look; NULL: it was. */
const char *comparison_lacks(const struct comparison *c, const struct compared *one);
/* Connects, unless the inquiry is open. Looks until nothing differs, or what differs is settled.
 * False: it was said why nothing can be compared. */
bool comparison_run(struct comparison *c);
/* Has read anew what settled differences are about, by whoever differs, and looks until they are
 * gone, but no longer than limit. */
void comparison_heal(struct comparison *c, struct span limit);
/* Why something at the API server could not be compared, one line each; none: all was, or it is not
 * asked. From memory. */
struct strs comparison_api_lacks(const struct comparison *c, struct arena *a);
/* The set is one that could not be listed there in the last look. */
bool comparison_is_lost(const struct comparison *c, struct str set);
/* How a difference is said, from memory. */
struct str comparison_text(const struct difference *one, struct arena *a);
void comparison_free(struct comparison *c);

#endif
