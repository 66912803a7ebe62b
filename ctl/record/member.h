/* member: one life of a recording, unpacked: whose it is and what is in it, and its program's
 * verdict when it is played back. */
#ifndef CTL_RECORD_MEMBER_H
#define CTL_RECORD_MEMBER_H

#include "proto/base/arena.h"
#include "proto/base/buffer.h"
#include "proto/base/moment.h"
#include "proto/bus/roles.h"
#include "proto/journal/archive.h"
#include "proto/journal/entry.h"

#include <sys/types.h>

struct member {
    char name[ARCHIVE_NAME_MAX + 1]; /* "scheduler.1" */
    int fd;                          /* of a file without a name; -1: none */
    char *bytes;                     /* the same, mapped, to be read */
    size_t len;
    /* Read from it: */
    enum process process;        /* 0: it is no journal */
    bool ties_first;             /* --tie-break=first: among equal best nodes */
    uint64_t entries, decisions; /* decisions: pods bound, and preemptions */
    int64_t began_us, ended_us;  /* the wall clock at its first and last entry */
    /* Of its program: */
    int answers;     /* a file for what it says at its end to a tool; 0: none */
    int told;        /* or one for all that it says; 0: none */
    double speed;    /* times as fast as it was; 0: as fast as it can */
    int64_t from_us; /* with it: counted from here */
    pid_t pid;       /* 0: it does not run */
    int output;      /* what it prints */
    struct moment began;
    bool alike, odd;    /* odd: it gave no verdict */
    struct buffer said; /* what it printed, without the file's name */
    double seconds;
};

/* The next member, unpacked; false: there is none, or *error says what is wrong. */
bool member_next(struct archive *a, struct member *m, const char **error);
/* The folder that was given and has to be one; of "" it becomes that of the running program, where
 * those of all processes lie. False: it was said why not. */
bool member_programs(const char *command, char *folder, size_t room);
/* Has it played back by the program of that folder. */
void member_start(struct member *m, const char *folder);
/* Waits for its verdict. */
void member_finish(struct member *m);
/* Calls visit for each entry, with the wall clock then, until it says false. */
void member_each(const struct member *m,
                 bool (*visit)(void *context, const struct journal_entry *e, int64_t wall_us),
                 void *context);
/* The message of an entry: body is the entry's or, where that is empty, that of the one before.
 * Lies in the arena and in body. False: there is none, or it cannot be read. */
bool member_decode(const struct journal_entry *e, struct str body, struct message *m,
                   struct arena *a);
void member_free(struct member *m);
/* A file without a name, in TMPDIR; -1 with errno. */
int member_nameless(void);

#endif
