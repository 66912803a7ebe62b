/* The order of things for one request: who, where, may they, which fault, then the verb. */
#ifndef APISERVER_FRONT_H
#define APISERVER_FRONT_H

#include "faults.h"

/* Finds the route, checks the user (request->user may be NULL: not authenticated) and picks the
 * fault that strikes. True when the answer is already there and front_run must not be called. */
bool front_begin(struct request *request, struct answer *answer, struct fault *fault);
/* Does the request, with what the fault makes of its answer, and writes the audit line. */
void front_run(struct request *request, struct answer *answer, const struct fault *fault);

#endif
