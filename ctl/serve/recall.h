/* recall: what the API server has said, remembered for a while; a bounded cache.
 *
 * Good answers and bad ones have room of their own, so that whatever strangers bring never pushes
 * out what is known of others; in each the one that was looked for longest ago goes first. A good
 * answer that is too old is kept, since whoever had it once is asked about first; a bad one is
 * forgotten. */
#ifndef SERVE_RECALL_H
#define SERVE_RECALL_H

#include "proto/base/map.h"
#include "proto/base/moment.h"

#define RECALL_GOOD_MAX 1024
#define RECALL_BAD_MAX  256
#define RECALL_KEY_SIZE 32

/* The first member of what is remembered; recall's own. */
struct recalled {
    struct recalled *newer, *older;
    enum { RECALL_asking, RECALL_good, RECALL_bad } kind;
    struct moment until;
    unsigned char key[RECALL_KEY_SIZE];
};

struct recall {
    struct map *all;
    struct recall_list {
        struct recalled *newest, *oldest;
        uint32_t count;
    } lists[3];                         /* by kind */
    void (*forget)(struct recalled *r); /* frees it */
};

void recall_init(struct recall *c, void (*forget)(struct recalled *r));
/* Forgets all. */
void recall_free(struct recall *c);
/* What is remembered or being asked; NULL: nothing. A good answer may be too old: see until. */
struct recalled *recall_find(struct recall *c, const unsigned char key[RECALL_KEY_SIZE],
                             struct moment now);
/* Being asked from now on: a new one, whose key is set, or one that was found. */
void recall_ask(struct recall *c, struct recalled *r);
/* What was being asked is answered. */
void recall_settle(struct recall *c, struct recalled *r, bool good, struct moment until);

#endif
