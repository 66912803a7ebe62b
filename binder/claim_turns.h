/* claim_turns: binds that write the same resource claim do so one after another.
 *
 * Whoever comes while another one writes waits until that one has ended, and is then handed the
 * claim as the API server last answered it, so that it need not be read and nobody's write is
 * refused because of another of ours. Nothing is kept of a claim that nobody waits for. */
#ifndef BINDER_CLAIM_TURNS_H
#define BINDER_CLAIM_TURNS_H

#include "binder/api.h"
#include "proto/base/buffer.h"

struct claim_turns;
struct claim_line;

/* Embedded; zero-initialise, then set begin and owner. */
struct claim_turn {
    /* Its turn has come; called from within the end of another's. */
    void (*begin)(struct claim_turn *turn, struct instant at);
    void *owner;
    /* claim_turns' own */
    struct claim_line *line; /* NULL: in none */
    struct claim_turn *next;
};

/* At most waiting_max wait for their turns, in all lines together. */
struct claim_turns *claim_turns_new(uint32_t waiting_max);
/* All turns must have ended. */
void claim_turns_free(struct claim_turns **turns);

enum claim_turn_answer { CLAIM_TURN_now, CLAIM_TURN_later, CLAIM_TURN_full };

/* May it write this claim? Later: begin() is called then. */
enum claim_turn_answer claim_turns_take(struct claim_turns *turns, struct claim_turn *turn,
                                        struct str namespace_name, struct str claim);
/* It writes no more, or waits no more; nothing happens when it is in no line. left: the claim as it
 * is now, as the API server has just answered it; empty: nobody knows. */
void claim_turn_end(struct claim_turn *turn, struct instant at, struct str left);
/* The claim as the one before has left it; empty: to be read. Borrowed until the turn ends. */
struct str claim_turn_document(const struct claim_turn *turn);

#endif
