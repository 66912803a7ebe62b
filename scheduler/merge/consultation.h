/* consultation: the way of a question to plugins on the bus about one pod: whose turn it is, what
 * an answer means, and what comes behind it. Pure; who asks them, and waits for them, is the
 * coordinator's consulting.c, or `berth simulate`. */
#ifndef SCHEDULER_MERGE_CONSULTATION_H
#define SCHEDULER_MERGE_CONSULTATION_H

#include "scheduler/cluster/cache.h"
#include "scheduler/merge/extension.h"
#include "scheduler/merge/reduce.h"

/* The plugin of that name that the profile has on the bus; NULL: it has none. */
const struct bus_plugin *bus_plugin_of(const struct profile *profile, struct str name);
/* Whether it has a say about nodes, filters them, has one about the pod alone, or any at all at the
 * scheduler's door: one that only the queue or the binder asks has none. */
struct bus_plugin_says {
    bool nodes, filters, pod, any;
};
struct bus_plugin_says bus_plugin_says(const struct profile *profile, struct str name);

/* The question that a cycle ended with begins, before the next reduce_start: nodes, sorted, are in
 * the arena if they are not the cycle's. False: it cannot be asked yet, since a cycle has to find
 * out first why each node is no good. Candidates are copied. */
bool consultation_open(struct extension *e, const struct reduce_extend *q,
                       const struct cache *cache, struct strs *nodes, struct arena *a);
/* The same about these nodes, of which a copy is kept: the first stage begins. */
void consultation_begin(struct extension *e, const struct profile *p, const struct strs *nodes);

/* Who is asked. */
struct consultation_turn {
    const struct bus_plugin *plugin;
    enum plugin_step step;
    const struct strs *nodes;
    const struct extension_no_node *why_not; /* of each of these nodes; NULL: they are feasible */
};
/* The plugin whose turn it is in this stage, from the place on where it is. False: the stage is
 * over. */
bool consultation_turn(struct extension *e, const struct profile *p, struct consultation_turn *t);
/* Who that was, while nobody else's turn has come; NULL: who stands there is none on the bus. */
const struct bus_plugin *consultation_plugin(const struct extension *e, const struct profile *p);
/* The plugin whose turn it is has answered, or failed: the next one in the list. */
void consultation_pass(struct extension *e);
/* What comes behind this stage; false: nothing, and the question is answered. */
bool consultation_next_stage(struct extension *e);
/* Candidates whose nodes the plugins' filters did not leave are none any more. */
void consultation_narrow_candidates(struct extension *e);
/* The question is answered. */
void consultation_end(struct extension *e);

/* Takes the answer in of whose turn it is. Empty, or what is wrong with it, in the extension's
 * arena; then nothing has changed. */
struct str consultation_take(struct extension *e, const struct profile *p,
                             const struct plugin_answer *said);
/* The extension point that is asked at, and the answer that was taken in, in upstream's words. */
const char *consultation_point(const struct extension *e);
const char *consultation_status(const struct extension *e, const struct plugin_answer *said);

#endif
