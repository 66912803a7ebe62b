/* profiles: whose pods are ours, and what they are asked with. What must stay true: pods refer to
 * what is known of their profile, so none of that ever goes; a profile that is served no more is
 * only not ours. */
#include "queue/profiles.h"

#include "proto/base/memory.h"
#include "queue/plugins.h"
#include "queue/queue_inside.h"

/* CoschedulingArgs where no configuration was told. */
#define GANG_WAIT_S            60
#define GANG_REJECT_PERCENTAGE 10

/* What hints may look up for the pods of a profile. */
static struct surroundings surroundings_of(struct queue *q, const struct profile *p)
{
    bool told = p != NULL && p->gangs != GANGS_none;
    uint64_t pre_enqueue = p != NULL ? plugins_of(&p->pre_enqueue) : PLUGINS_all;
    return (struct surroundings){
        .profile = p,
        .owners = q->owners,
        .mirror = q->mirror,
        .timing = &q->timing,
        .fifo = q->options.fifo,
        .gang_sort = q->options.gang_sort,
        .gangs = p == NULL || p->gangs != GANGS_off,
        .gangs_named = p != NULL && p->gangs == GANGS_on,
        .built_in_gangs = !told || p->gang_built_in,
        .gang_wait_s = told ? p->gang_wait_s : GANG_WAIT_S,
        .gang_backoff_s = told ? p->gang_backoff_s : 0,
        .gang_reject_percentage = told ? p->gang_reject_percentage : GANG_REJECT_PERCENTAGE,
        .obeys_gates = (pre_enqueue & plugins_bit("SchedulingGates")) != 0,
        .obeys_claims = (pre_enqueue & plugins_bit("DynamicResources")) != 0};
}

struct served *profiles_find(const struct queue *q, struct str name)
{
    struct served *s = q->served;
    while (s != NULL && !str_equal(str_of(s->name), name))
        s = s->next;
    return s;
}

/* The profile of that name, from now on; NULL: the default one. */
static void serve(struct queue *q, struct str name, const struct profile *p)
{
    struct served *s = profiles_find(q, name);
    if (s == NULL) {
        s = memory_take(sizeof(*s));
        s->name = str_copy(name);
        s->next = q->served;
        q->served = s;
    }
    s->around = surroundings_of(q, p);
    s->ours = true;
}

void profiles_serve(struct queue *q, const struct profile *profiles, uint32_t count)
{
    for (struct served *s = q->served; s != NULL; s = s->next)
        s->ours = false;
    for (uint32_t i = 0; i < count; i++)
        serve(q, profiles[i].scheduler_name, &profiles[i]);
    if (count == 0)
        serve(q, STR_LITERAL("default-scheduler"), NULL);
}

const struct surroundings *profiles_ours(const struct queue *q, const struct pod *pod)
{
    const struct served *s = profiles_find(q, pod->scheduler_name);
    return s != NULL && s->ours ? &s->around : NULL;
}

void profiles_free(struct queue *q)
{
    for (struct served *s = q->served, *next; s != NULL; s = next) {
        next = s->next;
        memory_free(s->name);
        memory_free(s);
    }
}
