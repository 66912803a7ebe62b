/* preemption: requests to evict pods, and pods as the API server shows them. */
#ifndef TEST_BINDER_PREEMPTION_H
#define TEST_BINDER_PREEMPTION_H

#include "tests/unit/binder/world.h"

#define PODS         "/api/v1/namespaces/default/pods/"
#define GET(name)    "GET " PODS name
#define MARK(name)   "PATCH " PODS name "/status"
#define DELETE(name) "DELETE " PODS name

#define MARKED                                                                                     \
    "{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"PreemptionByScheduler\","     \
    "\"message\":\"default-scheduler: preempting to accommodate a higher priority pod\"}"
#define VICTIM(uid, more, conditions)                                                              \
    "{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"" uid "\",\"generation\":1,\"resourceVersion\":"    \
    "\"7\"" more "},\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"conditions\":[" conditions "]}}"
#define PLAIN(uid)       VICTIM(uid, "", "{\"type\":\"PodScheduled\",\"status\":\"True\"}")
#define IS_MARKED(uid)   VICTIM(uid, "", MARKED)
#define TERMINATING(uid) VICTIM(uid, ",\"deletionTimestamp\":\"2026-01-02T03:04:35Z\"", MARKED)

/* A preemption by pod top on n1; victims are called as their UIDs: "a b c". */
struct eviction {
    struct message m;
    struct victim victims[64];
    struct pod lower[8];
};

static inline void eviction_of(struct eviction *e, const char *preemptor, const char *victims)
{
    memset(e, 0, sizeof(*e));
    e->m.type = MSG_preempt;
    e->m.preempt = (struct preempt){.pod = {.uid = str_of(preemptor),
                                            .namespace_name = STR_LITERAL("default"),
                                            .name = str_of(preemptor),
                                            .priority = 1000,
                                            .scheduler_name = STR_LITERAL("default-scheduler")},
                                    .node_name = STR_LITERAL("n1"),
                                    .victims.at = e->victims,
                                    .lower.at = e->lower};
    for (const char *at = victims; *at != 0;) {
        uint32_t len = (uint32_t)strcspn(at, " ");
        e->victims[e->m.preempt.victims.count++] = (struct victim){
            .uid = {at, len}, .namespace_name = STR_LITERAL("default"), .name = {at, len}};
        at += len + (at[len] == ' ');
    }
}

/* The scheduler has said what marking needs: it is as PLAIN. */
static inline void eviction_describes(struct eviction *e, uint32_t victim)
{
    static struct str types[] = {{"PodScheduled", 12}};
    struct victim *v = &e->victims[victim];
    v->unmarked = true;
    v->resource_version = 7;
    v->generation = 1;
    v->condition_types = (struct strs){1, types};
}

static inline void eviction_clears(struct eviction *e, const char *name, const char *nominated)
{
    e->lower[e->m.preempt.lower.count++] =
        (struct pod){.uid = str_of(name),
                     .namespace_name = STR_LITERAL("default"),
                     .name = str_of(name),
                     .nominated_node = str_of(nominated),
                     .scheduler_name = STR_LITERAL("default-scheduler")};
}

static inline void preempt(struct world *w, const char *preemptor, const char *victims)
{
    struct eviction e;
    eviction_of(&e, preemptor, victims);
    world_say(w, &e.m, SCHEDULER);
    world_tick(w);
}

/* Answers, and lets the binder go on. */
static inline void reply(struct world *w, const char *text, int status, const char *body)
{
    world_answer(w, text, status, body);
    world_step(w, 0);
}

/* The one preempt_result that was sent. */
static inline const struct preempt_result *preempted(struct world *w)
{
    if (world_heard(w, MSG_preempt_result, 0) == NULL)
        fail_msg("no preempt_result was sent");
    assert_null(world_heard(w, MSG_preempt_result, 1));
    return &world_heard(w, MSG_preempt_result, 0)->preempt_result;
}

#endif
