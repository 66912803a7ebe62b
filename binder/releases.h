/* releases: what the scheduler asks to be taken back of claims, from each claim_release to its one
 * claim_released. */
#ifndef BINDER_RELEASES_H
#define BINDER_RELEASES_H

#include "binder/release.h"
#include "proto/bus/outbox.h"

struct releases_options {
    uint64_t seed; /* of the jitter */
    void *owner;
    void (*forbidden)(void *owner, const char *verb, const char *resource,
                      struct str namespace_name, const struct kube_response *response);
};

struct releases;

struct releases *releases_new(const struct releases_options *options, struct lanes *lanes);
void releases_free(struct releases **releases);

/* Takes a request. A second one for a claim that has one under way is answered by that one's answer
 * when it asks for the same, else refused at once. */
void releases_add(struct releases *r, struct instant at, const struct claim_release *order);
/* Answers without writing. */
void releases_refuse(struct releases *r, const struct claim_release *order, const char *why);
/* Ends all of them now as not done, for the reason why. */
void releases_drop(struct releases *r, const char *why);
uint32_t releases_count(const struct releases *r);
/* The claims of those under way, from the arena. */
void releases_list(const struct releases *r, struct leadership *into, struct arena *a);
/* Puts the answers that are known into the outbox. */
void releases_flush(struct releases *r, struct outbox *out);

struct releases_stats {
    uint64_t done, failed, doubled; /* answers; requests for a claim that has one under way */
};
struct releases_stats releases_stats(const struct releases *r);

#endif
