/* extenders: HTTP extenders as a configuration names them, and how to reach one. */
#ifndef KUBE_EXTENDERS_EXTENDERS_H
#define KUBE_EXTENDERS_EXTENDERS_H

#include "proto/kube/config/config_file.h"

struct kube_config;

/* Whether some container asks for a resource that it manages, or it manages none in particular. */
bool extender_interested(const struct extender_config *e, const struct pod *pod);
/* The order in which they are called: those that are not ignorable first. order has room for all.
 */
void extender_order(const struct extender_config *all, uint32_t count, uint32_t *order);
/* What is called for a verb, such as http://host/prefix/filter, into url. */
struct str extender_url(const struct extender_config *e, struct str verb, struct arena *a);
/* The way there, for kube_client_new; to be freed with kube_config_free. NULL, with a line in
 * error, when the prefix is not a URL. Like upstream's, TLS without a CA is not verified when
 * enable_https is set. */
struct kube_config *extender_way(const struct extender_config *e, char *error, size_t room);

/* The extenders of a configuration file, as those who call them read it once more when it is
 * another than the one they know. */
struct extender_set {
    struct arena memory; /* of everything here */
    const struct extender_config *at;
    uint32_t count;
    int64_t hash; /* scheduler_config_extenders_hash */
};

/* path NULL: none. False, with the reason in error, which lives in the set's memory: the set is to
 * be freed in either case. */
bool extender_set_read(struct extender_set *set, const char *path, struct str *error);
void extender_set_free(struct extender_set *set);
/* The one that is meant; NULL: another is in its place, or hash (0: not said) is of others. */
const struct extender_config *extender_set_find(const struct extender_set *set,
                                                const struct extender_ref *ref, int64_t hash);

#endif
