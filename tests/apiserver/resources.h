/* The table of resources: what exists, under which path, and with which habits. */
#ifndef APISERVER_RESOURCES_H
#define APISERVER_RESOURCES_H

#include "support.h"

enum resource_flag {
    NAMESPACED = 1 << 0,
    STATUS = 1 << 1,
    GENERATION = 1 << 2,
    KEEPS_STATUS = 1 << 3,
    RETURNS_OBJECT = 1 << 4,
    PUT_CREATES = 1 << 5,
    NEEDS_VERSION = 1 << 6,
    COMPUTED = 1 << 7,
    VIEW = 1 << 8,
    IN_ALL = 1 << 9,
    CUSTOM = 1 << 10,
    GATED = 1 << 11,
    SINCE_37 = 1 << 12,
};

struct resource {
    const char *group, *version, *plural, *kind, *short_names;
    unsigned flags;
    const char *const *fields; /* selectable beyond the metadata, ended by NULL; NULL when none */
};

enum { RESOURCE_COUNT = 46, RESOURCE_FIELDS_MAX = 12 };
extern const struct resource resources[RESOURCE_COUNT];

/* NULL when there is none. */
const struct resource *resource_find(const char *group, const char *version, const char *plural);
/* The resource of the core group, or whichever group has this plural; it must exist. */
const struct resource *resource_named(const char *plural);
/* Where the objects of this resource are kept: its own index, or that of the line it is a view of.
 */
int resource_shelf(const struct resource *resource);
/* "v1" or "apps/v1"; room for 64 bytes. */
char *resource_api_version(const struct resource *resource, char out[static 64]);
/* "pods" or "leases.coordination.k8s.io", as error messages say it; room for 128 bytes. */
char *resource_qualified(const struct resource *resource, char out[static 128]);
/* The position of a selectable field path, -1 when it cannot be selected by. */
int resource_field(const struct resource *resource, const char *path);

#endif
