/* log_pods: a small table that the log and the bus look at. What must stay true: it is bounded, and
 * empties itself. */
#include "proto/base/log_pods.h"

#include "proto/base/log.h"

#include <stdio.h>
#include <string.h>

#define UID_MAX 64 /* bytes; longer ones are not learnt */

struct watched {
    char name[LOG_PODS_NAME_MAX + 1]; /* NAMESPACE/NAME; empty: the place is free */
    char uid[UID_MAX + 1];            /* as was seen last; empty: not yet */
    struct moment until;
};

static struct watched watched[LOG_PODS_MAX];
static unsigned count;

static struct watched *find(const char *name)
{
    for (unsigned i = 0; i < LOG_PODS_MAX; i++)
        if (strcmp(watched[i].name, name) == 0)
            return &watched[i];
    return NULL;
}

static void forget(struct watched *w)
{
    *w = (struct watched){.name = ""};
    count--;
}

bool log_pods_watch(struct str namespace_name, struct str name, int64_t for_ms, struct moment now)
{
    char full[LOG_PODS_NAME_MAX + 1];
    if (namespace_name.len == 0 || name.len == 0 || for_ms < 0 || for_ms > LOG_PODS_MOST_MS ||
        (uint64_t)namespace_name.len + name.len + 1 > LOG_PODS_NAME_MAX)
        return false;
    snprintf(full, sizeof(full), "%.*s/%.*s", STR_ARG(namespace_name), STR_ARG(name));
    struct watched *w = find(full);
    if (for_ms == 0) {
        if (w != NULL)
            forget(w);
        return true;
    }
    if (w == NULL) {
        if ((w = find("")) == NULL)
            return false;
        count++;
    }
    memcpy(w->name, full, sizeof(full));
    w->until = moment_after(now, span_of_ms(for_ms));
    return true;
}

unsigned log_pods_expire(struct moment now)
{
    unsigned over = 0;
    for (unsigned i = 0; count > 0 && i < LOG_PODS_MAX; i++) {
        if (watched[i].name[0] == 0 || !moment_reached(now, watched[i].until))
            continue;
        log_info("full detail ends|pod=%s", watched[i].name);
        forget(&watched[i]);
        over++;
    }
    return over;
}

unsigned log_pods_count(void)
{
    return count;
}

/* Of names and UIDs. */
static bool is_of_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
}

static bool has_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = text; len > 0 && (at = strstr(at, word)) != NULL; at++)
        if ((at == text || !is_of_word(at[-1])) && !is_of_word(at[len]))
            return true;
    return false;
}

bool log_pods_in(const char *text)
{
    for (unsigned i = 0; count > 0 && i < LOG_PODS_MAX; i++)
        if (has_word(text, watched[i].name) || has_word(text, watched[i].uid))
            return true;
    return false;
}

bool log_pods_is(struct str namespace_name, struct str name, struct str uid)
{
    for (unsigned i = 0; count > 0 && i < LOG_PODS_MAX; i++) {
        struct watched *w = &watched[i];
        size_t len = namespace_name.len;
        if (w->name[0] == 0)
            continue;
        if (uid.len > 0 && str_is(uid, w->uid))
            return true;
        if (len == 0 || name.len == 0 || strlen(w->name) != len + 1 + name.len ||
            memcmp(w->name, namespace_name.at, len) != 0 || w->name[len] != '/' ||
            memcmp(w->name + len + 1, name.at, name.len) != 0)
            continue;
        if (uid.len > 0 && uid.len <= UID_MAX)
            snprintf(w->uid, sizeof(w->uid), "%.*s", STR_ARG(uid));
        return true;
    }
    return false;
}

void log_pods_reset(void)
{
    memset(watched, 0, sizeof(watched));
    count = 0;
}
