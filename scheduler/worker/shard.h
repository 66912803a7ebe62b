/* shard: a share of the cluster's nodes with the pods on them, and the whole work of a worker on a
 * pod (shard_map). Runs the same in a worker process, in the coordinator and in `berth simulate`.
 *
 * Numbers lie in columns by row, one row a node (scheduler/table/nodes.h); removing a node moves
 * the last row into its place. Strings that are compared often are atoms. Pods may arrive before
 * their node: they wait at a ghost that has no row. Every change costs O(size of what changed). */
#ifndef SCHEDULER_WORKER_SHARD_H
#define SCHEDULER_WORKER_SHARD_H

#include "proto/messages.h"
#include "scheduler/rules/framework.h"
#include "scheduler/worker/run_question.h"

struct moment;
struct shard;

struct shard *shard_new(void);
void shard_free(struct shard **shard);

/* Forgets everything and takes the profiles. The next map_request may follow at once. */
void shard_reset(struct shard *s, const struct profile *profiles, uint32_t count);
/* A node is new or has changed. Copies what it needs; also below. */
void shard_node_set(struct shard *s, const struct node *node);
/* The node left the share, and with it the pods on it. Unknown: nothing. */
void shard_node_gone(struct shard *s, struct str name);
/* A pod is on node_name, assumed or assigned; replaces what was known by its UID, on whatever node.
 */
void shard_pod_set(struct shard *s, const struct pod *pod);
/* The same by message. A pod told of in place, because its volumes' claims changed and not itself,
 * keeps its place among the pods of its node, as in upstream's NodeInfo, which knows no claims: the
 * first pod that something is wrong with is named in texts. */
void shard_pod_told(struct shard *s, const struct shard_pod *told);
void shard_pod_gone(struct shard *s, struct str uid);
/* The pod of one UID turns out to be another one that is like it in all but UID and name. */
void shard_pod_rename(struct shard *s, struct str from, struct str uid, struct str name);
/* A pod is nominated to its nominated_node; replaces what was known by its UID. Ignored when the
 * node is not in the share; forgotten with the node. */
void shard_nominated(struct shard *s, const struct pod *pod);
void shard_nominated_gone(struct shard *s, struct str uid);
/* Named for its message: numbers of images in the whole cluster. */
void shard_images(struct shard *s, const struct shard_images *images);

/* Named for its message: limits of a node's storage. Ignored when the node is not in the share. */
void shard_storage(struct shard *s, const struct shard_storage *told);

/* Filters, scores and answers one map_request. Strings in the result come from the arena, the
 * request or the shard, and hold until the shard changes or the request's memory goes.
 *
 * Round 1 uses the share's own maxima to normalise; round 2 the request's, on the raw scores kept
 * from round 1 of the same cycle, or evaluated again if they are lost. With request.dry_run it says
 * instead what removing lower-priority pods would do on the nodes where that may help. A pod of no
 * known profile gives result.error. */
void shard_map(struct shard *s, const struct map_request *request, struct map_result *result,
               struct arena *a);

/* Rows of the share that are not chosen; and what they come to, where they pass. */
struct apart {
    uint32_t count;
    struct apart_row {
        uint32_t row;
        bool passes;
        int64_t total;
    } * at;
};

/* Answers a request of the step map for all nodes, but chooses among the others: best_count is 0
 * where none of those passes. */
void shard_map_apart(struct shard *s, const struct map_request *request, struct apart *apart,
                     struct map_result *result, struct arena *a);
/* The row of a node of the share; UINT32_MAX: it has none. Holds until the share changes. */
uint32_t shard_row(const struct shard *s, struct str node);

/* Answers a map_run that is grouped, from a class; q->out->fails when it cannot. Pods that it puts
 * on nodes stay there, as q->puts says. */
void shard_run(struct shard *s, const struct run_question *q);
/* Which of these places were taken, and how many pods the run had on all nodes, before anything
 * else is asked of runs. */
void shard_run_learn(struct shard *s, const struct run_puts *puts, const bool *taken,
                     int64_t placed);

/* For what is told of times: a clock (NULL: none), and when the filters of the last request were
 * through; 0 when its filters and scores were one pass. */
void shard_set_clock(struct shard *s, struct moment (*clock)(void));
int64_t shard_filtered_ns(const struct shard *s);
/* Times the plugins' calls in the next decision, and in some of those behind it (timings.h), for
 * the metrics. NULL: in none. */
void shard_time_plugins(struct shard *s, struct moment (*clock)(void));

/* Something that is held, to be compared; borrowed for the call. */
struct shard_held {
    struct str name, uid; /* of a node the name alone */
    struct str node;      /* of a pod */
};
/* Calls visit for each node of the share; and for each pod on one of them. */
void shard_each_node(const struct shard *s,
                     void (*visit)(void *context, const struct shard_held *what), void *context);
void shard_each_pod(const struct shard *s,
                    void (*visit)(void *context, const struct shard_held *what), void *context);

/* For status lines and tests. */
uint32_t shard_nodes(const struct shard *s);
uint32_t shard_pods(const struct shard *s);
uint32_t shard_ghosts(const struct shard *s);
uint32_t shard_nominations(const struct shard *s);
/* Nodes that dry runs have looked at; not those of which they still knew what to find. */
uint64_t shard_dry_run_rows(const struct shard *s);
/* Questions that were answered as before (repeats.h). */
uint64_t shard_repeated(const struct shard *s);
/* Of pods that are alike, what is known of each node: how many, and what that takes. */
uint32_t shard_classes(const struct shard *s, size_t *bytes);

#endif
