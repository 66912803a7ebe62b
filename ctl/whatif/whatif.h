/* whatif: a cluster in which something is changed, in memory, and what is then decided. whatif.c
 * and capacity.c ask, changes.c changes, decide.c decides, say.c says it. */
#ifndef CTL_WHATIF_H
#define CTL_WHATIF_H

#include "ctl/json_out.h"
#include "ctl/whatif/manifests.h"
#include "ctl/world.h"

/* Why a pod is to be decided. */
enum whatif_origin { WHATIF_pending, WHATIF_failed, WHATIF_drained, WHATIF_new, WHATIF_bound };

/* A pod that is to be decided, and what became of it. */
struct whatif_pod {
    struct str space, name;
    enum whatif_origin origin;
    struct str was_on;    /* its node so far; empty: none */
    struct str nominated; /* its nominated node so far; empty: none */
    int64_t priority, order;
    struct str group, group_api; /* its PodGroup; empty: none */
    bool tried;
    struct str node;    /* the place it found; empty: it stays pending, or was evicted again */
    struct str message; /* then: why */
};

/* A pod that would have to make room. */
struct whatif_evicted {
    struct str pod, node, by;
};

struct whatif {
    struct world *world; /* borrowed; it is changed */
    struct str space;    /* of pods that are named without one */
    struct arena arena;  /* of all that is said */
    struct arena step;   /* of one decision */
    /* What was changed: nodes, or pods as namespace/name. */
    struct strs deleted, failed, added, cordoned, drained;
    struct strs gone;   /* pods that went with their node for good */
    struct strs stayed; /* pods that stay on a node that is drained */
    struct str config;  /* a file that it is decided with; empty: as the scheduler does */
    bool all;           /* whatif_decide_bound was asked */
    int64_t bound;      /* how many it has decided anew, of which these would stay: */
    int64_t stay;
    struct strs not_decided; /* pods that it cannot decide */
    struct {
        uint32_t count;
        struct whatif_pod *at;
    } pods;
    struct {
        uint32_t count;
        struct whatif_evicted *at;
    } evicted, room;       /* room: those that may have to go by the decision that is being made */
    struct strs not_asked; /* extenders and plugins that have a say in it */
    struct plugin_doors *doors; /* NULL: plugins are not asked; freed with it */
    struct str error;
};

/* What is in w->world from now on is a cluster of its own. */
void whatif_begin(struct whatif *w, struct world *world);
void whatif_free(struct whatif *w);

/* Who else has a say in it, of those that the scheduler or a file names: plugins on the bus are
 * asked if there is a directory for their doors, all others are named. False with an error: one did
 * not come. After whatif_begin. */
bool whatif_ask(struct whatif *w, const struct explained *told, const char *directory);

/* ---- changes; each is false with an error when what it names is not there ---- */

/* A pod: pod/NS/NAME, NS/NAME, pod/NAME or NAME. */
bool whatif_delete(struct whatif *w, struct str pod);
/* Nodes with this label, KEY=VALUE; zone and region are short for the topology's labels. */
bool whatif_fail(struct whatif *w, struct str label);
/* Copies of a node, which may have failed since it was looked up, without pods. */
void whatif_add_nodes(struct whatif *w, const struct node *like, int64_t count);
bool whatif_cordon(struct whatif *w, struct str node);
bool whatif_drain(struct whatif *w, struct str node);
/* Pods of a workload that is not there yet: replicas of them, or as many as it says (-1). */
bool whatif_create(struct whatif *w, struct manifests *m, const struct workload *load,
                   int64_t replicas);
/* All that were pending before, but for those deleted: behind whatif_delete, and before the others.
 */
void whatif_take_pending(struct whatif *w);

/* ---- then ---- */

/* Decides them all, in the queue's order; each one that is placed is bound before the next. */
void whatif_decide(struct whatif *w);
/* Then: each pod that has a node decided anew, by itself, on the cluster without it; it is put back
 * before the next. Those that would get another node, or none, are added; whose node is one of the
 * best would stay. Not decided are pods of a DaemonSet, static ones, those being deleted, members
 * of a PodGroup, those with device claims, and those of other schedulers. */
void whatif_decide_bound(struct whatif *w);
/* What is decided with the file at that path instead, for live.h: the context is the path. Warnings
 * are written to standard error. */
bool whatif_config(void *path, struct explained *told, struct arena *memory, struct str *error);
/* How many of them stay pending. */
uint32_t whatif_pending(const struct whatif *w);
void whatif_text(const struct whatif *w, struct buffer *out);
void whatif_json(const struct whatif *w, struct buffer *out);
/* As diff -u writes it: what becomes of the manifest of each pod that is placed, moved or evicted,
 * in a/NAMESPACE/NAME.yaml, of which the name, spec.nodeName and status.nominatedNodeName count. */
void whatif_diff(const struct whatif *w, struct buffer *out);

/* How many more of one pod fit. */
struct capacity {
    int64_t fit;
    bool stopped;   /* one more does not fit; false: it was not tried */
    struct str why; /* then: the message; and who would have to go for it */
    struct strs evicts;
    struct {
        uint32_t count;
        struct node_capacity {
            struct str node;
            int64_t fit;
        } * at; /* by the node's name */
    } nodes;
};

/* Places copies until one has no place, at most so many. False with an error: a copy cannot be
 * made. */
bool capacity_count(struct whatif *w, struct manifests *m, int64_t most, struct capacity *c);

/* The commands: see commands.h. */
int command_whatif(int argc, char **argv);
int command_capacity(int argc, char **argv);

#endif
