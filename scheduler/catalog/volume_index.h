/* volume_index: which volumes could be a waiting claim's: those that name it, and those of its
 * class that name no claim. So that a claim costs what there is for it, however many volumes others
 * have.
 *
 * The catalog stays the owner of the volumes: each stands here as a pointer of the catalog's
 * choice. */
#ifndef SCHEDULER_CATALOG_VOLUME_INDEX_H
#define SCHEDULER_CATALOG_VOLUME_INDEX_H

#include "proto/messages.h"

struct volume_index;
struct volume_link; /* one volume's place */

struct volume_index *volume_index_new(void);
/* All links must have been taken out. NULL is allowed; nulls the caller's pointer. */
void volume_index_free(struct volume_index **x);

/* owner, not NULL, comes back from the walks. The link is the caller's, to be taken out while the
 * record still says what it said. */
struct volume_link *volume_index_put(struct volume_index *x, const struct volume *v, void *owner);
/* Frees the link and nulls the caller's pointer; NULL is allowed. */
void volume_index_take_out(struct volume_index *x, const struct volume *v,
                           struct volume_link **link);

/* Where a walk is; {0} begins one. Nothing may be put or taken out during it. */
struct volume_walk {
    const struct volume_link *at;
    bool begun, among_free;
};
/* The owner of the next volume that could be the claim's, in no particular order; NULL behind the
 * last. */
void *volume_index_next(const struct volume_index *x, const struct claim *claim,
                        struct volume_walk *walk);

#endif
