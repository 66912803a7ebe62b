/* manifests: files of Kubernetes objects, for questions about what is not there yet: workloads, as
 * the pods that their controllers would make of them, and objects that scheduling looks at. */
#ifndef CTL_WHATIF_MANIFESTS_H
#define CTL_WHATIF_MANIFESTS_H

#include "ctl/priority_classes.h"
#include "ctl/world.h"

/* One document's pods. */
struct workload {
    struct str place;               /* "web.yaml: document 2", for errors */
    struct str template_path;       /* "spec.template"; empty: the document is the pod itself */
    const struct kube_json *pod;    /* metadata and spec */
    const struct kube_json *claims; /* volumeClaimTemplates; NULL: none */
    struct str space, name, kind;   /* kind: empty where the document is the pod */
    struct str owner_api, owner_kind, owner_uid; /* empty: nobody's */
    struct str revision_label, revision;         /* what its controller tells templates apart by */
    struct str
        pods; /* what its pods' names begin with, where that is not its own name; may be empty */
    int64_t count; /* replicas, or how many run at a time */
    int64_t first; /* number of the first, in its name */
};

#define MANIFESTS_ALONE (-1)

struct manifests {
    /* Set before anything is read. */
    int64_t release;         /* minor version of the API server */
    struct str space;        /* where objects are that do not say it */
    const struct profile *p; /* pods are counted as with this one's features */
    bool revisions; /* templates are new ones; else they may be those of pods that are there */
    /* What was read; it lives as long as this. */
    struct {
        uint32_t count;
        struct workload *at;
    } workloads;
    struct {
        uint32_t count;
        struct other_object {
            struct message message;
            const struct kube_json *object; /* what it was read of; NULL: made here */
        } * at;
    } others;
    struct priority_classes *classes;
    struct str error;
    struct arena arena;
    struct {
        uint32_t count;
        struct kube_json **at;
    } documents;
};

/* As the scheduler that has told this reads them; space is where objects are that do not say it.
 * What was told is borrowed. */
void manifests_as(struct manifests *m, const struct explained *told, struct str space);
void manifests_free(struct manifests *m);
/* Reads a file of YAML or JSON; - is standard input. False with an error, which begins with the
 * file and the document: nothing of it counts, and nothing more is to be read. */
bool manifests_read(struct manifests *m, const char *path);
/* The same from text; file is what it is called in errors. */
bool manifests_take(struct manifests *m, const char *file, struct str text);
/* Whether objects of that kind make pods of a template (Deployment, Job and so on). */
bool manifests_makes_pods(struct str kind);
/* Whether objects of that kind are no matter to any decision, and known to be none. */
bool manifests_ignores(struct str kind);
/* Takes such an object, which place names in errors, as a workload. False with an error. */
bool manifests_take_workload(struct manifests *m, const struct kube_json *object, struct str place);
/* Sets all that are no workloads in the world, which has been settled. */
void manifests_set_others(const struct manifests *m, struct world *w);
/* The pod of that number of a workload, as the API server would have stored it, from the arena.
 * MANIFESTS_ALONE: it bears the document's own name. False with an error, from the manifests'
 * arena.
 */
bool manifests_pod(struct manifests *m, const struct workload *load, int64_t number,
                   struct pod *pod, struct arena *a);
/* The same as its controller would have written it, to be freed by the caller. */
struct kube_json *manifests_pod_object(const struct workload *load, int64_t number,
                                       struct arena *a);
/* The name of that pod. */
struct str manifests_pod_name(const struct workload *load, int64_t number, struct arena *a);
/* Sets those claims of that pod in the world that are not there yet, as its controller does. False
 * with an error. */
bool manifests_set_claims(struct manifests *m, const struct workload *load, int64_t number,
                          struct world *w);
/* Room for one more behind so many: what was there, moved where needed. From the arena. */
void *manifests_room(struct arena *a, void *at, uint32_t count, size_t size);

#endif
