/* gang_claims: until when members of groups keep the nodes that they are nominated to. The one
 * idea: a group that does not come into being after all must not keep others out for ever, so its
 * nominations have one deadline together, counted by whoever leads.
 *
 * What must stay true: a claim is given back only while no transaction is under way, and only where
 * the pod is still nominated to that node. */
#include "scheduler/coordinator/gang.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "scheduler/coordinator/deciding.h"
#include "scheduler/coordinator/gang_status.h"
#include "scheduler/coordinator/landing.h"

#include <inttypes.h>

#define WAIT_DEFAULT_S 60

struct gang_claims {
    struct gang_claims *next;
    struct arena arena;
    struct gang group;
    struct strs uids;
    uint32_t room; /* of uids.at */
    int64_t seconds;
    struct moment since; /* this coordinator leads and knows of them */
};

static struct gang_claims **find(struct coordinator *c, const struct gang *group)
{
    struct gang_claims **at = &c->gang_claims;
    while (*at != NULL && !(str_equal((*at)->group.name, group->name) &&
                            str_equal((*at)->group.namespace_name, group->namespace_name) &&
                            str_equal((*at)->group.api, group->api)))
        at = &(*at)->next;
    return at;
}

static void drop(struct gang_claims **at)
{
    struct gang_claims *claims = *at;
    *at = claims->next;
    arena_free(&claims->arena);
    memory_free(claims);
}

void gang_claims_drop(struct coordinator *c, const struct gang *group)
{
    struct gang_claims **at = find(c, group);
    if (*at != NULL)
        drop(at);
}

void gang_claims_free(struct coordinator *c)
{
    while (c->gang_claims != NULL)
        drop(&c->gang_claims);
}

uint32_t gang_claims_count(const struct coordinator *c)
{
    uint32_t count = 0;
    for (const struct gang_claims *claims = c->gang_claims; claims != NULL; claims = claims->next)
        count++;
    return count;
}

static int64_t seconds_of(const struct coordinator *c, const struct gang_try *g)
{
    const struct framework *fw = frameworks_find(&c->frameworks, g->scheduler_name);
    if (g->group.timeout_s > 0)
        return g->group.timeout_s;
    return fw != NULL && fw->profile.gang_wait_s > 0 ? fw->profile.gang_wait_s : WAIT_DEFAULT_S;
}

/* Who has found room in this attempt, or is nominated from one before it, found or not. */
static bool has_claim(const struct coordinator *c, const struct gang_place *m, bool renew)
{
    struct str node;
    return m->flight != NULL &&
           ((renew && m->node.len > 0) || cache_nomination(c->cache, m->flight->pod.uid, &node));
}

void gang_claims_keep(struct coordinator *c, struct moment now, const struct gang_try *g,
                      bool renew)
{
    struct gang_claims **at = find(c, &g->group);
    struct moment since = *at != NULL && !renew ? (*at)->since : now;
    if (*at != NULL)
        drop(at);
    struct gang_claims *claims = memory_take(sizeof(*claims));
    claims->room = g->count;
    claims->uids.at = arena_take(&claims->arena, g->count * sizeof(struct str));
    for (uint32_t i = 0; i < g->count; i++)
        if (has_claim(c, &g->at[i], renew))
            claims->uids.at[claims->uids.count++] =
                arena_copy(&claims->arena, g->at[i].flight->pod.uid);
    codec_copy(&gang_record, &claims->group, &g->group, &claims->arena);
    claims->seconds = seconds_of(c, g);
    claims->since = since;
    claims->next = c->gang_claims;
    c->gang_claims = claims;
    if (claims->uids.count == 0)
        drop(&c->gang_claims);
}

static void add_uid(struct gang_claims *claims, struct str uid)
{
    if (claims->uids.count == claims->room) {
        claims->room = claims->room * 2 + 8;
        struct str *more = arena_take(&claims->arena, claims->room * sizeof(struct str));
        for (uint32_t i = 0; i < claims->uids.count; i++)
            more[i] = claims->uids.at[i];
        claims->uids.at = more;
    }
    claims->uids.at[claims->uids.count++] = arena_copy(&claims->arena, uid);
}

static struct gang group_of(const struct pod *pod)
{
    return (struct gang){
        .api = pod->gang_api, .namespace_name = pod->namespace_name, .name = pod->gang};
}

/* Whoever nominated it may have ended, or lead no more; then its time is counted here. The group's
 * own timeout is known when it is tried; until then it is the profile's. */
void gang_claims_adopt(struct coordinator *c, struct moment now, const struct pod *pod)
{
    const struct framework *fw = frameworks_find(&c->frameworks, pod->scheduler_name);
    const struct gang group = group_of(pod);
    if (fw == NULL || pod->gang.len == 0 || fw->profile.gangs == GANGS_off)
        return;
    struct gang_claims *claims = *find(c, &group);
    if (claims == NULL) {
        claims = memory_take(sizeof(*claims));
        codec_copy(&gang_record, &claims->group, &group, &claims->arena);
        claims->seconds = fw->profile.gang_wait_s > 0 ? fw->profile.gang_wait_s : WAIT_DEFAULT_S;
        claims->since = now;
        claims->next = c->gang_claims;
        c->gang_claims = claims;
    }
    if (!strs_hold(claims->uids, pod->uid))
        add_uid(claims, pod->uid);
}

/* Its group may lose members meanwhile, so that it is not tried any more. */
void gang_claims_late(struct coordinator *c, struct moment now, const struct pod *pod)
{
    const struct gang group = group_of(pod);
    if (pod->gang.len == 0 || !gang_statuses_is_gang(c->gang_statuses, &group))
        return;
    gang_claims_adopt(c, now, pod);
    struct gang_claims *claims = *find(c, &group);
    if (claims != NULL)
        claims->since = now;
}

void gang_claims_restart(struct coordinator *c, struct moment now)
{
    for (struct gang_claims *claims = c->gang_claims; claims != NULL; claims = claims->next)
        claims->since = now;
}

static bool is_over(const struct gang_claims *claims, struct moment now)
{
    return moment_reached(now, moment_after(claims->since, span_of_ms(claims->seconds * 1000)));
}

/* One whose victims are still being evicted lands first, and is tried again. */
static void give_back(struct coordinator *c, const struct gang_claims *claims, struct str uid)
{
    const struct pod *pod = cache_nominee(c->cache, uid);
    struct flight *f = flights_get(&c->flights, uid);
    if (pod == NULL)
        return;
    arena_reset(&c->cycle_memory);
    struct message m = {
        .type = MSG_pod_failed,
        .pod_failed = {.pod = *pod, .reason = REASON_unschedulable, .set_nominated = true}};
    m.pod_failed.message = arena_print(
        &c->cycle_memory,
        "pod group gives its nominated nodes back: it was not placed within %" PRId64 " seconds",
        claims->seconds);
    outbox_put(c->out, c->binder, &m);
    const struct pod named = {.uid = arena_copy(&c->cycle_memory, uid)};
    cache_nominate(c->cache, &named, (struct str){NULL, 0});
    if (f != NULL && f->state == FLIGHT_waiting)
        f->pod.nominated_node = (struct str){NULL, 0};
}

void gang_claims_look(struct coordinator *c, struct moment now)
{
    struct gang_claims **at = &c->gang_claims;
    if (*at == NULL || gang_under_way(c) != NULL || deciding_count(c) > 0 || !leadership_leads(c))
        return;
    while (*at != NULL) {
        if (!is_over(*at, now)) {
            at = &(*at)->next;
            continue;
        }
        log_info("a group gives its nominations back| group=%.*s/%.*s pods=%u",
                 STR_ARG((*at)->group.namespace_name), STR_ARG((*at)->group.name),
                 (*at)->uids.count);
        for (uint32_t i = 0; i < (*at)->uids.count; i++)
            give_back(c, *at, (*at)->uids.at[i]);
        landing_say_room(c);
        drop(at);
    }
}
