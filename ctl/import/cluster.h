/* cluster: the nodes and pods of a dump of a cluster. */
#ifndef CTL_IMPORT_CLUSTER_H
#define CTL_IMPORT_CLUSTER_H

#include "ctl/import/present.h"

/* As kubectl get -o yaml or -o json prints it, or the API server's own lists, all at the time 0.
 * release: minor version of the API server. False, with why in error, from the trace's memory. */
bool cluster_read(struct present *p, const char *path, int64_t release, struct str *error);

#endif
