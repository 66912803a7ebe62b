/* controller: what the PersistentVolume controller and a provisioner would do to claims and
 * volumes, as the tests' oracle plays them: a claim that a volume is reserved for gets it; a claim
 * with a selected node gets a new volume there. */
#ifndef CTL_CONTROLLER_H
#define CTL_CONTROLLER_H

#include "proto/kube/documents/json.h"
#include "scheduler/catalog/catalog.h"
#include "scheduler/catalog/volume_reserve.h"

/* The cluster it works on. */
struct controlled {
    void *context;
    const struct catalog *catalog;
    /* The node, from the arena; false when there is none. */
    bool (*node)(void *context, struct str name, struct node *node, struct arena *a);
    /* Writes an object: the catalog has taken it when this returns. */
    void (*write)(void *context, const struct message *m);
};

struct controller;

struct controller *controller_new(const struct controlled *cluster);
void controller_free(struct controller **c);

/* An object as the API has it, for what its record does not say: by which labels a driver of a
 * CSINode tells places apart, and whether a claim names its class in the spec. */
void controller_note(struct controller *c, const struct kube_json *object);
/* An object was written: does what follows from it. */
void controller_look(struct controller *c, const struct message *m);
/* The same for all that there is. */
void controller_look_at_all(struct controller *c);
/* The binder's part of a pod's reservation, and all that follows. False when a claim is not bound
 * even then: its pod would wait in vain. */
bool controller_bind(struct controller *c, const struct reservation *r);

#endif
