/* reserving: what is assumed of a pod's volumes and claims on its node, between its decision and
 * its bind. What must stay true: all of it or nothing is reserved. */
#include "scheduler/coordinator/reserving.h"

#include "scheduler/cluster/cache_view.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/rules/plugin.h"

struct attempt_question reserving_question(const struct coordinator *c, struct flight *f,
                                           const struct framework *fw, struct str node)
{
    return (struct attempt_question){.framework = fw,
                                     .catalog = c->catalog,
                                     .cluster = cache_view(c->cache),
                                     .pod = &f->pod,
                                     .node = node,
                                     .now_us = coordinator_wall_us(c),
                                     .arena = (struct arena *)&c->cycle_memory,
                                     .kept = &f->arena};
}

static void unreserve_hooks(struct coordinator *c, struct flight *f)
{
    if (f->hooks.count == 0)
        return;
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    struct attempt_question q = reserving_question(c, f, fw, f->hooks.node);
    hooks_unreserve(&q, &f->hooks);
}

static enum reserved failed(struct coordinator *c, struct flight *f, struct reserve_failure *why,
                            struct reserve_failure is)
{
    *why = is;
    reserving_undo_quietly(c, f);
    return RESERVED_failed;
}

static enum reserved devices_of(struct coordinator *c, struct flight *f, const struct decision *d,
                                const struct node *node, struct reserve_failure *why)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    const struct device_reserve_question q = {.pod = &f->pod,
                                              .features = &fw->profile.features,
                                              .open = d->open_claims,
                                              .node = node,
                                              .random = &c->random};
    struct str error = {0};
    enum device_outcome outcome = device_reserve(c->catalog, &q, &f->devices, &error, &f->arena);
    if (outcome == DEVICES_failed)
        return failed(c, f, why, (struct reserve_failure){"DynamicResources", CODE_error, error});
    if (outcome == DEVICES_reserved)
        return RESERVED_all;
    reserving_undo_quietly(c, f);
    return RESERVED_not;
}

/* Whether nodes were chosen by what the pod's claims have been given. Without the filter they are
 * not, and another decision would choose no better. */
static bool nodes_follow_claims(const struct framework *fw, const struct pod *pod)
{
    return pod->device_claims.count > 0 &&
           strs_hold(fw->profile.pre_filter, STR_LITERAL("DynamicResources")) &&
           strs_hold(fw->profile.filter, STR_LITERAL("DynamicResources"));
}

static bool reserves_devices(const struct framework *fw, const struct pod *pod,
                             const struct decision *d)
{
    return (d->open_claims > 0 || nodes_follow_claims(fw, pod)) &&
           strs_hold(fw->profile.reserve, STR_LITERAL("DynamicResources"));
}

bool reserving_room(struct coordinator *c, struct flight *f, const struct decision *d)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    struct node node = {.name = d->preemption.node};
    struct reserve_failure why;
    if (fw == NULL || !reserves_devices(fw, &f->pod, d))
        return true;
    (void)cache_node_get(c->cache, node.name, &node, &c->cycle_memory);
    return devices_of(c, f, d, &node, &why) == RESERVED_all;
}

static enum reserved volumes_of(struct coordinator *c, struct flight *f,
                                const struct reserve_question *q, struct reserve_failure *why)
{
    struct str error;
    if (volume_reserve(c->catalog, q, &f->reserved, &error, &f->arena))
        return RESERVED_all;
    return failed(c, f, why, (struct reserve_failure){"VolumeBinding", CODE_error, error});
}

static enum reserved hook_of(struct coordinator *c, struct flight *f, const struct plugin *p,
                             struct attempt_question *q, struct reserve_failure *why)
{
    struct hook_reply said = hook_reserve(p, q, &f->hooks, c->options.clock);
    if (said.code == CODE_success)
        return RESERVED_all;
    return failed(c, f, why, (struct reserve_failure){p->name, said.code, said.reason});
}

/* The profile's plugins, one after the other. */
static enum reserved in_order(struct coordinator *c, const struct slot *s, const struct node *node,
                              struct reserve_failure *why)
{
    struct flight *f = s->flight;
    const struct decision *d = reduce_decision(s->reduce);
    const struct volume_findings *findings = &reduce_request(s->reduce)->findings.volumes;
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    const struct reserve_question q = {.pod = &f->pod, .findings = findings, .node = node};
    struct attempt_question hooked = reserving_question(c, f, fw, d->node);
    enum reserved so_far = RESERVED_all;
    if (fw->reserve.count > 0)
        f->hooks.node = arena_copy(&f->arena, d->node);
    for (uint32_t i = 0; so_far == RESERVED_all && i < fw->profile.reserve.count; i++) {
        struct str name = fw->profile.reserve.at[i];
        const struct plugin *p = hooked_find(&fw->reserve, name);
        if (p != NULL)
            so_far = hook_of(c, f, p, &hooked, why);
        else if (str_is(name, "VolumeBinding") && findings->delayed.count > 0)
            so_far = volumes_of(c, f, &q, why);
        else if (str_is(name, "DynamicResources") && reserves_devices(fw, &f->pod, d))
            so_far = devices_of(c, f, d, node, why);
    }
    return so_far;
}

/* RESERVED_not: its devices have gone meanwhile, so it is to be decided anew. */
enum reserved reserving_begin(struct coordinator *c, const struct slot *s,
                              struct reserve_failure *why)
{
    const struct flight *f = s->flight;
    const struct decision *d = reduce_decision(s->reduce);
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    bool volumes = reduce_request(s->reduce)->findings.volumes.delayed.count > 0 &&
                   strs_hold(fw->profile.reserve, STR_LITERAL("VolumeBinding"));
    struct node node = {.name = d->node};
    if (!volumes && fw->reserve.count == 0 && !reserves_devices(fw, &f->pod, d))
        return RESERVED_all;
    (void)cache_node_get(c->cache, d->node, &node, &c->cycle_memory);
    return in_order(c, s, &node, why);
}

struct pod reserving_placed(struct coordinator *c, const struct flight *f)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    return device_reserved_pod(&f->devices, fw != NULL ? &fw->profile.features : NULL, &f->pod,
                               &c->cycle_memory);
}

void reserving_undo_quietly(struct coordinator *c, struct flight *f)
{
    unreserve_hooks(c, f);
    (void)device_unreserve(c->catalog, &f->devices);
    (void)volume_unreserve(c->catalog, &f->reserved);
}

void reserving_undo(struct coordinator *c, struct flight *f)
{
    unreserve_hooks(c, f);
    if (device_unreserve(c->catalog, &f->devices))
        landing_say_free(c, "DynamicResources");
    if (volume_unreserve(c->catalog, &f->reserved))
        landing_say_free(c, "VolumeBinding");
}
