/* Everything that is no resource: /api, /apis, /version, /healthz, /openapi. */
#ifndef APISERVER_DISCOVERY_H
#define APISERVER_DISCOVERY_H

#include "server.h"

void discovery_handle(struct request *request, struct answer *answer);
/* "1.37": what GET /version says from now on, as PUT /version does. False for anything else. */
bool discovery_set_version(struct server *server, const char *text);

#endif
