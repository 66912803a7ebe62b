/* credentials: who we are to the API server, kept fresh: fixed ones, token files, exec plugins. */
#ifndef KUBE_ACCESS_CREDENTIALS_H
#define KUBE_ACCESS_CREDENTIALS_H

#include "proto/kube/access/access.h"

struct credentials;

/* config is borrowed; descriptors of plugins join epoll_fd with tag. */
struct credentials *credentials_new(const struct kube_config *config, int epoll_fd, uint64_t tag);
void credentials_free(struct credentials **c);

enum credentials_state {
    CREDENTIALS_ready, /* requests may go out now */
    CREDENTIALS_wait,  /* a plugin is running */
    CREDENTIALS_failed /* there are none: see credentials_error */
};
/* To be asked before a request goes out; reads token files again and starts plugins when due. */
enum credentials_state credentials_poll(struct credentials *c, struct moment now, int64_t wall_us);
/* Collects what a running plugin has said. */
void credentials_work(struct credentials *c, struct moment now);
struct moment credentials_deadline(const struct credentials *c);
const char *credentials_error(const struct credentials *c);

/* Grows whenever the credential changes. */
uint64_t credentials_generation(const struct credentials *c);
/* The server refused a request that carried this generation (401). True when newer ones are there
 * or may be had, so that it is worth trying once more. */
bool credentials_refused(struct credentials *c, uint64_t generation);

/* NULL, or valid until the next poll. */
const char *credentials_token(const struct credentials *c);
/* Inline certificate and key of a plugin; false when it gave none. */
bool credentials_certificate(const struct credentials *c, struct str *cert, struct str *key);

#endif
