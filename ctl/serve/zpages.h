/* zpages: /flagz and /statusz, for people, and for programs that ask for JSON, YAML or CBOR. */
#ifndef SERVE_ZPAGES_H
#define SERVE_ZPAGES_H

#include "proto/base/buffer.h"
#include "proto/base/moment.h"
#include "proto/kube/release/release.h"

#include <stdbool.h>
#include <stddef.h>

struct zpage {
    const char *accept; /* the request's header; "" when there is none */
    bool cbor;          /* which may be asked for only then */
    const struct kube_release *release;
    const char *const *given; /* flags as NAME=VALUE; borrowed */
    size_t given_count;
    struct span up;  /* since the start of this process */
    int64_t start_s; /* seconds since the Unix epoch */
};

/* Writes the page into out and returns the HTTP status; *type and *warning (NULL: none) are
 * headers. */
int zpages_flags(const struct zpage *z, const char **type, const char **warning,
                 struct buffer *out);
int zpages_status(const struct zpage *z, const char **type, const char **warning,
                  struct buffer *out);

#endif
