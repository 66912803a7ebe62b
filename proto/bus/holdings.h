/* holdings: how a process says what it holds (message 116): each set as a digest that needs no
 * order, and the things of one set by name, in parts. */
#ifndef PROTO_BUS_HOLDINGS_H
#define PROTO_BUS_HOLDINGS_H

#include "proto/bus/delivery.h"
#include "proto/bus/outbox.h"

#define HELD_SETS_MAX 48

/* An answer that is being put together; what it points to is its own. */
struct holder {
    struct holdings said; /* whole, epoch, sequence and serves are the owner's to set; borrowed */
    const struct holdings_request *asked;
    struct outbox *out;
    struct address to;
    struct held_set sets[HELD_SETS_MAX];
    struct held_thing *things;
    bool lists; /* things of the set at hand are named */
    struct arena memory;
};

/* in is a holdings_request, and lives until holder_end. */
void holder_begin(struct holder *h, const struct delivery *in, struct outbox *out);
/* What is added from now on is of this set; the name is borrowed until holder_end. More than
 * HELD_SETS_MAX sets: a fault of the program. */
void holder_set(struct holder *h, struct str name);
/* One more. Strings are borrowed for the call. */
void holder_add(struct holder *h, const struct held_thing *thing);
/* Sends the last part and frees what there is. */
void holder_end(struct holder *h);
/* Whether pods without a node that name this scheduler are asked for. */
bool holder_wants(const struct holder *h, struct str scheduler);

/* A set without things, by its name. */
struct held_set held_set_of(struct str name);
/* Counts a thing in. */
void held_set_add(struct held_set *set, const struct held_thing *thing);

#endif
