/* credentials: token files are read again once a minute, when they changed, and after a 401; exec
 * plugins run again when what they gave has expired and after a 401.
 *
 * What must stay true: a credential that worked is kept until a newer one is there, and a plugin is
 * not run more than once a second, whatever it gives. */
#include "proto/kube/access/credentials.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/kube/access/exec.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define REREAD_S 60

struct credentials {
    const struct kube_config *config;
    int epoll_fd;
    uint64_t tag, generation;
    struct kube_credential current; /* of a token file or plugin */
    bool have, refused;
    char error[1024];
    /* token file */
    struct moment checked_at, read_at;
    struct timespec modified;
    struct log_limit unreadable;
    /* plugin */
    struct exec_run *run;
    struct moment retry_at;
    struct log_limit outlived;
};

struct credentials *credentials_new(const struct kube_config *config, int epoll_fd, uint64_t tag)
{
    struct credentials *c = memory_take(sizeof(*c));
    *c = (struct credentials){.config = config, .epoll_fd = epoll_fd, .tag = tag, .generation = 1};
    return c;
}

void credentials_free(struct credentials **c)
{
    if (*c == NULL)
        return;
    exec_free(&(*c)->run);
    kube_credential_free(&(*c)->current);
    memory_free(*c);
    *c = NULL;
}

static void adopt_token(struct credentials *c, char *token)
{
    if (c->current.token == NULL || strcmp(c->current.token, token) != 0)
        c->generation++;
    memory_free(c->current.token);
    c->current.token = token;
    c->have = true;
}

static bool file_due(struct credentials *c, struct moment now)
{
    if (!c->have || c->refused || moment_since(now, c->read_at).ns >= span_of_seconds(REREAD_S).ns)
        return true;
    if (moment_since(now, c->checked_at).ns < span_of_seconds(1).ns)
        return false;
    c->checked_at = now;
    struct stat st;
    return stat(c->config->token_file, &st) == 0 &&
           (st.st_mtim.tv_sec != c->modified.tv_sec || st.st_mtim.tv_nsec != c->modified.tv_nsec);
}

static enum credentials_state poll_file(struct credentials *c, struct moment now)
{
    if (!file_due(c, now))
        return CREDENTIALS_ready;
    struct stat st;
    if (stat(c->config->token_file, &st) == 0)
        c->modified = st.st_mtim;
    char *token = kube_token_read(c->config->token_file, c->error, sizeof(c->error));
    c->refused = false;
    c->read_at = c->checked_at = now;
    if (token != NULL)
        adopt_token(c, token);
    else if (c->have && log_limited(&c->unreadable, now))
        log_warn("token file cannot be read again, the last token stays|%s", c->error);
    return c->have ? CREDENTIALS_ready : CREDENTIALS_failed;
}

static enum credentials_state poll_exec(struct credentials *c, struct moment now, int64_t wall_us)
{
    bool expired = c->current.expires_us > 0 && wall_us >= c->current.expires_us;
    /* Just renewed, and refused or expired again: a plugin that keeps old ones, or a clock that was
     * set. The API server has the last word. */
    bool renewed = c->error[0] == 0 && !moment_reached(now, c->retry_at);
    if (c->have && (renewed || (!expired && !c->refused))) {
        if (expired && log_limited(&c->outlived, now))
            log_warn("exec plugin gives credentials that have expired already, used all the same"
                     "|command=%s",
                     c->config->exec->command);
        return CREDENTIALS_ready;
    }
    if (c->run == NULL && c->error[0] != 0 && !moment_reached(now, c->retry_at))
        return CREDENTIALS_failed;
    if (c->run == NULL) {
        c->error[0] = 0;
        c->run = exec_start(c->config, c->epoll_fd, c->tag, now);
    }
    return CREDENTIALS_wait;
}

enum credentials_state credentials_poll(struct credentials *c, struct moment now, int64_t wall_us)
{
    if (c->config->exec != NULL)
        return poll_exec(c, now, wall_us);
    if (c->config->token_file != NULL)
        return poll_file(c, now);
    return CREDENTIALS_ready;
}

static bool same(const struct kube_credential *a, const struct kube_credential *b)
{
    return (a->token == NULL) == (b->token == NULL) &&
           (a->token == NULL || strcmp(a->token, b->token) == 0) &&
           str_equal(buffer_str(&a->cert), buffer_str(&b->cert)) &&
           str_equal(buffer_str(&a->key), buffer_str(&b->key));
}

void credentials_work(struct credentials *c, struct moment now)
{
    if (c->run == NULL)
        return;
    struct kube_credential fresh = {0};
    struct str error = {0};
    enum exec_step step = exec_work(c->run, now, &fresh, &error);
    if (step == EXEC_running)
        return;
    if (step == EXEC_done) {
        if (!c->have || !same(&fresh, &c->current))
            c->generation++;
        kube_credential_free(&c->current);
        c->current = fresh;
        c->have = true;
        c->refused = false;
        c->error[0] = 0;
    } else {
        kube_credential_free(&fresh);
        snprintf(c->error, sizeof(c->error), "%.*s", STR_ARG(error));
    }
    c->retry_at = moment_after(now, span_of_seconds(1));
    exec_free(&c->run);
}

struct moment credentials_deadline(const struct credentials *c)
{
    return c->run != NULL ? exec_deadline(c->run) : MOMENT_NEVER;
}

const char *credentials_error(const struct credentials *c)
{
    return c->error;
}

uint64_t credentials_generation(const struct credentials *c)
{
    return c->generation;
}

bool credentials_refused(struct credentials *c, uint64_t generation)
{
    if (c->config->exec == NULL && c->config->token_file == NULL)
        return false;
    if (generation == c->generation)
        c->refused = true;
    return true;
}

const char *credentials_token(const struct credentials *c)
{
    return c->current.token != NULL ? c->current.token : c->config->token;
}

bool credentials_certificate(const struct credentials *c, struct str *cert, struct str *key)
{
    *cert = buffer_str(&c->current.cert);
    *key = buffer_str(&c->current.key);
    return cert->len > 0;
}
