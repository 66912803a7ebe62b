/* gang: groups of pods that are placed together or not at all: one transaction over the decisions
 * of their members (gangs.md). */
#ifndef SCHEDULER_COORDINATOR_GANG_H
#define SCHEDULER_COORDINATOR_GANG_H

#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/gang_try.h"

/* ---- gang.c: the transaction ---- */

void gang_free(struct coordinator *c);
/* A group of the queue's is to be tried; it takes its turn as a pod does. */
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

/* ---- gang_end.c: how it ends ---- */

/* Enough have a place: all of these are bound, the others fail. */
void gang_commit(struct coordinator *c, struct gang_try *g);
/* Enough would have a place: victims are evicted, members nominated. Nothing is assumed any more.
 */
void gang_evict(struct coordinator *c, struct moment now, struct gang_try *g);
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
