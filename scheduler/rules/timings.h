/* timings: what plugins take in a worker. One decision in TIMED_ONE_IN is timed, call by call, with
 * upstream's metric scheduler_plugin_execution_duration_seconds; all others only ask whether they
 * are, by a pointer that is NULL then. All functions take that pointer.
 *
 * The clock is read once a call: each takes the time since it was read last. */
#ifndef SCHEDULER_RULES_TIMINGS_H
#define SCHEDULER_RULES_TIMINGS_H

#include "scheduler/rules/ruling.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct framework;
struct moment;
struct plugin;
struct timed_parts;
struct timings;

/* So that a decision of which every call is timed, and takes a third longer for that, costs one in
 * a hundred on average. */
#define TIMED_ONE_IN 32

enum timed_point { TIMED_PreFilter, TIMED_Filter, TIMED_PreScore, TIMED_Score, TIMED_Normalize };

/* What a decision consists of, as in the record timed_parts. */
enum timed_part { PART_pre_filter, PART_filter, PART_pre_score, PART_score, TIMED_PARTS };

struct timings *timings_new(struct moment (*clock)(void));
void timings_free(struct timings **t);

/* A decision begins, with what comes before its filters. True: it is to be timed, and everything
 * below is called until its end. The first one is. */
bool timings_begin(struct timings *t);
/* The profile whose plugins are asked; borrowed until the end. */
void timings_profile(struct timings *t, const struct framework *fw);
/* It ends; what its parts took. */
void timings_end(struct timings *t, struct timed_parts *out);

/* What follows belongs to this part, whoever is asked. */
void timings_read_part(struct timings *t, enum timed_part part);
/* What follows is a call. */
void timings_read_start(struct timings *t);
/* The plugin was asked about so many nodes, and said this of each. */
void timings_read_call(struct timings *t, enum timed_point point, const struct plugin *p,
                       enum code code, uint32_t nodes);
/* The same of a filter's loop, which is over; some nodes were rejected, with the code of the first.
 */
void timings_read_loop_end(struct timings *t);
void timings_loop(struct timings *t, const struct plugin *p, uint32_t nodes, uint32_t rejected,
                  enum code code);
/* The plugin did a part of what it does once a decision; what skips had nothing to do. Not seen
 * when the profile does not list it at the point. */
void timings_read_once(struct timings *t, enum timed_point point, const struct plugin *p,
                       bool skips);

/* The same where nothing is timed mostly. */
static inline void timings_part(struct timings *t, enum timed_part part)
{
    if (t != NULL)
        timings_read_part(t, part);
}

static inline void timings_start(struct timings *t)
{
    if (t != NULL)
        timings_read_start(t);
}

static inline void timings_call(struct timings *t, enum timed_point point, const struct plugin *p,
                                enum code code, uint32_t nodes)
{
    if (t != NULL)
        timings_read_call(t, point, p, code, nodes);
}

static inline void timings_once(struct timings *t, enum timed_point point, const struct plugin *p,
                                bool skips)
{
    if (t != NULL)
        timings_read_once(t, point, p, skips);
}

#endif
