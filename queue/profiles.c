/* profiles: whose pods are ours, and what they are asked with. What must stay true: pods refer to
 * what is known of their profile, so no name ever goes, and what is known of it goes only for what
 * is known of it next; a profile that is served no more is only not ours. */
#include "queue/profiles.h"

#include "proto/base/memory.h"
#include "queue/hooks/hooks.h"
#include "queue/plugins.h"
#include "queue/queue_inside.h"

/* CoschedulingArgs where no configuration was told. */
#define GANG_WAIT_S            60
#define GANG_REJECT_PERCENTAGE 10

/* Since then a group of scheduling.k8s.io is queued as one, whatever its policy; before, where it
 * makes room as one, may have to be within one domain, or has claims that its pods share. */
#define RELEASE_OF_WHOLE_GROUPS 37

/* What hints may look up for the pods of a profile. */
static struct surroundings surroundings_of(struct queue *q, const struct profile *p,
                                           struct arena *a)
{
    const struct queue_plugin **hooks = NULL;
    uint32_t hook_count = p != NULL ? hooks_before_queue(p->pre_enqueue, &hooks, a) : 0;
    bool told = p != NULL && p->gangs != GANGS_none;
    const struct features *f = p != NULL ? &p->features : NULL;
    bool as_one = f != NULL && (f->release >= RELEASE_OF_WHOLE_GROUPS || f->group_preemption ||
                                f->group_topology || f->workload_claims);
    uint64_t pre_enqueue = p != NULL ? plugins_of(&p->pre_enqueue) : PLUGINS_all;
    return (struct surroundings){
        .profile = p,
        .owners = q->owners,
        .mirror = q->mirror,
        .timing = &q->timing,
        .hooks = hooks,
        .hook_count = hook_count,
        .sort = q->options.sort,
        .gang_sort = q->options.gang_sort,
        .gangs = p == NULL || p->gangs != GANGS_off,
        .gangs_named = p != NULL && p->gangs == GANGS_on,
        .built_in_gangs = !told || p->gang_built_in,
        .whole_groups = told && p->gang_built_in && as_one,
        .uncounted_groups = told && p->gang_built_in && !f->gang_counts,
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

static const struct profile *keep(struct served *s, const struct profile *p)
{
    arena_reset(&s->memory);
    struct profile *kept = arena_take(&s->memory, sizeof(*kept));
    codec_copy(&profile_record, kept, p, &s->memory);
    kept->scheduler_name = str_of(s->name); /* measures go by it */
    return kept;
}

/* Whom it asks of the plugins on the bus, and what wakes those that they turned away. */
static void serve_plugins(struct queue *q, struct served *s)
{
    const struct profile *p = s->around.profile;
    if (p == NULL || p->bus_plugins.count == 0)
        return;
    bus_wakes_read(&s->wakes, p, &q->queues.named);
    consulting_read(q->consulting, p, q->options.sort_plugin, &s->consults);
    s->around.bus = &s->wakes;
    if (s->consults.count > 0 || s->consults.sort != NULL)
        s->around.consults = &s->consults;
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
    s->around = surroundings_of(q, p != NULL ? keep(s, p) : NULL, &s->memory);
    s->ours = true;
    s->consults = (struct consults){0};
    serve_plugins(q, s);
}

static uint32_t add_name(struct str *names, uint32_t count, struct str name)
{
    uint32_t first = 0;
    while (first < count && !str_equal(names[first], name))
        first++;
    if (first == count && count < CONFIG_BUS_PLUGINS_MAX)
        names[count++] = name;
    return count;
}

/* Those that this process has something to ask. */
static void meet_plugins(struct queue *q)
{
    struct str names[CONFIG_BUS_PLUGINS_MAX];
    uint32_t count = 0;
    for (const struct served *s = q->served; s != NULL; s = s->next) {
        const struct profile *p = s->around.profile;
        const struct consults *c = &s->consults;
        for (uint32_t i = 0; s->ours && i < c->count; i++)
            count = add_name(names, count, c->gates[i]->name);
        if (s->ours && c->sort != NULL)
            count = add_name(names, count, c->sort->name);
        for (uint32_t i = 0; s->ours && p != NULL && i < p->bus_plugins.count; i++)
            if (p->bus_plugins.at[i].hints)
                count = add_name(names, count, p->bus_plugins.at[i].name);
    }
    consulting_configure(q->consulting, names, count);
}

void profiles_serve(struct queue *q, const struct profile *profiles, uint32_t count)
{
    consulting_forget(q->consulting, q->now);
    for (struct served *s = q->served; s != NULL; s = s->next) {
        s->ours = false;
        s->around.consults = NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        serve(q, profiles[i].scheduler_name, &profiles[i]);
    if (count == 0)
        serve(q, STR_LITERAL("default-scheduler"), NULL);
    meet_plugins(q);
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
        arena_free(&s->memory);
        memory_free(s->name);
        memory_free(s);
    }
}
