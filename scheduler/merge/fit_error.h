/* fit_error: upstream's words for "no node will do". */
#ifndef SCHEDULER_MERGE_FIT_ERROR_H
#define SCHEDULER_MERGE_FIT_ERROR_H

#include "proto/messages.h"

/* Reasons and on how many nodes; zero-initialise, gone with the arena. */
struct histogram {
    struct arena *arena;
    uint32_t count, room;
    struct tally *at;
};

/* The text is borrowed. count 0 adds nothing. */
void histogram_add(struct histogram *h, struct str text, int64_t count);
/* `3 Insufficient cpu, 1 node(s) were unschedulable`, sorted as strings. */
struct str histogram_text(const struct histogram *h);

/* `0/N nodes are available:`, then ` <pre_filter>.` if that is not empty, else ` <histogram>.` if
 * that is not empty, then ` <post_filter>` if that is not empty. */
struct str fit_error(int64_t nodes, struct str pre_filter, const struct histogram *h,
                     struct str post_filter);
/* The words for the nodes that nobody looked at, as these plugins have ruled them out. Upstream
 * adds who rejected the nominated node, which it tries first; empty: nobody. */
struct str fit_absent(const struct strs *by, struct str nominated_plugin, struct arena *arena);

#endif
