/* The audit log: one line a finished request, in the shape of audit.k8s.io/v1 Event. */
#ifndef APISERVER_AUDIT_H
#define APISERVER_AUDIT_H

#include "server.h"

void audit_write(const struct request *request, int code);

#endif
