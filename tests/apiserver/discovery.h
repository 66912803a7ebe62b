/* Everything that is no resource: /api, /apis, /version, /healthz, /openapi. */
#ifndef APISERVER_DISCOVERY_H
#define APISERVER_DISCOVERY_H

#include "server.h"

void discovery_handle(const struct request *request, struct answer *answer);

#endif
