/* lease: leader election on a coordination.k8s.io/v1 Lease, as client-go does it, with a faster
 * takeover and a term.
 *
 * Every write carries the resourceVersion it was decided on, so the API server lets one of several
 * candidates win. Expiry is judged by when this process saw the record change, never by the times
 * written in it. */
#ifndef BINDER_LEASE_H
#define BINDER_LEASE_H

#include "binder/handover.h"
#include "binder/lanes.h"

/* So many changes of leader at most can somebody know of that neither the lease nor we know of. */
#define LEASE_STEP_MAX (1 << 20)

struct lease_options {
    bool elect;                 /* false: lead from the start, without a lease */
    const char *namespace_name; /* strings are borrowed */
    const char *name;
    const char *identity;
    struct span duration, renew_deadline, retry_period;
    uint64_t seed;  /* of the jitter */
    uint32_t falls; /* how often former lives of ours ended uncleanly within the last minute */
};

struct lease;

/* NULL when the options are good, else one line that names the field. */
const char *lease_options_wrong(const struct lease_options *options);

struct lease *lease_new(const struct lease_options *options, struct lanes *lanes,
                        struct instant at);
void lease_free(struct lease **lease);
/* Does what is due; returns when it wants to be called next. Call lanes_pump afterwards. */
struct moment lease_tick(struct lease *lease, struct instant at);

bool lease_leading(const struct lease *lease);
/* True when we lead and whatever a former leader, or our own former life, had sent has had all the
 * time that it may take: from here on something may be decided. */
bool lease_settled(const struct lease *lease);
/* How long until then; 0 when it is so, or we do not lead. */
struct span lease_settles_in(const struct lease *lease, struct moment now);
/* Of the lease we hold; after losing it the last one; 0 before the first. */
int64_t lease_term(const struct lease *lease);
struct str lease_holder(const struct lease *lease); /* as last observed */
struct str lease_uid(const struct lease *lease);
struct str lease_version(const struct lease *lease);
/* Why it was lost last; "" when never. */
const char *lease_lost_why(const struct lease *lease);
/* Until when we lead without a further renewal; 0 when not leading. */
struct moment lease_deadline(const struct lease *lease);
/* The fence: how long from `at` on a write may last so that it ends before anybody else could hold
 * the lease; 0 when none may begin. By the worse of both clocks. */
struct span lease_left(const struct lease *lease, struct instant at);
/* A scheduler says in its hello that it knows this term; the last one's counts. Ours becomes
 * greater, with a lease by its next write. Without one the first hello may tell of our own former
 * life, so that the same term is passed, too; later ones have it from us. What is more than
 * LEASE_STEP_MAX above what we and the lease know is left alone, counted and logged once. */
void lease_hear_term(struct lease *lease, int64_t term);
uint64_t lease_terms_refused(const struct lease *lease);

/* Whether this instance could lead, and why it should not (NULL: it may; borrowed until the next
 * call). A leader that should not gives the lease up, by not renewing it, when a standby says that
 * it is ready (handover.h); then it does not take it for two lease durations. */
void lease_set_fitness(struct lease *lease, bool ready, const char *sick);

/* Gives the lease back (once), or gives up trying for it. From here on the fence is closed. Who has
 * not settled does not give it back but leaves it. */
void lease_release(struct lease *lease, struct instant at);
/* Stops renewing and leaves the record as it is, so that the next leader waits for what we may have
 * under way. lease_released is true at once. */
void lease_leave(struct lease *lease);
bool lease_released(const struct lease *lease);
/* Tells of the last 403, once: verb of the rule that is missing, or NULL. */
const char *lease_forbidden(struct lease *lease);

#endif
