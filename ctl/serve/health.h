/* health: the answers to /healthz, /livez and /readyz, in kube-scheduler's words. */
#ifndef SERVE_HEALTH_H
#define SERVE_HEALTH_H

#include "proto/base/buffer.h"

/* One named check, and why it fails; "" while it is well. note: what whoever asks the whole group
 * is told although it is well. */
struct health {
    const char *name;
    char reason[280], note[280];
};

#define HEALTH_MAX 8

struct health_question {
    const char *path;         /* "/readyz" or "/readyz/ping" */
    const char *group;        /* "readyz" */
    bool verbose;             /* ?verbose */
    const char *excluded[16]; /* ?exclude=NAME */
    size_t excluded_count;
};

/* Writes the body; returns the status: 200, 500 or 404. */
int health_answer(const struct health_question *q, const struct health *checks, size_t count,
                  struct buffer *out);

#endif
