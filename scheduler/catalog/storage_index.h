/* storage_index: which pods and which nodes workers must be told of anew when a claim, a volume, a
 * class, a CSINode or a VolumeAttachment changes, so that a change costs what it touches. And what
 * workers are told of a node's storage.
 *
 * The catalog stays the owner of the objects; here is only who depends on which. */
#ifndef SCHEDULER_CATALOG_STORAGE_INDEX_H
#define SCHEDULER_CATALOG_STORAGE_INDEX_H

#include "scheduler/catalog/catalog.h"

struct storage_index;
struct storage_links; /* one pod's claims */

/* The catalog is borrowed, and is told how often claims are used. */
struct storage_index *storage_index_new(struct catalog *catalog);
/* All links must have been dropped. */
void storage_index_free(struct storage_index **s);

/* The pod's claims; owner comes back when one of them changes. NULL when it has none. */
struct storage_links *storage_index_link(struct storage_index *s, const struct pod *pod,
                                         void *owner);
/* NULL is allowed; *links is NULL afterwards. They must not count any more. */
void storage_index_unlink(struct storage_index *s, struct storage_links **links);
/* times is 1 when the pod is on a known node from now on, -1 when no longer: what the catalog says
 * of claims in use. NULL is allowed. */
void storage_index_count(struct storage_index *s, const struct storage_links *links, int times);

struct storage_touched {
    void *context;
    void (*pod)(void *context, void *owner); /* perhaps several times for one */
    void (*node)(void *context, struct str name);
};

/* Call it when the catalog has taken the message. */
void storage_index_take(struct storage_index *s, const struct message *m,
                        const struct storage_touched *touched);
/* Call it when the catalog has changed as a whole; all pods and nodes may be touched. */
void storage_index_refresh(struct storage_index *s);

/* What workers are told of a node; the same facts give the same message. From the arena. */
void storage_index_node(const struct storage_index *s, struct str node, struct shard_storage *out,
                        struct arena *a);

#endif
