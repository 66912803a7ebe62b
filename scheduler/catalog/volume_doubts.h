/* volume_doubts: volumes that were assumed for pods which are on their nodes. Mostly the binder has
 * written them, and the watch ends the assumption. But the watch may have shown such a pod before
 * the binder answered; then another leader may have bound it, with other volumes, and no newer
 * version of ours ever comes. */
#ifndef SCHEDULER_CATALOG_VOLUME_DOUBTS_H
#define SCHEDULER_CATALOG_VOLUME_DOUBTS_H

#include "proto/base/moment.h"
#include "scheduler/catalog/volume_reserve.h"

/* Those in doubt, in the order in which they came. Zero-initialise: none. */
struct volume_doubts {
    struct volume_doubt *first, *last;
};

/* Nobody owes an answer about r any more; a copy is kept, and r is emptied. */
void volume_doubts_add(struct volume_doubts *d, struct reservation *r, struct moment now);
/* Gives up what is still assumed though it has been in doubt for ten seconds: a watch shows what
 * was written long before that, and if not, the binder finds out. True: that was something; no
 * object tells of it. */
bool volume_doubts_end(struct volume_doubts *d, struct catalog *catalog, struct moment now);
void volume_doubts_free(struct volume_doubts *d);

#endif
