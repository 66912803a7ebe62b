/* process: one process of berth: a core, the real bus, and the loop of proto/bus/actor.c in virtual
 * time. */
#ifndef TESTS_SIMULATION_PROCESS_H
#define TESTS_SIMULATION_PROCESS_H

#include "proto/bus/actor.h"
#include "tests/simulation/account.h"
#include "tests/simulation/clock.h"

#define PROC_PEERS 3

struct calls;
struct journal;
struct own_worker;
struct talk;

struct proc {
    enum process kind; /* TOOL: a stranger */
    char name[24];     /* as its instance, such as worker-1 */
    char door[48];
    int group; /* which of the two instances of berth; -1: none */
    struct host *host;
    bool alive, wanted; /* wanted: its supervisor starts it again */
    bool stopping, stranger;
    int64_t hung_until;          /* stopped by a signal (SIGSTOP) till then */
    int64_t starved_until;       /* it gets a processor only now and then till then, */
    int64_t starved, busy_until; /* after so long at most; this round's is over then */
    int64_t capacity;            /* of a worker */
    uint64_t life;               /* counts starts */
    uint32_t config;             /* number of the one that it started with */
    struct journal *journal;     /* of this life; NULL: none is kept */
    bool reconfigure;            /* a scheduler: there is another configuration */
    struct bus *bus;
    struct outbox out;
    void *core;             /* of its kind */
    struct own_worker *own; /* a scheduler's; NULL: it has none */
    struct actor actor;     /* it, as its main.c gives it to actor_run */
    struct feed *feed;      /* of a watcher */
    struct calls *calls;    /* of a watcher or binder: its client of the API server */
    struct talk *talk;      /* of a binder */
    bool sent;              /* the binder's: something was handed to the client */
    int64_t wake_at;        /* INT64_MAX: nothing planned */
    int64_t started_at, ended_at;
    int64_t fell_at[3];     /* when it ended last, as ctl/child.h counts it */
    uint32_t fell;          /* how often in the minute before its start; a binder is told */
    struct account account; /* what it holds of memory, of a recorded life its record as well */
    uint64_t rounds, rounds_seen; /* see check_spin */
    bool reread;                  /* see proc_reread */
    bool stirred;                 /* it was told something in its last round, or said something */
};

/* Starts it; it must not be alive. */
void proc_start(struct proc *p);
/* One without a core that connects to another's door and says to know this term. */
void proc_start_stranger(struct proc *p, const struct proc *to, int64_t term);
/* The coordinator reads the configuration that its group has now. */
void proc_reconfigure(struct proc *p);
/* SIGUSR2, of a scheduler. */
void proc_dump(struct proc *p);
/* A tool asks what it holds, and has it read anew, with its next round. */
void proc_reread(struct proc *p);
/* Ends it as SIGKILL does: nothing is said, what it had asked of the API server may still come
 * about. */
void proc_kill(struct proc *p);
/* SIGTERM: it ends cleanly, in its own time. */
void proc_stop(struct proc *p);
void proc_hang(struct proc *p, int64_t until);
/* Till then each of its rounds takes up to so long. */
void proc_starve(struct proc *p, int64_t until, int64_t round);
/* It has a look at the latest at this true time. */
void proc_wake(struct proc *p, int64_t at);
/* The one whose round it is; NULL outside of rounds. */
struct proc *proc_current(void);
int64_t proc_term(const struct proc *p);

#endif
