/* bind_ends: what becomes of a pod that was being bound. What must stay true: each way out either
 * leaves what was reserved to the watch, which confirms it, or gives it back and says so. */
#include "scheduler/coordinator/bind_ends.h"

#include "proto/base/log.h"
#include "scheduler/coordinator/bind_request.h"
#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/expiring.h"
#include "scheduler/coordinator/former.h"
#include "scheduler/coordinator/landing.h"
#include "scheduler/coordinator/measure.h"
#include "scheduler/coordinator/preempting.h"
#include "scheduler/coordinator/reserving.h"

#include <inttypes.h>

/* Devices whose allocation was written stay in use until the watch shows it. So they do where the
 * claim is not as we know it: what we would say of it is too old. */
static void undo_claims(struct coordinator *c, struct flight *f, const struct bind_result *r)
{
    if (r->code == 409 && r->plugin == BIND_PLUGIN_dynamic_resources)
        device_settle(c->catalog, &f->devices, c->last_call);
    if (device_unreserve_but(c->catalog, &f->devices, r->allocated, r->extended, c->last_call))
        landing_say_free(c, "DynamicResources");
    reserving_undo(c, f);
}

void bind_ends_answered(struct coordinator *c, const struct bind_result *r)
{
    struct flight *f = flights_get(&c->flights, r->uid);
    former_ended(c, r->uid);
    if (r->bound)
        COUNT(c, bound, 1);
    if (f == NULL || f->state != FLIGHT_binding || !str_equal(f->pod.node_name, r->node_name))
        return;     /* the watch was faster, or it is a former life's */
    if (r->bound) { /* stays assumed until the watch confirms it, or its time is over */
        expiring_begin(c, r);
        landing_end(c, f, OUTCOME_bound, NULL);
        return;
    }
    COUNT(c, bind_failed, 1);
    cache_forget(c->cache, r->uid);
    preempting_unbound(c, r->uid);
    undo_claims(c, f, r);
    log_warn("bind failed| pod=%.*s/%.*s node=%.*s code=%" PRId64 " message=\"%.*s\"",
             STR_ARG(r->namespace_name), STR_ARG(r->name), STR_ARG(r->node_name), r->code,
             STR_ARG(r->message));
    if (r->gone)
        measure_failed(c, f, false);
    if (r->gone || !leadership_leads(c)) {
        f->released = true;
        landing_end(c, f, OUTCOME_skipped, NULL);
        return;
    }
    arena_reset(&c->cycle_memory);
    struct str why =
        r->plugin == BIND_PLUGIN_extender || r->plugin == BIND_PLUGIN_hook ? r->message
        : r->plugin != BIND_PLUGIN_none
            ? arena_print(&c->cycle_memory, "running PreBind plugin \"%.*s\": %.*s",
                          STR_ARG(words_text(&bind_plugin_words, r->plugin)), STR_ARG(r->message))
            : arena_print(&c->cycle_memory, "running Bind plugin \"DefaultBinder\": %.*s",
                          STR_ARG(r->message));
    landing_fail(c, f, why);
}

/* The pod that is being bound is on a node. On another one: what was reserved for it on ours is
 * nobody's; of its devices only the watch can tell. */
void bind_ends_seen(struct coordinator *c, struct flight *f, struct str node)
{
    if (str_equal(node, f->pod.node_name)) {
        landing_end(c, f, OUTCOME_bound, NULL);
        return;
    }
    bind_request_cancel(c, f->pod.uid, f->pod.node_name, "the pod is bound to another node");
    device_settle(c->catalog, &f->devices, c->last_call);
    reserving_undo(c, f);
    f->released = true;
    landing_end(c, f, OUTCOME_skipped, NULL);
}
