/* permissions: the rights that berth uses, as a table of single questions, and as RBAC rules. */
#ifndef PREFLIGHT_PERMISSIONS_H
#define PREFLIGHT_PERMISSIONS_H

#include "proto/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum permission_scope {
    SCOPE_CLUSTER,
    SCOPE_LEASE,
    SCOPE_LEASE_NAMED,
    SCOPE_EVENT,
    SCOPE_REVIEWS,
    SCOPE_AUTHORITIES,
    SCOPE_GANGS
};

#define PERMISSIONS_MAX 128

/* One verb on one resource. */
struct permission {
    enum permission_scope scope;
    bool needed;
    const char *group, *resource; /* resource: with its subresource, pods/binding */
    char verb[8];
    const char *purpose;
};

size_t permissions_count(void);
const struct permission *permission_at(size_t i);

/* Where the lease is. */
struct permission_place {
    const char *lease_namespace, *lease;
};

/* Rules for those i with wanted[i] (NULL: for all that are always used), as Roles and ClusterRoles
 * with their bindings for the subject: a user's name, of which system:serviceaccount:NAMESPACE:NAME
 * is one. name: of what is made. Adds nothing when none is wanted. */
void permissions_print(const bool *wanted, const struct permission_place *place,
                       const char *subject, const char *name, struct buffer *out);

#endif
