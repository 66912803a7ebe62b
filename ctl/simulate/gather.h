/* gather: files of manifests, dumps of a cluster and a scenario, put together as one scenario
 * (scenario.h): objects, then the pods that wait, as the queue would hand them out. */
#ifndef CTL_SIMULATE_GATHER_H
#define CTL_SIMULATE_GATHER_H

#include "ctl/whatif/manifests.h"

/* Zero-initialise, then set release and space. */
struct gather {
    int64_t release;            /* minor version of the API server */
    struct str space;           /* where objects are that do not say it */
    const char *config;         /* a KubeSchedulerConfiguration's file; NULL: the scenario's */
    struct manifests workloads; /* of which pods are made here */
    struct buffer objects;      /* as JSON, with commas between */
    struct strs object_at;      /* where each of them stands, for errors */
    const struct kube_json *scenario; /* what there is of one; NULL: none */
    struct str scenario_at;
    uint32_t scenario_objects;  /* how many of its objects stand before ours */
    struct kube_json *composed; /* NULL: nothing is to be added to the scenario */
    struct buffer daemons;      /* steps for DaemonSets, likewise */
    struct strs daemon_at;
    uint32_t scenario_steps;
    bool waits;         /* some pods are to be decided in the queue's order */
    struct map *claims; /* NAMESPACE/NAME of PersistentVolumeClaims among the objects */
    struct {
        uint32_t count;
        struct wanted_claim {
            struct str space, name, text, place; /* text: as JSON */
        } * at;
    } wanted;                /* claims that controllers make where there are none of their names */
    struct map *passed_over; /* kinds that no decision depends on, to how many there are */
    struct {
        uint32_t count;
        struct kube_json **at;
    } documents;
    struct arena arena;
    bool unreadable; /* the error is of a file that could not be read at all */
    struct str error;
};

/* Takes a file of YAML or JSON; - is standard input. False with an error that begins with the file.
 */
bool gather_read(struct gather *g, const char *path);
/* The same from text; file is what it is called in errors. */
bool gather_take(struct gather *g, const char *file, struct str text);
/* All that was taken, as one scenario, which lives as long as this. NULL with an error. */
const struct kube_json *gather_scenario(struct gather *g);
/* An error of that scenario, with the file and the place in it that it speaks of. */
struct str gather_error(struct gather *g, struct str error);
/* "2 ConfigMap, 1 Secret": what was there and has no say in decisions; empty: nothing. */
struct str gather_passed_over(struct gather *g);
void gather_free(struct gather *g);

#endif
