/* attempts: from a pod's UID to the number of its last attempt. What must stay true: what is kept
 * is bounded, whatever pods come and go. */
#include "ctl/tap/attempts.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"

#include <string.h>

#define PODS_MAX 200000 /* then all are forgotten: pods that wait are soon tried again */

struct tap_attempts {
    struct map *by_uid; /* int64_t each */
};

struct tap_attempts *tap_attempts_new(void)
{
    struct tap_attempts *attempts = memory_take(sizeof(*attempts));
    attempts->by_uid = map_new();
    return attempts;
}

static void forget(struct tap_attempts *attempts, struct str uid)
{
    memory_free(map_remove(attempts->by_uid, uid));
}

static void forget_all(struct tap_attempts *attempts)
{
    struct str key;
    void *value;
    for (size_t at = 0; map_next(attempts->by_uid, &at, &key, &value);)
        memory_free(value);
    map_free(&attempts->by_uid);
}

void tap_attempts_free(struct tap_attempts **attempts)
{
    if (*attempts == NULL)
        return;
    forget_all(*attempts);
    memory_free(*attempts);
    *attempts = NULL;
}

static void set(struct tap_attempts *attempts, struct str uid, int64_t number)
{
    int64_t *known = map_get(attempts->by_uid, uid);
    if (known == NULL) {
        if (map_count(attempts->by_uid) >= PODS_MAX) {
            forget_all(attempts);
            attempts->by_uid = map_new();
        }
        known = memory_take(sizeof(*known));
        map_set(attempts->by_uid, uid, known);
    }
    *known = number;
}

void tap_attempts_learn(struct tap_attempts *attempts, const struct message *m)
{
    if (m->type == MSG_attempt)
        set(attempts, m->attempt.pod.uid, m->attempt.attempts);
    if (m->type == MSG_gang_attempt)
        for (uint32_t i = 0; i < m->gang_attempt.members.count; i++)
            set(attempts, m->gang_attempt.members.at[i].pod.uid,
                m->gang_attempt.members.at[i].attempts);
    if (m->type == MSG_pod_gone)
        forget(attempts, m->pod_gone.uid);
}

struct found {
    const struct tap_attempts *attempts;
    int64_t *numbers;
    size_t count;
};

/* NOLINTBEGIN(misc-no-recursion): records nest as messages.def declares, a few levels deep */
static void look(struct found *found, const struct record *r, const char *object)
{
    for (size_t i = 0; i < r->field_count && found->count < ATTEMPTS_OF_MESSAGE; i++) {
        const struct field *f = &r->fields[i];
        const char *at = object + f->offset;
        const struct list *list = (const struct list *)(const void *)at;
        if (f->kind == KIND_str && strcmp(f->name, "uid") == 0) {
            const int64_t *known =
                map_get(found->attempts->by_uid, *(const struct str *)(const void *)at);
            if (known != NULL)
                found->numbers[found->count++] = *known;
        }
        if (f->kind == KIND_one)
            look(found, f->of, at);
        for (uint32_t k = 0; f->kind == KIND_list && k < list->count; k++)
            look(found, f->of, (const char *)list->at + k * f->of->size);
    }
}
/* NOLINTEND(misc-no-recursion) */

size_t tap_attempts_of(const struct tap_attempts *attempts, const struct message *m,
                       int64_t numbers[ATTEMPTS_OF_MESSAGE])
{
    struct found found = {.attempts = attempts, .numbers = numbers};
    look(&found, message_info[m->type].record, message_body_const(m));
    return found.count;
}
