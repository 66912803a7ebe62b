/* top: what a running berth does, on a screen. screen.c is pure: what was asked and which keys were
 * pressed in, lines out; top.c asks, reads keys, and owns the terminal. */
#ifndef CTL_TOP_H
#define CTL_TOP_H

#include "ctl/tables/columns.h"
#include "proto/messages.h"
#include "proto/metrics.h"

enum top_pane { TOP_pending, TOP_nodes, TOP_processes, TOP_decisions, TOP_PANES };

#define TOP_FILTER 64

/* What all processes have counted since each of them started. */
struct top_figures {
    int64_t lives;  /* changes when one of them is another life, comes or goes */
    int64_t cpu_ns; /* user and system time */
    int64_t placed; /* pods */
    int64_t latency[METRIC_BUCKETS_MAX + 1]; /* buckets of berth_decision_latency_seconds */
};

struct top {
    /* what was asked; borrowed */
    struct {
        uint32_t count;
        const struct status *at; /* one a process that has answered */
    } processes;
    const struct pending_pods *pending; /* NULL: no queue has answered */
    struct columns *nodes;              /* NULL: not asked yet */
    const struct explained *latest;     /* the last decisions; NULL: not asked yet */
    int64_t unanswered;                 /* processes that are there and say nothing */
    /* what it has been: decisions and when they were counted */
    int64_t decided, decided_ms;
    double rate; /* decisions a second between the last two answers; negative: not known yet */
    struct top_figures figures, since; /* the last ones, and what they are more than before */
    int64_t figures_ms, since_ms;      /* when they were counted, and in how long; 0: not yet */
    /* how it is shown */
    enum top_pane pane;
    uint32_t sorts[TOP_PANES]; /* by which column; 0: as it comes, else from 1 on */
    bool descending, paused, help, typing;
    char filter[TOP_FILTER]; /* only rows with this text; empty: all */
    uint32_t first;          /* row of the pane that is shown first */
    double interval_s;       /* between answers, 0.5 to 60 */
    int width, height;       /* of the screen, at least 20 by 5 */
    bool over;               /* the user has enough */
};

/* Keys that are no byte. */
enum top_key { TOP_up = 256, TOP_down, TOP_page_up, TOP_page_down, TOP_home, TOP_end };

/* New answers are there, at this time in milliseconds: counts what was decided since the last. */
void top_answered(struct top *t, int64_t now_ms);
/* Adds what one process says to figures that are zero at first. */
void top_count(struct top_figures *f, const struct metrics *said);
/* New figures are there, at this time in milliseconds. */
void top_counted(struct top *t, const struct top_figures *now, int64_t now_ms);
void top_key(struct top *t, int key);
/* Its lines, each ended by a line feed and none wider than the screen; height of them at most, 0:
 * all there are. Printable ASCII alone. */
void top_lines(struct top *t, struct buffer *out);
/* Every process has answered, and what all panes show is there. */
bool top_is_complete(const struct top *t);

int command_top(int argc, char **argv);

#endif
