/* bind_request: what the binder is asked for a pod that has its node: the Binding, and before it
 * what becomes of its claims. What must stay true: asked again it is the same request. */
#include "scheduler/coordinator/bind_request.h"

#include "scheduler/catalog/device_book.h"
#include "scheduler/catalog/device_extended.h"
#include "scheduler/catalog/group_claims.h"
#include "scheduler/tracing/attempt_trace.h"

/* What is to happen to the pod's claims before it is bound. */
static void add_claims(const struct coordinator *c, const struct flight *f, struct bind *b)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    if (f->reserved.count == 0 || fw == NULL ||
        !strs_hold(fw->profile.pre_bind, STR_LITERAL("VolumeBinding")))
        return;
    b->claims.count = f->reserved.count;
    b->claims.at = f->reserved.at;
    b->bind_timeout_s = fw->profile.bind_timeout_s;
    b->set_nominated = !str_equal(f->pod.nominated_node, f->pod.node_name);
}

/* A pod may name a claim twice; it is written once. */
static void name_each_claim_once(struct bind *bind, struct arena *a)
{
    uint32_t count = bind->device_claims.count;
    const struct device_claim *named = bind->device_claims.at;
    bind->device_claims.at = arena_take(a, count * sizeof(*named));
    for (uint32_t i = 0; i < count; i++) {
        bind->device_claims.at[i] = named[i];
        for (uint32_t k = 0; k < i; k++)
            bind->device_claims.at[i].unneeded |= str_equal(named[k].claim, named[i].claim);
    }
}

/* A claim is made for what devices stand for. Upstream says where the pod will be even if none has
 * to be made there. */
static void add_special_claim(struct coordinator *c, const struct flight *f, struct bind *bind)
{
    struct extended_claim *special = f->devices.extended;
    bind->set_nominated |= extended_is_wanted(c->catalog, &f->pod);
    if (special == NULL)
        return;
    bind->extended.at = arena_take(&c->cycle_memory, sizeof(*special));
    bind->extended.at[0] = *special;
    bind->extended.at[0].allocation.uid = (struct str){NULL, 0};
    bind->extended.count = 1;
}

/* Those that are its PodGroup's are reserved for that one. */
static void add_group(const struct coordinator *c, const struct flight *f,
                      const struct framework *fw, struct bind *bind)
{
    const struct gang *group = group_claims_owner(c->catalog, &fw->profile.features, &f->pod);
    if (group == NULL)
        return;
    bind->group = group->name;
    bind->group_uid = group->uid;
    for (uint32_t i = 0; i < bind->device_claims.count; i++)
        bind->device_claims.at[i].for_group =
            group_claims_bind(group, &f->pod.device_claims.at[i], NULL);
}

/* The claim as it was told last, so that the binder need not read it; one that other pods write,
 * too, is read. */
static struct str document_of(const struct coordinator *c, const struct flight *f,
                              const struct device_allocation *given)
{
    const struct resource_claim *claim =
        catalog_resource_claim(c->catalog, f->pod.namespace_name, given->claim);
    bool known = claim != NULL && !given->shared && str_equal(claim->uid, given->uid);
    return known ? claim->document : (struct str){NULL, 0};
}

static void add_allocations(struct coordinator *c, const struct flight *f, struct bind *bind)
{
    const struct device_book *book = catalog_devices(c->catalog);
    bind->allocations.count = f->devices.count;
    bind->allocations.at = arena_take(&c->cycle_memory, f->devices.count * sizeof(*f->devices.at));
    for (uint32_t i = 0; i < f->devices.count; i++) {
        struct device_allocation *given = &bind->allocations.at[i];
        *given = f->devices.at[i];
        given->shared = device_book_is_shared(book, given->uid);
        given->document = document_of(c, f, given);
    }
}

/* Claims get their devices and are reserved for the pod before it is bound. */
static void add_devices(struct coordinator *c, const struct flight *f, struct bind *bind)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    if (fw == NULL || !strs_hold(fw->profile.pre_bind, STR_LITERAL("DynamicResources")))
        return;
    bind->device_claims.count = f->pod.device_claims.count;
    bind->device_claims.at = f->pod.device_claims.at;
    name_each_claim_once(bind, &c->cycle_memory);
    add_group(c, f, fw, bind);
    add_allocations(c, f, bind);
    bind->relied_on.count = f->devices.relied_count;
    bind->relied_on.at = f->devices.relied_on;
    bind->claim_rooms.count = f->devices.room_count;
    bind->claim_rooms.at = f->devices.rooms;
    bind->rooms_by_kind = fw->profile.features.release >= 37;
    for (uint32_t i = 0; i < bind->device_claims.count; i++)
        bind->set_nominated |= !bind->device_claims.at[i].unneeded;
    add_special_claim(c, f, bind);
    bind->set_nominated &= !str_equal(f->pod.nominated_node, f->pod.node_name);
    const struct features *features = &fw->profile.features;
    bool waits = features->device_binding && features->device_status;
    if (bind->device_claims.count + bind->extended.count > 0)
        bind->device_timeout_ms = waits ? fw->profile.device_binding_timeout_ms : -1;
}

/* Names the extender that binds the pod, if there is one. */
static void add_extender(const struct coordinator *c, const struct pod *pod, struct bind *bind,
                         struct arena *a)
{
    for (uint32_t i = 0; i < c->options.extender_count; i++) {
        const struct extender_config *e = &c->options.extenders[i];
        if (e->bind_verb.len == 0 || !extender_interested(e, pod))
            continue;
        bind->extenders.at = arena_take(a, sizeof(*bind->extenders.at));
        bind->extenders.at[0] = (struct extender_ref){i, e->url_prefix};
        bind->extenders.count = 1; /* there is one that binds at most */
        bind->extenders_hash = c->options.extenders_hash;
        return;
    }
}

/* The pod is as big as all of the rest, so it goes along only where somebody is told of it. */
static void add_hooks(const struct coordinator *c, struct flight *f, struct bind *bind)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    if (fw == NULL)
        return;
    bind->pre_bind = fw->pre_bind;
    bind->binders = fw->bind;
    bind->post_bind = fw->post_bind;
    bind->bus_plugins.count = fw->asked_to_bind_count;
    bind->bus_plugins.at = fw->asked_to_bind;
    bind->told.count = fw->asked_to_bind_count > 0;
    bind->told.at = &f->pod;
}

bool bind_request_says_where(const struct coordinator *c, const struct flight *f)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    return fw != NULL && fw->profile.features.expected_nomination;
}

void bind_request_send(struct coordinator *c, struct flight *f)
{
    char traceparent[TRACE_CONTEXT + 1];
    struct message m = {.type = MSG_bind,
                        .bind = {.uid = f->pod.uid,
                                 .namespace_name = f->pod.namespace_name,
                                 .name = f->pod.name,
                                 .node_name = f->pod.node_name,
                                 .scheduler_name = f->pod.scheduler_name,
                                 .resource_version = f->pod.resource_version,
                                 .popped_us = f->popped_us}};
    if (f->popped_us > 0)
        m.bind.hops = f->hops;
    attempt_trace_phase(f->trace, "Bind", coordinator_wall_us(c));
    attempt_trace_context(f->trace, traceparent);
    m.bind.traceparent = str_of(traceparent);
    f->popped_us = 0; /* if it has to be sent again, that is no part of the decision */
    add_extender(c, &f->pod, &m.bind, &c->cycle_memory);
    add_claims(c, f, &m.bind);
    add_devices(c, f, &m.bind);
    m.bind.set_nominated &= bind_request_says_where(c, f);
    add_hooks(c, f, &m.bind);
    outbox_put(c->out, c->binder, &m);
}

void bind_request_cancel(struct coordinator *c, struct str uid, struct str node, const char *why)
{
    struct message m = {.type = MSG_bind_cancel,
                        .bind_cancel = {.uid = uid, .node_name = node, .reason = str_of(why)}};
    outbox_put(c->out, c->binder, &m);
}
