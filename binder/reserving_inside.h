/* reserving_inside: the state of a bind whose claims are reserved, for reserving.c and reserved.c;
 * nobody else includes it. */
#ifndef BINDER_RESERVING_INSIDE_H
#define BINDER_RESERVING_INSIDE_H

#include "binder/claim_turns.h"
#include "binder/measure.h"
#include "binder/reserving.h"
#include "proto/base/arena.h"
#include "proto/kube/writes/writes.h"

/* What is known of a claim. */
struct held {
    struct str name, uid; /* in the reserving's memory; empty: not known yet */
    bool reserved;        /* for the pod itself, by us or before; or it may be */
    bool allocated;       /* by us; or it may be */
    bool made;            /* the special claim is there, or may be */
    bool waits;           /* its devices have conditions to wait for */
    uint32_t device_count;
    struct measured_device *devices; /* in the reserving's memory */
};

struct reserving {
    struct job job; /* first */
    struct prebind_options options;
    const struct bind *bind;
    struct claim_turn turn;  /* of the present claim, from its first request to its last */
    struct held *held;       /* one for each of device_claims, then the special claim's */
    uint32_t index, count;   /* of held */
    bool begun, cancelled;   /* cancelled: while a write was on the wire */
    bool unread;             /* what is put was made of a claim that was not read for it */
    bool finalizes;          /* what is put is the claim's finalizer, not its status */
    bool doubt;              /* a write of this claim's status, or its making, may have been done */
    bool json_only;          /* the server does not take claims in protobuf */
    bool rooms_told;         /* the pod's status says what claims take of the node, or may */
    int tries, waits;        /* of this claim; pauses in a row */
    struct moment give_up;   /* against a server that is busy or unreachable */
    struct moment deadline;  /* of waiting for devices, */
    struct moment began;     /* which began then */
    struct moment round;     /* when the present look began or is to begin */
    struct buffer body;      /* to be put */
    struct buffer text;      /* why it failed */
    struct arena memory;     /* of held */
    struct arena round_data; /* of one answer */
};

/* ---- reserved.c: which claim it is about ---- */

/* The one that index says: the last one is the special claim's. */
bool reserved_is_special(const struct reserving *r);
struct held *reserved_held(struct reserving *r);
struct str reserved_claim_name(const struct reserving *r);
/* Nothing of it is for this pod. */
bool reserved_is_unneeded(const struct reserving *r);
/* It is to be reserved for the pod's group, which keeps it if the bind fails. */
bool reserved_is_for_group(const struct reserving *r);
/* False: there is no claim left to look at. */
bool reserved_find(struct reserving *r);
/* What the claim is to be given; false: nothing. */
bool reserved_wanted(const struct reserving *r, struct device_allocation *allocation);
bool reserved_is_given(const struct reserving *r);
void reserved_path(const struct reserving *r, struct draft *draft, struct str name);

/* ---- reserved.c: what an answer shows of it ---- */

/* The claim in an answer, into round_data; false: it cannot be read. */
bool reserved_read(struct reserving *r, struct str body, struct resource_claim *claim);
bool reserved_same_devices(const struct resource_claim *claim,
                           const struct device_allocation *given);
void reserved_note_devices(struct reserving *r, const struct allocated_device *at, uint32_t count);
void reserved_note(struct reserving *r, const struct resource_claim *claim);
/* The claim has what the decision relied on. */
bool reserved_is_as_decided_on(const struct reserving *r, const struct resource_claim *claim);
bool reserved_was_ours(struct reserving *r, const struct resource_claim *claim);
/* The claim in the answer has the devices that it is to be given; this is asked of those alone that
 * are given to other pods, too. */
bool reserved_is_written(struct reserving *r, struct str object,
                         const struct device_allocation *given);

/* ---- reserved.c: what is written of it ---- */

/* The next write for the claim, as it was last seen, into body: first its finalizer, then the rest.
 */
enum writes_change reserved_next_write(struct reserving *r, struct instant at, struct str object);
/* The same for the claim as it was left by the bind before, or, where that is empty, as it came
 * with this one. False: it has to be read. */
bool reserved_write_unread(struct reserving *r, struct instant at, struct str left);

#endif
