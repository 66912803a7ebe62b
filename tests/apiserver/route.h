/* From a method and a path to a resource, a name and a verb. */
#ifndef APISERVER_ROUTE_H
#define APISERVER_ROUTE_H

#include "server.h"

/* Fills resource, namespace, name, subresource and verb. Leaves resource NULL for paths outside
 * /api and /apis and for groups and lists of resources (discovery). Returns a Status when the path
 * is that of no known resource or the method does not fit it. */
cJSON *route_parse(struct request *request);

#endif
