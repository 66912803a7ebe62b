/* shares: which worker has which nodes, in proportion to what each can carry. */
#ifndef SCHEDULER_CLUSTER_SHARES_H
#define SCHEDULER_CLUSTER_SHARES_H

#include <stdbool.h>
#include <stdint.h>

struct shares;
struct share;

/* Embed one in what is shared out. */
struct share_link {
    struct share *share; /* NULL: nobody has it */
    uint32_t place;
};

/* Called for every change of hands, after it: from and to are workers, each valid if its flag says.
 */
struct share_move {
    struct share_link *link;
    bool had, has;
    uint32_t from, to;
};

struct shares *shares_new(void (*moved)(void *context, const struct share_move *move),
                          void *context);
void shares_free(struct shares **s);

/* A worker comes; takes from the fullest until nobody is fuller than it would be. False when it is
 * there already (then only its capacity is set). */
bool shares_join(struct shares *s, uint32_t worker, int64_t capacity);
/* It goes; what it had goes to the emptiest of the others, or to nobody. */
void shares_leave(struct shares *s, uint32_t worker);
/* Gives a link that nobody has to the emptiest worker, if there is one. */
void shares_give(struct shares *s, struct share_link *link);
/* Takes it out, without a call to moved. True, with the worker, when somebody had it. */
bool shares_take(struct shares *s, struct share_link *link, uint32_t *worker);
bool shares_owner(const struct share_link *link, uint32_t *worker);

uint32_t shares_count(const struct shares *s);
uint32_t shares_worker(const struct shares *s, uint32_t i);
uint32_t shares_size(const struct shares *s, uint32_t i);
/* The links that a worker has; NULL when it is not there. */
struct share_link *const *shares_links(const struct shares *s, uint32_t worker, uint32_t *count);

#endif
