/* gang_room: what all nodes together have left, for minResources. Kept only from the first group on
 * that asks for it. */
#ifndef QUEUE_GANG_ROOM_H
#define QUEUE_GANG_ROOM_H

#include "proto/base/moment.h"
#include "proto/messages.h"

struct buffer;
struct group;
struct mirror;
struct queues;

/* How often groups that found too little are asked again. */
#define ROOM_AGAIN_SECONDS 1

__extension__ typedef __int128 i128;

/* Amounts by resource; zero-initialise. */
struct sums {
    struct sum {
        char *name;
        i128 amount; /* exact whatever the API server sends, so that taking away undoes adding */
    } * at;
    uint32_t count;
};

void sums_add(struct sums *s, const struct quantity *list, uint32_t count, int sign);
void sums_add_one(struct sums *s, struct str name, i128 amount);
i128 sums_of(const struct sums *s, struct str name);
void sums_free(struct sums *s);

struct room {
    bool kept;                   /* somebody asks for it */
    bool stale;                  /* to be counted from scratch */
    const struct mirror *mirror; /* where that is read; borrowed, set once it is kept */
    size_t strays;               /* pods on nodes that are not known */
    struct sums left;
    struct moment asked; /* when groups were last asked again */
};

void room_pod(struct queues *q, const struct pod *before, const struct pod *after);
void room_node(struct queues *q, const struct node *before, const struct node *after);
/* What minResources asks for beyond what the nodes have left, the pods of the group itself taken
 * away; none: there is enough. Sorted by name, from the arena. */
struct room_gap {
    uint32_t count;
    bool whole; /* nothing was taken away: there is no node */
    struct quantity *at;
};
struct room_gap room_gap(struct queues *q, const struct group *g, struct arena *a);
/* As upstream prints it. */
void room_print_gap(const struct room_gap *gap, struct buffer *text);

#endif
