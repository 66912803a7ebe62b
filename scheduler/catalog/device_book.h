/* device_book: which devices there are and whose they are, as the coordinator decides on it: slices
 * and classes from the watcher's stream, what claims have been given by their status, and what
 * decisions have given them that is not seen there yet.
 *
 * A claim, by its UID, is in flight from the decision that gave it devices until that is given up
 * (its bind failed), or until the watch shows devices of it: then what the watch says counts, once.
 * In between a bind may end without anybody knowing what the watch will show; such a claim is
 * settled: it waits for the watch, or for a barrier behind which there is nothing to wait for. */
#ifndef SCHEDULER_CATALOG_DEVICE_BOOK_H
#define SCHEDULER_CATALOG_DEVICE_BOOK_H

#include "proto/base/moment.h"
#include "proto/messages.h"
#include "scheduler/devices/devices.h"

struct device_book;

struct device_book *device_book_new(void);
void device_book_free(struct device_book **book);

/* The store, for searches; they end before the book is changed. */
struct devices *device_book_store(const struct device_book *book);
/* How much of everything there is in it. */
struct devices_totals device_book_totals(const struct device_book *book);

/* ---- from the stream ---- */

void device_book_slice(struct device_book *book, const struct resource_slice *slice);
void device_book_slice_gone(struct device_book *book, struct str name);
bool device_book_has_slice(const struct device_book *book, struct str name);
/* Around a snapshot: slices that are not set between the two do not exist any more. */
void device_book_snapshot_begin(struct device_book *book);
void device_book_snapshot_end(struct device_book *book);
void device_book_class(struct device_book *book, const struct device_class *class);
void device_book_class_gone(struct device_book *book, struct str name);
void device_book_taint_rule(struct device_book *book, const struct device_taint_rule *rule);
void device_book_taint_rule_gone(struct device_book *book, struct str name);
void device_book_claim(struct device_book *book, const struct resource_claim *claim);
void device_book_claim_gone(struct device_book *book, struct str uid);

/* ---- in flight ---- */

/* Around the attempt of a group whose pods may share what one of them is given: claims that are
 * reserved in between may be given to the next ones, too. One at a time. */
void device_book_attempt_begin(struct device_book *book);
void device_book_attempt_end(struct device_book *book);
/* What the claim has been given in the attempt that is under way, and nowhere else; NULL: nothing.
 * Borrowed until the book is changed. */
const struct device_allocation *device_book_pending(const struct device_book *book, struct str uid);
/* One more decision has the pending claim: it ends with the last of them, and as any other if one
 * of them settles it. */
void device_book_share(struct device_book *book, struct str uid);
/* True while it is in flight, if several decisions had it. */
bool device_book_is_shared(const struct device_book *book, struct str uid);

/* The claim is going to get these; it is neither in flight nor seen with devices. */
void device_book_reserve(struct device_book *book, const struct device_allocation *given);
/* What the special claim of a pod, which has no UID before it is made, is in flight as: until a
 * claim that the pod controls is seen with the same devices. From the arena; empty: so many
 * attempts are in flight that another one must wait. */
struct str device_book_special_key(const struct device_book *book, struct str pod_uid,
                                   struct arena *a);
/* True while a decision has given it devices that the watch does not show. */
bool device_book_in_flight(const struct device_book *book, struct str uid);
/* How many claims have left flight so far, whichever way. */
uint64_t device_book_ends(const struct device_book *book);
/* The decision is given up and nothing of it was written. False where it stays: it is settled, or
 * others have it. */
bool device_book_release(struct device_book *book, struct str uid);
/* It was written, or may have been: only the watch can tell. */
void device_book_settle(struct device_book *book, struct str uid, struct moment now);
/* When the oldest settled claim was settled; MOMENT_NEVER: none is. */
struct moment device_book_settled_since(const struct device_book *book);
/* A barrier that was asked for at this time is reached: what was settled before and is not seen
 * with devices has none. True: devices have become free by that, of which no object tells. */
bool device_book_barrier(struct device_book *book, struct moment asked);
uint32_t device_book_count_in_flight(const struct device_book *book);

#endif
