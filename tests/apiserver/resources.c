/* The table of resources, read from resources.def, and the look-ups in it.
 *
 * The one idea: a resource is a line of a table, never a special case in the verbs; what differs
 * between kinds is a flag. Views (events of both groups) share one shelf of objects. */
#include "resources.h"

#include <stdio.h>
#include <string.h>

static const char *const pod_fields[] = {
    "spec.nodeName",           "spec.schedulerName", "status.phase",
    "spec.restartPolicy",      "status.podIP",       "status.nominatedNodeName",
    "spec.serviceAccountName", "spec.hostNetwork",   NULL};
static const char *const node_fields[] = {"spec.unschedulable", NULL};
static const char *const phase_fields[] = {"status.phase", NULL};
static const char *const secret_fields[] = {"type", NULL};
static const char *const slice_fields[] = {"spec.nodeName", "spec.driver", NULL};
static const char *const event_fields[] = {"involvedObject.name",
                                           "involvedObject.namespace",
                                           "involvedObject.uid",
                                           "involvedObject.kind",
                                           "involvedObject.apiVersion",
                                           "involvedObject.resourceVersion",
                                           "involvedObject.fieldPath",
                                           "reason",
                                           "reportingComponent",
                                           "type",
                                           "source",
                                           NULL};

#define RESOURCE(group, version, plural, kind, shorts, flags, fields)                              \
    {group, version, plural, kind, shorts, flags, fields},
const struct resource resources[RESOURCE_COUNT] = {
#include "resources.def"
};
#undef RESOURCE

#define RESOURCE(...) +1
_Static_assert(RESOURCE_COUNT == 0
#include "resources.def"
               ,
               "RESOURCE_COUNT is the number of lines in resources.def");
#undef RESOURCE

const struct resource *resource_find(const char *group, const char *version, const char *plural)
{
    for (const struct resource *r = resources; r < resources + RESOURCE_COUNT; r++) {
        if (strcmp(r->plural, plural) == 0 && strcmp(r->group, group) == 0 &&
            strcmp(r->version, version) == 0)
            return r;
    }
    return NULL;
}

const struct resource *resource_named(const char *plural)
{
    for (const struct resource *r = resources; r < resources + RESOURCE_COUNT; r++) {
        if (strcmp(r->plural, plural) == 0)
            return r;
    }
    must_failed("a resource of the table", plural, 0);
}

int resource_shelf(const struct resource *resource)
{
    int index = (int)(resource - resources);
    while (resources[index].flags & VIEW)
        index--;
    return index;
}

char *resource_api_version(const struct resource *resource, char out[static 64])
{
    snprintf(out, 64, "%s%s%s", resource->group, *resource->group ? "/" : "", resource->version);
    return out;
}

char *resource_qualified(const struct resource *resource, char out[static 128])
{
    snprintf(out, 128, "%s%s%s", resource->plural, *resource->group ? "." : "", resource->group);
    return out;
}

/* events.k8s.io names the same fields otherwise; the stored form is that of core/v1. */
static const char *stored_field(const char *path, char room[static 64])
{
    if (strncmp(path, "regarding.", 10) == 0) {
        snprintf(room, 64, "involvedObject.%s", path + 10);
        return room;
    }
    return strcmp(path, "reportingController") == 0 ? "reportingComponent" : path;
}

int resource_field(const struct resource *resource, const char *path)
{
    char room[64];
    if (resource->fields == event_fields)
        path = stored_field(path, room);
    for (int i = 0; resource->fields != NULL && resource->fields[i] != NULL; i++) {
        if (strcmp(resource->fields[i], path) == 0)
            return i;
    }
    return -1;
}
