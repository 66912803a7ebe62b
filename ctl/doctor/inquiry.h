/* inquiry: a lasting conversation with all doors of an instance about what they hold. */
#ifndef CTL_DOCTOR_INQUIRY_H
#define CTL_DOCTOR_INQUIRY_H

#include "ctl/asking.h"

/* Somebody who holds something, and his last answer; what it points to lives until the next
 * question. */
struct told {
    struct address from; /* peer 0: is not there, or is nobody who holds anything */
    struct str name;     /* the door's, such as worker-1 */
    bool own;            /* the worker inside a scheduler, whose door and peer it has */
    bool answered, torn; /* torn: a part was lost */
    struct holdings said;
    struct held_thing *things; /* of the set that was asked for */
    uint32_t count, room;
    struct arena memory;
};

struct inquiry {
    struct asking *asking; /* whose doors and time there is */
    struct bus *bus;
    struct told
        told[BUS_PEERS_MAX + 1]; /* by door; behind them the worker in a scheduler, if any */
    size_t count;
    int64_t id;
    struct strs schedulers; /* whose pods without a node are asked about; borrowed */
    /* Hears what else comes; from is NULL when it is of no door. */
    void (*hear)(void *context, struct told *from, const struct delivery *in);
    void *context;
};

/* Zero-initialise; hear and context may be set. Connects, and waits for everybody, but no longer
 * than asking.wait. False: it was said why nobody can be asked. */
bool inquiry_open(struct inquiry *t, struct asking *asking);
/* Asks whoever is of these kinds, and waits for the answers, but no longer than asking.wait; list:
 * the set whose things are wanted, empty = none. */
void inquiry_ask(struct inquiry *t, unsigned kinds, struct str list);
void inquiry_send(struct inquiry *t, const struct told *to, const struct message *m);
/* Until it is done or the deadline has come; done may be asked at any time. */
void inquiry_converse(struct inquiry *t, struct moment deadline,
                      bool (*done)(const struct inquiry *t));
/* For so long, while links are kept. */
void inquiry_pause(struct inquiry *t, struct span pause);
/* The one of that kind that has answered, NULL: none. */
struct told *inquiry_of(struct inquiry *t, enum process kind);
/* What it holds of the set; NULL: it said nothing of it. */
const struct held_set *told_set(const struct told *told, struct str set);
void inquiry_close(struct inquiry *t);

#endif
