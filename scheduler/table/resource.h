/* resource: which resources there are: three that every node has, and scalars by name. */
#ifndef SCHEDULER_TABLE_RESOURCE_H
#define SCHEDULER_TABLE_RESOURCE_H

#include "proto/messages.h"

enum { RESOURCE_cpu, RESOURCE_memory, RESOURCE_ephemeral, RESOURCE_COUNT };

/* RESOURCE_cpu, …, or -1 for every other name. */
int resource_fixed(struct str name);
/* Upstream's IsExtendedResourceName. */
bool resource_is_extended(struct str name);
/* Upstream's IsScalarResourceName: extended, hugepages-, attachable-volumes-, *kubernetes.io/. */
bool resource_is_scalar(struct str name);
/* The amount of a name in a list, 0 when it is not there. */
int64_t resource_amount(const struct quantity *at, uint32_t count, struct str name);

#endif
