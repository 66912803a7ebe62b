/* cache: the coordinator's knowledge of nodes and of the pods on them, reservations included, and
 * which worker has which share of it. Pure: what workers must be told goes out through one
 * callback.
 *
 * Pods by UID: absent → assumed → added → absent. Assuming takes the pod's room at once; only the
 * watch confirms it, cache_forget gives it back. A node that is unknown or gone while pods name it
 * is a ghost: its pods are kept, no worker has it. Each known node belongs to exactly one worker,
 * if there is any; shares are balanced by count and capacity when workers join and leave.
 *
 * Workers hear of every change in order; images and the number of nodes are gathered, so call
 * cache_flush before a map_request. */
#ifndef SCHEDULER_CLUSTER_CACHE_H
#define SCHEDULER_CLUSTER_CACHE_H

#include "proto/messages.h"

struct cache;

struct catalog;
struct device_memo;

struct cache_options {
    const struct profile *profiles; /* copied; sent with shard_reset */
    uint32_t profile_count;
    int64_t generation, hash; /* of the configuration; told with them */
    /* Sends m to a worker, by the id it joined with. m is borrowed for the call. */
    void (*tell)(void *context, uint32_t worker, const struct message *m);
    /* The same for a message whose body is encoded already. False: not now, it is to be told by
     * tell. May be NULL. */
    bool (*tell_encoded)(void *context, uint32_t worker, enum message_type type, struct str body);
    void *context;
    /* Messages that may be on the way to a worker that counts what it takes; what changes beyond
     * that it hears of later, node by node as a whole. 0: no limit. */
    uint32_t window;
    bool (*may_wait)(void *context); /* false: not now, it must be told at once */
    /* Borrowed; what is told of pods' volumes and of nodes' storage comes from it, and it is told
     * which claims are in use. NULL: workers hear nothing of storage. */
    struct catalog *catalog;
};

struct cache *cache_new(const struct cache_options *options);
void cache_free(struct cache **c);

/* ---- workers ---- */

/* A worker (again) offers itself: it is told shard_reset, the images, its share and the pods on it.
 * ids are the caller's (the bus's peer number); an id that is known starts anew. */
void cache_worker_join(struct cache *c, uint32_t worker, int64_t capacity);
/* The same for one that will say what it has taken in (cache_worker_took). */
void cache_worker_join_paced(struct cache *c, uint32_t worker, int64_t capacity);
/* It has taken in so many messages. */
void cache_worker_took(struct cache *c, uint32_t worker, int64_t count);
/* Tells what is owed to workers, as far as there is room. */
void cache_catch_up(struct cache *c);
/* Nodes that workers are still to be told of: nothing can be decided until there are none. */
uint32_t cache_owed(const struct cache *c);
/* Its nodes go to the others. Unknown: nothing. */
void cache_worker_leave(struct cache *c, uint32_t worker);
/* Other profiles: every worker begins anew with them, and is told all it has to know. */
void cache_reconfigure(struct cache *c, const struct cache_options *options);
uint32_t cache_workers(const struct cache *c);
/* Ids in order of joining, i < cache_workers(c). */
uint32_t cache_worker(const struct cache *c, uint32_t i);
uint32_t cache_worker_nodes(const struct cache *c, uint32_t i);
/* Tells all workers what has changed about images, the number of nodes, and volumes of nominated
 * pods. */
void cache_flush(struct cache *c);

/* ---- the watcher's stream ---- */

void cache_node_set(struct cache *c, const struct node *node);
void cache_node_gone(struct cache *c, struct str name);

/* The catalog has taken this message: workers are told what it changes for them. */
void cache_object(struct cache *c, const struct message *m);

enum cache_change {
    CACHE_nothing,   /* not ours to know, or nothing new */
    CACHE_added,     /* an assigned pod that was not known */
    CACHE_confirmed, /* an assumed pod is seen assigned */
    CACHE_resized,   /* the same, and its spec has changed since it was assumed */
    CACHE_updated,   /* an assigned pod has changed */
    CACHE_moved,     /* seen on another node than known: logged as an error upstream */
    CACHE_forgotten, /* an assumed pod is being deleted or is gone: its room was given back */
    CACHE_removed    /* an assigned pod is gone */
};

/* Any pod of the stream, assigned or not. An assumed pod stays assumed while the stream still shows
 * it unassigned, unless it is being deleted. */
enum cache_change cache_pod_set(struct cache *c, const struct pod *pod);
enum cache_change cache_pod_gone(struct cache *c, struct str uid);
/* Around a snapshot: what is not set between the two does not exist any more. The catalog's
 * snapshot ends first. */
void cache_snapshot_begin(struct cache *c);
void cache_snapshot_end(struct cache *c);
/* Before that: nominations that were made during the snapshot stay if it has shown their pods,
 * which had none by then. */
void cache_keep_nominated(struct cache *c, bool (*shown)(const void *context, struct str uid),
                          const void *context);

/* ---- decisions ---- */

/* Reserves. False when the pod is in the cache already (assumed or assigned). */
bool cache_assume(struct cache *c, const struct pod *pod, struct str node);
/* The same for a pod that the node's worker has put there itself: it is not told. */
bool cache_assume_told(struct cache *c, const struct pod *pod, struct str node);
/* Gives an assumed pod's room back. False when it is not assumed. */
bool cache_forget(struct cache *c, struct str uid);
/* Workers and the catalog take a pod that is assumed or assigned for gone, until it is shown again;
 * what happens to it meanwhile is noted here alone. False: it is not there, or hidden already. */
bool cache_hide(struct cache *c, struct str uid);
/* Unknown or not hidden: nothing. */
void cache_show(struct cache *c, struct str uid);

enum cache_pod_state { CACHE_absent, CACHE_assumed, CACHE_assigned };
/* node (may be NULL) becomes where it is; borrowed until the cache changes. */
enum cache_pod_state cache_pod(const struct cache *c, struct str uid, struct str *node);
/* True when nobody of that UID is on a node, or it terminates there. */
bool cache_pod_is_going(const struct cache *c, struct str uid);
/* True when it is on a node, to stay, and that has put off its resize. */
bool cache_pod_may_resize(const struct cache *c, struct str uid);

/* ---- members of gangs on nodes, assumed or not; known only while a profile has gangs. Those that
 * terminate or are hidden do not count, but for the first two. ---- */

/* All of them, as the queue counts, and upstream. */
int64_t cache_gang_on_nodes(const struct cache *c, const struct gang *group);
/* Calls visit for all of them; the pods last as long as the arena. */
void cache_each_on_nodes(const struct cache *c, const struct gang *group, struct arena *a,
                         void (*visit)(void *context, const struct pod *pod), void *context);
int64_t cache_gang_placed(const struct cache *c, const struct gang *group);
/* Sets api, namespace_name and name of the pod's group, from the arena. False: it has none, or does
 * not count. */
bool cache_gang_of(const struct cache *c, struct str uid, struct gang *group, struct arena *a);
/* Calls visit for each; the pods last as long as the arena. */
void cache_each_member(const struct cache *c, const struct gang *group, struct arena *a,
                       void (*visit)(void *context, const struct pod *pod), void *context);

/* Adds what marking this pod as a victim needs, if that is known; from the arena. */
void cache_describe_victim(const struct cache *c, struct victim *victim, struct arena *a);

/* ---- nominated pods: a claim on a node while victims terminate ---- */

/* Sets or, with an empty node, drops the claim, whatever the pod's status says. None is made for a
 * pod that is on a node, or that has gone lately. */
void cache_nominate(struct cache *c, const struct pod *pod, struct str node);
/* Drops those that no status shows, but of pods that are kept. False: there are none. */
bool cache_drop_unwritten(struct cache *c, bool (*kept)(const void *context, struct str uid),
                          const void *context);
/* Workers keep the claims on their nodes, with volumes looked up as those of pods on nodes. Whether
 * one counts for this pod: of another UID, with at least its priority, on a known node. */
bool cache_has_rivals(const struct cache *c, const struct pod *pod);
/* Where the pod itself has a claim; borrowed until the next change. False: nowhere. */
bool cache_nomination(const struct cache *c, struct str uid, struct str *node);
/* The pod is one of the last that were seen to go, and was not seen since. */
bool cache_has_gone(const struct cache *c, struct str uid);
/* The same pod as last seen, with nominated_node set to it; borrowed likewise. NULL: no claim. */
const struct pod *cache_nominee(const struct cache *c, struct str uid);
/* The pods of lower priority than this that have a claim on this node, likewise. */
const struct pod *cache_nominated_below(const struct cache *c, struct str node, int64_t priority,
                                        uint32_t *count, struct arena *a);

/* ---- to look at ---- */

uint32_t cache_nodes(const struct cache *c); /* known ones, ghosts not counted */
uint32_t cache_pods(const struct cache *c);  /* assumed and assigned */
uint32_t cache_assumed(const struct cache *c);
/* Pods that are not there yet and have a claim on a node. */
uint32_t cache_nominated(const struct cache *c);
/* How many of the pods have terms of pod affinity or anti-affinity. */
uint32_t cache_pods_with_terms(const struct cache *c);
/* The least priority of all pods; INT64_MAX without pods, INT64_MIN where it is not known. */
int64_t cache_least_priority(const struct cache *c);
/* Nodes whose label kubernetes.io/hostname is not their name, which is rare. */
uint32_t cache_odd_hostnames(const struct cache *c);
bool cache_has_node(const struct cache *c, struct str name);
/* The whole node, from the arena. False when it is not known. */
bool cache_node_get(const struct cache *c, struct str name, struct node *node, struct arena *a);
/* What searches for devices came to; for device_findings. */
struct device_memo *cache_device_memo(const struct cache *cache);
/* Whether its status lists any resource that devices may stand for. */
bool cache_node_has_extended(const struct cache *c, struct str name);
/* Adds to the findings which pods say that this claim takes of their nodes, from the arena. */
void cache_room_users(const struct cache *c, struct str namespace_name, struct str claim,
                      struct findings *out, struct arena *a);
/* Id of the worker that has this node; false when nobody does. */
bool cache_owner(const struct cache *c, struct str node, uint32_t *worker);
/* Known nodes in the node tree's order: round-robin over the zones, i < cache_nodes(c). Walk with
 * i = 0, 1, …; the order is built at i == 0. */
struct str cache_node_at(struct cache *c, uint32_t i);
/* Gives the nodes their places in that order, if one came or went since; as upstream's snapshot,
 * which keeps the order while a node only moves to another zone. */
void cache_walk(struct cache *c);
/* A node's place, by the last cache_walk; 0 for one that is not known. */
uint32_t cache_place(const struct cache *c, struct str node);
/* Calls visit with the pod, if it is assumed or assigned; the pod lasts as long as the call. */
void cache_visit_pod(const struct cache *c, struct str uid,
                     void (*visit)(void *context, const struct pod *pod), void *context);
/* The same for all on known nodes that have a lower priority, or name a PodGroup, whose priority
 * may be lower. */
void cache_each_lower(const struct cache *c, int64_t priority,
                      void (*visit)(void *context, const struct pod *pod), void *context);
/* The value that the node's label has, from the arena. False: it has no such label. */
bool cache_label_of_node(const struct cache *c, struct str name, struct str label,
                         struct str *value, struct arena *a);
/* Known nodes by the value that the label has, from the arena, both sorted; how many values. */
struct node_domain {
    struct str value;
    struct strs nodes;
};
uint32_t cache_domains(struct cache *c, struct str label, struct node_domain **domains,
                       struct arena *a);
/* What a node has of each of these resources, and what its pods count for in scoring, which is
 * added. */
struct node_usage {
    uint32_t count;
    const struct quantity *resources;
    int64_t *allocatable, *requested;
};
void cache_node_usage(const struct cache *c, struct str name, struct node_usage *usage);
/* The same, with what its pods take of it. */
void cache_node_taken(const struct cache *c, struct str name, struct node_usage *usage);
/* Something that is held, to be compared; borrowed for the call. */
struct cache_held {
    struct str name, uid; /* of a node the name alone */
    struct str node;      /* of a pod */
    int64_t version;
    bool assumed;
    bool shared; /* a worker has it, and was told of it */
};
/* Calls visit for each known node; and for each pod, also on nodes that are not known. */
void cache_each_held_node(const struct cache *c,
                          void (*visit)(void *context, const struct cache_held *what),
                          void *context);
void cache_each_held_pod(const struct cache *c,
                         void (*visit)(void *context, const struct cache_held *what),
                         void *context);
/* Calls visit for each pod on the node, assumed or not. */
void cache_each_pod(const struct cache *c, struct str node,
                    void (*visit)(void *context, const struct pod *pod, bool assumed),
                    void *context);

#endif
