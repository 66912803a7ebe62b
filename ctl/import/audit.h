/* audit: an audit log of an API server, as far as nodes and pods go. */
#ifndef CTL_IMPORT_AUDIT_H
#define CTL_IMPORT_AUDIT_H

#include "ctl/import/trace.h"

/* A line an entry. cluster: a dump of the nodes and pods that were there when it begins
 * (kubectl get nodes,pods -A -o yaml, or JSON); NULL: none. release: minor version of the API
 * server. False, with why in error, from the trace's memory. */
bool audit_read(struct trace *t, const char *log, const char *cluster, int64_t release,
                struct str *error);

#endif
