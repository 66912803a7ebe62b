/* lines: how much each worker has been sent that it has not taken in yet. */
#ifndef SCHEDULER_LINES_H
#define SCHEDULER_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct line {
    uint32_t worker;
    uint32_t on_the_way; /* messages */
    uint32_t owed;       /* nodes that it is to be told of later */
    uint32_t cursor;     /* where the search for those goes on */
    bool counts;         /* it says what it has taken; else there is no limit */
};

/* Zero-initialise. */
struct lines {
    struct line *at;
    uint32_t count, room;
    uint32_t owed; /* of all */
};

/* The line of a worker, NULL when there is none; valid until one is opened or closed. */
struct line *line_of(const struct lines *l, uint32_t worker);
/* A line, empty, also when there was one. */
void line_open(struct lines *l, uint32_t worker, bool counts);
void line_close(struct lines *l, uint32_t worker);
void line_sent(struct lines *l, uint32_t worker);
void line_taken(struct lines *l, uint32_t worker, int64_t count);
void line_owes(struct lines *l, uint32_t worker, int change);
void lines_free(struct lines *l);

#endif
