/* exec: one run of an exec credential plugin, without blocking the loop. */
#ifndef KUBE_ACCESS_EXEC_H
#define KUBE_ACCESS_EXEC_H

#include "proto/kube/access/access.h"

/* What a plugin gave; strings are NULL when absent. */
struct kube_credential {
    char *token;
    struct buffer cert, key; /* PEM */
    int64_t expires_us;      /* wall clock; 0: never */
};

struct exec_run;

/* Starts the plugin; its pipes join the epoll descriptor with tag as data. NULL with error when it
 * cannot be started. */
struct exec_run *exec_start(const struct kube_config *config, int epoll_fd, uint64_t tag,
                            struct moment now);
enum exec_step { EXEC_running, EXEC_done, EXEC_failed };
/* Reads what is there. After EXEC_done the credential is filled (give it back with
 * kube_credential_free); after EXEC_failed error names the command and the cause. */
enum exec_step exec_work(struct exec_run *run, struct moment now,
                         struct kube_credential *credential, struct str *error);
/* When exec_work must be called even without an event. */
struct moment exec_deadline(const struct exec_run *run);
/* Kills the plugin if it still runs. */
void exec_free(struct exec_run **run);
void kube_credential_free(struct kube_credential *credential);

/* The answer of a plugin, checked; for exec_work and tests. */
bool exec_read_answer(const struct kube_exec *exec, struct str text,
                      struct kube_credential *credential, struct buffer *error);
/* The text of KUBERNETES_EXEC_INFO. */
void exec_info(const struct kube_config *config, struct buffer *out);

#endif
