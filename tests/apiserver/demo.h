/* A lively cluster: nodes, and a stream of pods that live for a while. */
#ifndef APISERVER_DEMO_H
#define APISERVER_DEMO_H

#include "server.h"

/* Reads "nodes=20,pods-per-second=5,…", makes the nodes and starts the stream; false with one line
 * in why that names the key. The demo lives as long as the server. */
bool demo_start(struct server *server, const char *settings, struct buffer *why);
/* The objects that every cluster has: namespaces and the two system priority classes. */
void demo_furnish(struct server *server);

#endif
