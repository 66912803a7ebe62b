/* room_users: pods by the claims that their status names. What must stay true: a claim that nobody
 * names takes no memory, and what is removed is what was added. */
#include "scheduler/cluster/room_users.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"

#include <string.h>

struct user {
    struct str uid, node; /* kept */
};

struct of_claim {
    uint32_t count, room;
    struct user *at;
};

struct room_users {
    struct map *claims; /* struct of_claim by "namespace/name" */
};

struct room_users *room_users_new(void)
{
    struct room_users *users = memory_take(sizeof(*users));
    users->claims = map_new();
    return users;
}

static void forget(struct of_claim *of, uint32_t i)
{
    str_drop(&of->at[i].uid);
    str_drop(&of->at[i].node);
    of->at[i] = of->at[--of->count];
}

void room_users_free(struct room_users **users)
{
    size_t at = 0;
    struct str key;
    void *value;
    if (*users == NULL)
        return;
    while (map_next((*users)->claims, &at, &key, &value)) {
        struct of_claim *of = value;
        while (of->count > 0)
            forget(of, of->count - 1);
        memory_free(of->at);
        memory_free(of);
    }
    map_free(&(*users)->claims);
    memory_free(*users);
    *users = NULL;
}

static struct str key_of(struct str namespace_name, struct str claim, struct arena *a)
{
    return arena_print(a, "%.*s/%.*s", STR_ARG(namespace_name), STR_ARG(claim));
}

static uint32_t place_of(const struct of_claim *of, struct str uid, struct str node)
{
    uint32_t i = 0;
    while (i < of->count && !(str_equal(of->at[i].uid, uid) && str_equal(of->at[i].node, node)))
        i++;
    return i;
}

void room_users_add(struct room_users *users, const struct pod *pod, struct str node)
{
    struct arena a = {0};
    for (uint32_t i = 0; i < pod->room_claims.count; i++) {
        struct str key = key_of(pod->namespace_name, pod->room_claims.at[i], &a);
        struct of_claim *of = map_get(users->claims, key);
        if (of == NULL) {
            of = memory_take(sizeof(*of));
            map_set(users->claims, key, of);
        }
        if (place_of(of, pod->uid, node) < of->count)
            continue;
        if (of->count == of->room) {
            of->room = of->room == 0 ? 2 : of->room * 2;
            of->at = memory_resize(of->at, of->room * sizeof(*of->at));
        }
        of->at[of->count++] = (struct user){str_keep(pod->uid), str_keep(node)};
    }
    arena_free(&a);
}

void room_users_remove(struct room_users *users, const struct pod *pod, struct str node)
{
    struct arena a = {0};
    for (uint32_t i = 0; i < pod->room_claims.count; i++) {
        struct str key = key_of(pod->namespace_name, pod->room_claims.at[i], &a);
        struct of_claim *of = map_get(users->claims, key);
        uint32_t place = of != NULL ? place_of(of, pod->uid, node) : 0;
        if (of == NULL || place == of->count)
            continue;
        forget(of, place);
        if (of->count > 0)
            continue;
        map_remove(users->claims, key);
        memory_free(of->at);
        memory_free(of);
    }
    arena_free(&a);
}

void room_users_tell(const struct room_users *users, struct str namespace_name, struct str claim,
                     struct findings *out, struct arena *a)
{
    struct arena scratch = {0};
    const struct of_claim *of = map_get(users->claims, key_of(namespace_name, claim, &scratch));
    arena_free(&scratch);
    if (of == NULL)
        return;
    uint32_t before = out->device_users.count;
    struct device_user *at = arena_take(a, (before + of->count) * sizeof(*at));
    if (before > 0)
        memcpy(at, out->device_users.at, before * sizeof(*at));
    for (uint32_t i = 0; i < of->count; i++)
        at[before + i] = (struct device_user){arena_copy(a, claim), arena_copy(a, of->at[i].node),
                                              arena_copy(a, of->at[i].uid)};
    out->device_users.at = at;
    out->device_users.count = before + of->count;
}
