/* A full cluster to begin with, and many objects in one request. */
#ifndef APISERVER_FILL_H
#define APISERVER_FILL_H

#include "server.h"

/* Reads "nodes=1000,pods=10000,…" and makes that cluster: its pods are bound and Running. False
 * with one line in why that names the key. */
bool fill_start(struct server *server, const char *settings, struct buffer *why);
/* Creates each item of a List, as a POST of it would, all before anybody sees the first; NULL, or
 * the Status of the first that is refused, before which all have been created. */
cJSON *fill_list(struct server *server, const char *body, size_t size);

#endif
