/* active: the pods to be tried now, best first. */
#ifndef QUEUE_ACTIVE_H
#define QUEUE_ACTIVE_H

#include "queue/entry.h"

struct active {
    struct heap *heap; /* of struct entry, by rank_entry_before */
};

void active_init(struct active *a);
void active_free(struct active *a); /* the entries are the caller's */
void active_add(struct active *a, struct entry *e);
void active_remove(struct active *a, struct entry *e);
/* The pod was replaced: its priority may differ. */
void active_fix(struct active *a, struct entry *e);
size_t active_count(const struct active *a);

#endif
