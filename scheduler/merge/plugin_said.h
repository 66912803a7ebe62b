/* plugin_said: what an answer of a plugin on the bus means for the question under way, which the
 * extension knows. Pure.
 *
 * Each takes an answer whole or not at all: what is wrong with it comes back, empty where nothing
 * is, in the extension's arena, and then nothing has changed. */
#ifndef SCHEDULER_MERGE_PLUGIN_SAID_H
#define SCHEDULER_MERGE_PLUGIN_SAID_H

#include "scheduler/merge/extension.h"

/* PreFilter. */
struct str plugin_said_pre_filter(struct extension *e, const struct bus_plugin *plugin,
                                  const struct plugin_answer *said);
/* Filter: which nodes are no good. */
struct str plugin_said_filter(struct extension *e, const struct bus_plugin *plugin,
                              const struct plugin_answer *said);
/* PreScore. */
struct str plugin_said_pre_score(struct extension *e, const struct bus_plugin *plugin,
                                 const struct plugin_answer *said);
/* PostFilter. */
struct str plugin_said_post_filter(struct extension *e, const struct plugin_answer *said);
/* Score, normalised if the answer wants that, with the plugin's weight. */
struct str plugin_said_score(struct extension *e, int64_t weight, const struct plugin_answer *said);
/* Reserve, or Permit; in the arena. */
struct str plugin_said_hold(const struct plugin_answer *said, enum plugin_step step,
                            struct arena *a);
/* Why it denies the pod there; empty: it does not. In its words, if it has some. */
struct str plugin_said_denial(const struct bus_plugin *plugin, const struct plugin_answer *said,
                              enum plugin_step step, struct arena *a);
/* It has failed, as why says, and its failures are not ignored: no node is left, the pod
 * is turned away, or there is nothing to be done for it. */
void plugin_said_nothing(struct extension *e, const struct bus_plugin *plugin, struct str why);

#endif
