/* gang: groups of pods that are placed together or not at all: one transaction over the decisions
 * of their members (gangs.md). */
#ifndef SCHEDULER_COORDINATOR_GANG_H
#define SCHEDULER_COORDINATOR_GANG_H

#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/gang_try.h"

/* ---- gang.c: the transaction ---- */

void gang_free(struct coordinator *c);
/* A group of the queue's is to be tried; it takes its turn as a pod does. One whose tree is
 * malformed is not: as one plain group it might be bound in part. */
void gang_take(struct coordinator *c, struct moment now, const struct gang_attempt *attempt);
/* True when some member is being tried already, so that what is under way has to be abandoned
 * before the group is taken. */
bool gang_has_former(const struct coordinator *c, const struct gang_attempt *attempt);
/* The next flight to be decided, at the head of the line; NULL: nobody for now. While a transaction
 * is under way that is a member; one that has come to its end is ended here. */
struct flight *gang_next(struct coordinator *c, struct moment now);
/* A member is assumed on a node: it is bound with the others, or not at all. */
void gang_placed(struct flight *f);
/* A member has no node. It is passed over, or given room in the place of others. */
void gang_reject(struct coordinator *c, struct flight *f, const struct decision *d);
/* A member, if it is one, that somebody else has bound already. */
void gang_is_known(struct flight *f);
/* Gives the transaction up, if one is under way, and nothing else is: its group is the next to be
 * tried, and nothing is left of what was decided. */
void gang_abandon(struct coordinator *c);
/* All places are given back, all victims are there again; the transaction's state is that before
 * it, but for the members' own. */
void gang_undo(struct coordinator *c, struct gang_try *g);

/* One member's place is given back: it is passed over. The try's counts are the caller's. */
void gang_undo_place(struct coordinator *c, struct gang_place *m);
/* All places are given back, and all members are the next to be decided, with the same dice. */
void gang_place_anew(struct coordinator *c, struct gang_try *g);
/* These members, if they have not left, are the next to be decided, in order; they were passed over
 * and count as waiting from now on. */
void gang_line_up(struct coordinator *c, struct gang_try *g,
                  bool (*who)(const struct gang_place *m));

/* ---- gang_whole.c: room for a group as one, since 1.37 ---- */

/* Nobody is left to be decided in its phase, or it does not matter any more. */
bool gang_whole_is_over(const struct gang_try *g);
/* A member has a place, or none, in a phase behind the first. */
void gang_whole_placed(struct flight *f);
void gang_whole_rejected(struct flight *f);
/* What comes behind a phase in which it did not get the room it needs. False: it has ended. */
bool gang_whole_goes_on(struct coordinator *c, struct moment now, struct gang_try *g);
/* Who was taken for gone is there again, and members are nominated as they were. */
void gang_whole_undo(struct gang_try *g);

/* ---- gang_end.c: how it ends ---- */

/* Enough have a place: all of these are bound, the others fail. */
void gang_commit(struct coordinator *c, struct gang_try *g);
/* Enough would have a place: victims are evicted, members nominated. Nothing is assumed any more.
 */
void gang_evict(struct coordinator *c, struct moment now, struct gang_try *g);
/* Those that it has evicted are still going: everybody waits. Nothing is assumed any more. */
void gang_wait(struct coordinator *c, struct moment now, struct gang_try *g);
/* Too few have a place: everybody fails. Nothing is assumed any more. */
void gang_fail(struct coordinator *c, struct moment now, struct gang_try *g);
/* Everybody comes again, and nobody is told. */
void gang_give_back(struct coordinator *c, struct gang_try *g, enum outcome_result result);
/* A group cannot be tried yet: tells those whom it concerns. */
void gang_waits(struct coordinator *c, const struct gang_waits *waits);

/* ---- gang_claims.c: nominations of groups ---- */

/* The group's members may keep their nominations until its schedule timeout is over. With renew
 * that begins now, else only when it is not running. */
void gang_claims_keep(struct coordinator *c, struct moment now, const struct gang_try *g,
                      bool renew);
/* The watch shows a nomination of a group's member that was not known here. */
void gang_claims_adopt(struct coordinator *c, struct moment now, const struct pod *pod);
/* A late member makes room by itself: that time begins now. */
void gang_claims_late(struct coordinator *c, struct moment now, const struct pod *pod);
/* A term begins: all nominations of groups have their full time from now on. */
void gang_claims_restart(struct coordinator *c, struct moment now);
/* It has none any more, or they are its pods' own. */
void gang_claims_drop(struct coordinator *c, const struct gang *group);
/* Gives back the nominations whose time is over. */
void gang_claims_look(struct coordinator *c, struct moment now);
void gang_claims_free(struct coordinator *c);
/* Groups whose nominations are known. */
uint32_t gang_claims_count(const struct coordinator *c);

#endif
