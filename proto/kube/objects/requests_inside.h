/* requests_inside: a pod as far as requests matter, for requests.c and requests_claims.c; nobody
 * else includes it. */
#ifndef KUBE_OBJECTS_REQUESTS_INSIDE_H
#define KUBE_OBJECTS_REQUESTS_INSIDE_H

#include "proto/kube/objects/amounts.h"
#include "proto/kube/objects/requests.h"

struct container {
    struct str name;
    bool init, restartable;
    struct amounts spec;     /* resources.requests */
    struct amounts actual;   /* in 1.36: the same with what its status says taken in */
    struct amounts promised; /* in 1.37: what its status says that it may have */
    struct amounts running;  /* in 1.37: and what it has */
    struct amounts limits;   /* resources.limits */
};

/* A pod as far as requests matter. */
struct sums {
    const struct cursor *object;
    struct arena scratch;
    struct arena findings; /* of one container at a time, where there may be many */
    bool infeasible;       /* a resize that the node refused: the spec does not count */
    struct container *containers;
    uint32_t container_count;
    bool has_pod_level;
    struct amounts pod_level, pod_level_actual, pod_level_limits, overhead;
    /* In 1.37: of the pod's status, and what of requests of the pod as a whole counts. */
    struct amounts pod_promised, pod_running, pod_level_effective;
    bool varies;           /* the status says something else than the spec */
    bool resized;          /* the status says something of requests of the pod as a whole */
    bool resizes, skipped; /* how it is counted now: that status counts; such requests do not */
    bool has_rooms;        /* the status says what claims take of the node: */
    struct amounts rooms_1_36, rooms_1_37;
    bool with_rooms; /* how it is counted now: that counts */
};

/* What is added up of a container. */
enum counting { COUNT_spec, COUNT_limits, COUNT_actual, COUNT_promised, COUNT_running };

/* One way to count. */
struct variant {
    enum counting count;
    bool pod_level;
    const struct kube_quantity *default_cpu, *default_memory; /* NULL: none */
};

/* ---- requests.c ---- */

/* The members of an object by that name, which are quantities. */
struct amounts requests_read_list(struct sums *s, const struct cursor *up, const char *name);
/* Containers together, without what is of the pod as a whole. */
struct amounts requests_of_containers(struct sums *s, const struct variant *v);
/* What a container without a request counts for when nodes are scored. */
extern const struct kube_quantity requests_default_cpu, requests_default_memory;

/* ---- requests_claims.c ---- */

/* What claims take of the node, by the pod's status. */
void requests_read_rooms(struct sums *s);
/* What there is to know of a pod with claims that has no node yet. */
void requests_fill_amounts(struct sums *s, struct pod *pod);

#endif
