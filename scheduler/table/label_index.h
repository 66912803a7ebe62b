/* label_index: which of many things a node comes into question for, by its labels.
 *
 * Things are numbered; most of them ask for one label, as local volumes ask for their node's name.
 * Looked at one by one for each node they cost their number times the nodes. Here a node finds
 * those that ask for a label it has, and those that ask for none, in the order of their numbers.
 * Whether one really suits is still to be asked. */
#ifndef SCHEDULER_TABLE_LABEL_INDEX_H
#define SCHEDULER_TABLE_LABEL_INDEX_H

#include "scheduler/table/nodes.h"

struct label_index;

/* All from the arena, nothing to free; room: how often something is added, at most. */
struct label_index *label_index_make(uint32_t room, struct arena *a);
/* This one asks for the label; added with several, for one of them. A key or value 0 is nobody's.
 */
void label_index_add(struct label_index *x, uint32_t number, struct node_label label);
/* This one asks for no label. */
void label_index_add_any(struct label_index *x, uint32_t number);
/* All are added: from here on it may be asked. */
void label_index_end(struct label_index *x);

#define LABEL_INDEX_NONE UINT32_MAX
/* The least number, not less than from, that the labels (sorted by key atom) do not rule out, or
 * LABEL_INDEX_NONE. */
uint32_t label_index_next(const struct label_index *x, const struct node_label *labels,
                          uint32_t count, uint32_t from);

#endif
