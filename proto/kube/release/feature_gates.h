/* feature_gates: kube-scheduler's --feature-gates, checked against a release's table. */
#ifndef KUBE_RELEASE_FEATURE_GATES_H
#define KUBE_RELEASE_FEATURE_GATES_H

#include "proto/kube/release/release.h"

/* `Name=true,kube:Other=false`. AllAlpha and AllBeta stand for the gates of their stage that are
 * not named. False with the reason, in upstream's words where it would refuse it too, for a name
 * that the release does not know, a gate that is locked or lacks one that it depends on, and a
 * value that would have this scheduler do otherwise than it does. features: what decides then; may
 * be NULL. */
bool feature_gates_read(const char *text, const struct kube_release *release,
                        struct features *features, char *error, size_t room);
/* The same, but what the release has no place for is left out and named in left ("" when all of it
 * counts): for gates that were given before the cluster's release was known. */
struct features feature_gates_follow(const char *text, const struct kube_release *release,
                                     char *left, size_t room);
/* For gates that are given while the cluster's release is not known: each has a place in some
 * release, and each release takes together those that have one in it. False with the reason. */
bool feature_gates_may_be(const char *text, char *error, size_t room);
/* Whether the gate of that name, which there is, is on with these values, which were checked
 * before. */
bool feature_gate_is_on(const char *text, const struct kube_release *release, const char *name);
/* Every gate in the order of names, its stage ("", ALPHA, BETA or DEPRECATED), and whether it is on
 * with these values, which were checked before. */
void feature_gates_each(const char *text, const struct kube_release *release,
                        void (*each)(void *context, const char *name, const char *stage, bool on),
                        void *context);

#endif
