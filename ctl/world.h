/* world: a cluster in memory, with the scheduler's own cache, shards and reduce, that decides pods
 * one after another. What `berth simulate` plays scenarios on. */
#ifndef WORLD_H
#define WORLD_H

#include "proto/kube/documents/json.h"
#include "proto/messages.h"
#include "scheduler/catalog/volume_reserve.h"
#include "scheduler/cluster/device_reserve.h"
#include "scheduler/merge/reduce.h"
#include "scheduler/rules/attempt_hooks.h"

struct world;
struct claim_configs;

/* profiles are copied. shards is at least 1. */
struct world *world_new(const struct profile *profiles, uint32_t count, uint32_t shards);
void world_free(struct world **w);

/* An object of the catalog: a message as in the watcher's stream. Claims and volumes get versions
 * of the world's own. */
void world_take(struct world *w, const struct message *m);
/* Whether a message is such a one: of the cluster, and neither of a node nor of a pod. */
bool world_takes(enum message_type type);
/* An object's JSON, before world_take, for what its record does not say: see controller_note and
 * claim_configs_note. */
void world_note(struct world *w, const struct kube_json *object);
/* The world is complete: from now on its controllers bind and make volumes (controller.h). */
void world_settle(struct world *w);
/* For reports. */
const struct catalog *world_catalog(const struct world *w);
const struct claim_configs *world_claim_configs(const struct world *w);
/* Whether the catalog has one of that kind, as in the API; space is empty for what has none. */
bool world_has_object(const struct world *w, struct str kind, struct str space, struct str name);
/* Around a snapshot of a cluster that is taken in whole. */
void world_snapshot_begin(struct world *w);
void world_snapshot_end(struct world *w);
void world_node_set(struct world *w, const struct node *node);
bool world_node_gone(struct world *w, struct str name);
/* False: there is no such node. */
bool world_node(const struct world *w, struct str name, struct node *node, struct arena *a);
/* A pod as the API server has it: assigned, or pending. */
void world_pod_set(struct world *w, const struct pod *pod);
bool world_pod_gone(struct world *w, struct str namespace_name, struct str name);
/* False when there is no such pod. */
bool world_pod(const struct world *w, struct str namespace_name, struct str name, struct pod *pod,
               struct arena *a);
/* Calls visit for each pod, pending ones too, in no order; it lasts as long as the call, in which
 * nothing may change. */
void world_each_pod(const struct world *w, void (*visit)(void *context, const struct pod *pod),
                    void *context);
/* The pod as it would be without its node, and without what its binding has added: the API server
 * gives a pod its node's zone and region as labels. From the arena, what is the same shared. */
struct pod world_pod_unbound(const struct world *w, const struct pod *pod, struct arena *a);
/* The PodGroup of that namespace, name and, unless that is empty, API group. False: there is none,
 * and group is as it was. */
bool world_group(const struct world *w, const struct gang *named, struct gang *group,
                 struct arena *a);
/* All pods that name it, from the arena, in no order. */
struct pod *world_members(const struct world *w, const struct gang *group, uint32_t *count,
                          struct arena *a);
/* NULL when no profile serves the pod. */
const struct framework *world_framework(const struct world *w, const struct pod *pod);

/* The PreEnqueue plugin that keeps the pod from being tried, SchedulingGates aside, and its reason
 * from the arena; empty: none does. */
struct str world_kept_by(const struct world *w, const struct pod *pod, struct str *reason,
                         struct arena *a);
/* Decides, with every node's verdict, and changes nothing. Borrowed until the next call. */
const struct decision *world_decide(struct world *w, const struct pod *pod);
/* What extenders have answered counts in the decisions from now on, as far as they are about the
 * nodes that were asked about; borrowed. NULL, as at first: there are no extenders. */
void world_consult(struct world *w, const struct extension *answers);
/* It counted in the last decision. False: there are none, or the decision would have needed others,
 * and was made without. */
bool world_consulted(const struct world *w);
/* Who asks plugins on the bus in the scheduler's place, and waits for them. */
struct world_plugins {
    void *state;
    /* What the plugin answers, to a question that has no id and no deadline yet; borrowed until the
     * next call. NULL: it has failed, as why says, in a sentence that names it, from the arena. */
    const struct plugin_answer *(*ask)(void *state, const struct bus_plugin *plugin,
                                       const struct plugin_ask *question, struct str *why,
                                       struct arena *a);
    void (*tell)(void *state, const struct bus_plugin *plugin, const struct plugin_told *news);
};
/* They are asked from now on, about whatever the profiles name them for; borrowed. NULL, as at
 * first: there are none. */
void world_ask_plugins(struct world *w, const struct world_plugins *plugins);
/* QueueSort: the key that the plugin gives the pod; its priority where it fails. */
int64_t world_sort_key(const struct world *w, const struct pod *pod,
                       const struct bus_plugin *sorts);
/* Some of them have a say in where this pod goes. */
bool world_asks(const struct world *w, const struct pod *pod);
/* What the rules alone say of every node: why it is no good, where nobody else was asked about it.
 * From the arena; the last decision is this one then. */
const struct verdict *world_by_rules(struct world *w, const struct pod *pod, uint32_t *count,
                                     struct arena *a);
/* What they, or extenders, said of nodes in the last world_decide: see answered_verdicts; borrowed
 * until the next one. NULL: nothing. */
const struct extension *world_answers(const struct world *w);
/* The decision counts: the next pod's walk over the nodes begins where this one's ended. */
void world_walked(struct world *w, const struct decision *decision);
/* Decides as live workers do, who do not tell every verdict. Borrowed until its next call. */
const struct decision *world_decide_shortly(struct world *w, const struct pod *pod);
const struct verdict *world_verdicts(const struct world *w, uint32_t *count);
/* Known nodes, in name order; names from the arena. */
struct strs world_nodes(const struct world *w, struct arena *a);
/* Calls visit for each pod that has room on the node; it has what kept_pod_of keeps, and lasts as
 * long as the call. */
void world_each_pod_on(const struct world *w, struct str node,
                       void (*visit)(void *context, const struct pod *pod, bool assumed),
                       void *context);
/* Pods of its PodGroup, whose claims count, are on nodes. */
bool world_group_is_active(const struct world *w, const struct pod *pod);
/* What was decided to be deallocated is written: the claim has no devices, and nobody has it, or
 * there is none any more, or it is the PodGroup's no more. */
void world_deallocate(struct world *w, const struct pod *pod, const struct deallocation *d);
/* What is reserved for a pod that was decided. */
struct held {
    struct arena *arena; /* what reserved and devices lie in */
    struct reservation reserved;
    struct device_reservation devices;
    struct hooks_held hooks; /* plugins' */
    struct held_asked {      /* of those on the bus: how many places of the profile's list were */
        uint32_t reserve, permit;
    } asked;
    struct str rejected_by; /* after world_hold said no: a plugin, so the pod is unschedulable;
                             * empty: it is an error */
};
/* Runs Reserve and Permit for the pod that was decided last; who is to wait for Permit counts as
 * permitted. False with an error, or the message of a pod that was rejected, when one says no. */
bool world_hold(struct world *w, const struct pod *pod, struct str node, struct held *held,
                struct str *error);
/* The pod as it counts on its node with what it holds; what is new of it is in the arena. */
const struct pod *world_held_pod(const struct world *w, const struct pod *pod,
                                 const struct held *held, struct arena *a);
/* Has the volumes bound and the claims written; devices are empty then. False: a volume cannot be
 * bound. */
bool world_bind_held(struct world *w, const struct pod *pod, struct held *held);
/* The same; what cannot be bound is given back, with an error. */
bool world_bind_or_give_back(struct world *w, const struct pod *pod, struct held *held,
                             struct str *error);
/* What the claim is called here that is made for a pod's extended resources. */
struct str world_special_claim_name(const struct pod *pod, struct arena *a);
void world_give_back(struct world *w, const struct pod *pod, struct held *held);
/* Reserves room for the pod; it is not bound. */
void world_assume(struct world *w, const struct pod *pod, struct str node);
/* Gives that room back. */
void world_forget(struct world *w, const struct pod *pod);
/* See cache_hide and cache_show. */
void world_hide(struct world *w, struct str uid);
void world_show(struct world *w, struct str uid);
bool world_is_assumed(const struct world *w, const struct pod *pod);
/* Gives a pod with a node that node's zone and region as labels, as the API server does when it
 * comes. The list is from the arena. */
void world_label_pod(const struct world *w, struct pod *pod, struct arena *a);
/* Assumes and binds, as the scheduler and then the API server would. labels: the pod gets its
 * node's zone and region as labels, as the admission plugin PodTopologyLabels does it. */
void world_bind(struct world *w, const struct pod *pod, struct str node, bool labels);
/* The pod's status names this node from now on; empty: none. */
void world_nominate(struct world *w, const struct pod *pod, struct str node);
/* See cache_nominated_below. */
const struct pod *world_nominated_below(const struct world *w, struct str node, int64_t priority,
                                        uint32_t *count, struct arena *a);
/* A pod begins to terminate, driven out for another. Unknown: nothing. */
void world_terminate(struct world *w, struct str namespace_name, struct str name,
                     const struct pod *preemptor);

#endif
