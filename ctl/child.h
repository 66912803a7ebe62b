/* child: one supervised process: started, its output passed on line by line, restarted with backoff
 * when it dies, ended on request. */
#ifndef CTL_CHILD_H
#define CTL_CHILD_H

#include "ctl/pulse.h"
#include "proto/base/beat.h"
#include "proto/base/buffer.h"
#include "proto/base/moment.h"

#include <sys/types.h>

#define CHILD_ARGS_MAX       256
#define CHILD_RECORD_DIR_MAX 400   /* bytes of a directory's name */
#define CHILD_FALLS          3     /* so many are remembered, */
#define CHILD_FALLS_MS       60000 /* and counted for so long */

struct child {
    char name[32];              /* watcher, worker-0, … */
    char *argv[CHILD_ARGS_MAX]; /* owned; argv[0] is the program's path */
    size_t argc;
    char pid_file[200];
    pid_t pid;                         /* 0: not running */
    int output;                        /* read end of its stdout and stderr; -1: none */
    struct buffer line;                /* an unfinished line of output */
    struct moment started, restart_at; /* restart_at: when to start it again */
    struct span backoff;               /* before the next restart */
    unsigned restarts;
    unsigned in_a_row;      /* ends, none behind a life of 10 s; noted beside the pid file */
    size_t fixed;           /* arguments; those behind them are made anew each time */
    bool told_falls;        /* --falls=N is one of these */
    const char *record_dir; /* borrowed; and --record=FILE, a file a life; NULL: no */
    struct moment falls[CHILD_FALLS]; /* when it ended last, of `restarts` */
    bool core;                        /* it has one, so that it can be recorded */
    bool leaving;                     /* its end is wanted */
    bool retired;                     /* likewise, and it is not started again */
    bool renewing;                    /* likewise, and another life behind it at once */
    struct beats *beats;              /* borrowed: where its loop is seen to turn; NULL: nowhere */
    size_t slot;                      /* its own there */
    struct pulse pulse;               /* what was seen of it */
};

/* Appends an argument (copied). */
void child_arg(struct child *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* At each start it is told how often it ended lately: --falls=N, N at most CHILD_FALLS. */
void child_tell_falls(struct child *c);
/* Each life is told to record itself: --record=DIR/NAME.N.rec, with the first N from 1 on of which
 * there is no file yet. dir is borrowed, and has CHILD_RECORD_DIR_MAX bytes at most. */
void child_record(struct child *c, const char *dir);
/* The same from a life on that begins now: the one that runs is asked to end, and the next one
 * starts at once, which counts as no fall. */
void child_record_now(struct child *c, const char *dir);
/* What runs ends its recording and goes on; further lives are not recorded. */
void child_record_end(struct child *c);
/* Nobody needs it any more: what runs is asked to end, and it is not started again, until it is
 * wanted again. */
void child_retire(struct child *c);
void child_want(struct child *c, struct moment now);
/* How often it ended in the last CHILD_FALLS_MS, at most CHILD_FALLS. */
unsigned child_fell(const struct child *c, struct moment now);
/* Forks and executes; writes the pid file. False when the fork or pipe failed (logged); it is then
 * due again after the backoff. */
bool child_start(struct child *c, struct moment now);
/* Passes on what the child printed; called when output is readable. Never waits: a line that our
 * own standard error cannot take is lost, and counted for the child. */
void child_read(struct child *c);
/* Looks whether it is hung, every PULSE_LOOK_MS; if so, says so and kills it, for child_ended to
 * find. */
void child_look(struct child *c, struct moment now);
/* It ended with this wait status: logs why, closes, and sets restart_at with backoff: 100 ms,
 * doubling to 10 s, starting over when it lived for 10 s. Until it does that it is noted beside the
 * pid file (ctl/ended.h). */
void child_ended(struct child *c, int wait_status, struct moment now);
/* What was noted of its ends goes, too. */
void child_free(struct child *c);

#endif
