/* filing: what a waiting pod is filed under for a row of plugins.def, and where an event looks.
 *
 * Both sides give tokens, hashes of what they speak of: a label, a claim's name, a port. The
 * promise that makes the index right: when a hint says yes for a pod and an event, then one of them
 * gave all, or they have a token in common. The other way round nothing is promised, so the hint
 * still decides. test_hints.c holds this to the answers of upstream's own functions. */
#ifndef QUEUE_FILING_H
#define QUEUE_FILING_H

#include "queue/event.h"

#define TOKENS_MAX 512

/* Zero-initialise. */
struct tokens {
    bool all;       /* of a pod: look at it whatever happens; of an event: look at all pods */
    uint32_t count; /* when it would be more than TOKENS_MAX, all is set instead */
    uint64_t at[TOKENS_MAX];
};

struct filing {
    /* NULL: the hint does not look at the pod, unless its resize is deferred; so it is asked once
     * for all others. */
    void (*file)(const struct pod *pod, struct tokens *out);
    /* The event is about objects other than waiting pods; it matches the row. */
    void (*seek)(const struct event *event, struct tokens *out);
};

/* The hint looks at the event alone. */
extern const struct filing filed_together;
/* It can only be about the pod that changed itself, which is asked apart. */
extern const struct filing filed_nowhere;

/* Of pods whose resize is deferred, the node that they are on; others nowhere. */
extern const struct filing filed_by_own_node;

/* filing.c */
extern const struct filing filed_by_toleration, filed_by_request, filed_by_resource, filed_by_port,
    filed_by_disk, filed_by_claim_used, filed_by_claim_named, filed_by_driver,
    filed_by_inline_driver, filed_by_devices, filed_by_class;
/* filing_terms.c */
extern const struct filing filed_by_node_terms, filed_by_spread_pods, filed_by_spread_keys,
    filed_by_affinity_pods, filed_by_affinity_keys;

/* A token of this kind for one or two texts; an empty second one is as good as none. */
uint64_t token_of(char kind, struct str a, struct str b);
void tokens_add(struct tokens *t, uint64_t token);

#endif
