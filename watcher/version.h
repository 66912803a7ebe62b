/* version: what the API server says it is, as it stands in its answers to the probe. */
#ifndef WATCHER_VERSION_H
#define WATCHER_VERSION_H

#include "proto/base/buffer.h"
#include "proto/bus/stream.h"

/* Zero-initialise. */
struct version {
    struct published told;
    struct buffer answer; /* the one that is coming, as far as it is looked at */
    bool known;
    int64_t major, minor;
    char git_version[64];
    char problem[160]; /* of the last answer; "" when it was understood */
};

void version_free(struct version *v);
/* A piece of an answer. */
void version_data(struct version *v, struct str piece);
/* The answer is over, or there was none (status 0). What is new goes into the stream. True: it is
 * another version than before, or the first. */
bool version_answered(struct version *v, int status, struct str body, struct publisher *p);
/* api_server=… */
void version_status(const struct version *v, struct buffer *lines);

#endif
