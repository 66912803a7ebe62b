/* extended_names: which DeviceClass stands for which extended resource, as a scheduler knows it
 * that has seen the classes come, change and go in this order.
 *
 * A class stands for deviceclass.resource.kubernetes.io/NAME and, if it says so, for a resource of
 * another name. Where several say the same, the newest counts, then the least name. */
#ifndef SCHEDULER_CATALOG_EXTENDED_NAMES_H
#define SCHEDULER_CATALOG_EXTENDED_NAMES_H

#include "proto/messages.h"

struct extended_names;

struct extended_names *extended_names_new(void);
void extended_names_free(struct extended_names **names);

/* The class is there, or is another than it was. */
void extended_names_set(struct extended_names *names, const struct device_class *class);
/* Nothing happens when it is not known. */
void extended_names_gone(struct extended_names *names, struct str class);
/* All that is known is forgotten. */
void extended_names_clear(struct extended_names *names);

/* The class that stands for the resource; empty: none does. Lives until the next change. */
struct str extended_names_class(const struct extended_names *names, struct str resource);

#endif
