/* profiles: the profiles of the configuration, as the queue needs them. */
#ifndef QUEUE_PROFILES_H
#define QUEUE_PROFILES_H

#include "queue/bus_plugins/consult.h"
#include "queue/bus_plugins/wakes.h"
#include "queue/hints.h"

struct queue;

/* A profile's name, and what its pods are asked with. */
struct served {
    struct served *next;
    char *name;
    bool ours;                  /* false: a former configuration's */
    struct arena memory;        /* of the profile, as it was served last */
    struct surroundings around; /* its profile's name is name */
    struct consults consults;   /* of its plugins on the bus; so are */
    struct bus_wakes wakes;
};

/* These and no others from now on; none: the default one. They are copied. */
void profiles_serve(struct queue *q, const struct profile *profiles, uint32_t count);
void profiles_free(struct queue *q);
/* That of a name, also of a former configuration; NULL: there was never one. */
struct served *profiles_find(const struct queue *q, struct str name);
/* What a pod of ours is asked with; NULL for the pods of other schedulers. */
const struct surroundings *profiles_ours(const struct queue *q, const struct pod *pod);

#endif
