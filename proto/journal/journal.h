/* journal: the one interface between a core and everything that it cannot know by itself. What a
 * core is told, what it reads of its surroundings and what it says is taken down in its order;
 * given back to a new core, the same must be said again, to the byte.
 *
 * There is one journal in force (journal_use), or none. Then all of these do the real thing, which
 * costs a branch. A core that reads a clock, draws a number or reads a file does it with journal_…
 * here; who tells it something says so here first (proto/bus/actor.h, proto/kube/access/talk.h). */
#ifndef JOURNAL_H
#define JOURNAL_H

#include "proto/base/moment.h"
#include "proto/bus/delivery.h"
#include "proto/journal/entry.h"

struct journal;

/* ---- taking down ---- */

struct journal_options {
    size_t most; /* bytes in memory: with more of them the journal ends with a gap */
    bool bodies; /* keep what was said, to show it; else a hash of it */
    /* What clocks show, of a life in a time of its own; NULL: those of this machine. */
    void (*clocks)(void *state, struct moment *now, int64_t *wall_us);
    bool (*push)(void *state, struct buffer *bytes); /* takes from them what it can, from time to
                                                      * time; false: no more. NULL: they stay */
    void *state;
};

struct journal *journal_new(const struct journal_head *head, const struct journal_options *options);
/* It ends here, as its life does: nothing is missing. */
void journal_finish(struct journal *j);
/* What is in memory. */
const struct buffer *journal_bytes(const struct journal *j);
/* Gives push what there is, when there is nothing better to do. */
void journal_flush(void);

/* ---- playing back ---- */

/* From bytes that are borrowed. NULL, with one line in error, when they are no journal. */
struct journal *journal_play(const char *bytes, size_t len, char *error, size_t room);
/* Whose life it is; lives as long as the journal. */
const struct journal_head *journal_head(const struct journal *j);
/* The next thing to tell the core; NULL: there is no more, or it has said something else. What is
 * to be said (send) is not told but left for journal_send. */
const struct journal_entry *journal_next(void);
/* The clock then. */
struct moment journal_then(void);
/* One of the answers to requests (data, answer); NULL: these are all in this look at the client. */
const struct journal_entry *journal_next_answer(void);
/* It does something that it did not do. Behind the first difference nothing is compared, and what
 * is read is made up: the core runs on to the end of what it is doing and is not told any more. */
void journal_differs(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Lines; NULL: it has said the same so far. */
const char *journal_difference(const struct journal *j);

enum journal_fate {
    JOURNAL_whole,
    JOURNAL_cut, /* as after SIGKILL: what there is was played back */
    JOURNAL_gapped,
    JOURNAL_broken
};
struct journal_tally {
    enum journal_fate fate; /* how the journal ends */
    const char *reason;     /* of a gap */
    uint64_t entries, said; /* played back; of these, messages and requests */
    int64_t wall_us;        /* when the last of them was */
};
struct journal_tally journal_tally(const struct journal *j);

/* ---- in force ---- */

void journal_free(struct journal **j);
/* This one from now on; NULL: none. Returns the one before. */
struct journal *journal_use(struct journal *j);
/* NULL: there is none. */
struct journal *journal_in_force(void);
/* One is played back: there is nothing outside, so nothing is opened, asked or watched. */
bool journal_plays(void);

/* What a core reads. */
struct moment journal_now(void);
int64_t journal_wall_us(void);
void journal_clocks(struct moment *now, int64_t *wall_us);
uint64_t journal_seed(void);
/* A number that was found out; played back: the one that was found out then. */
int64_t journal_number(int64_t number);
/* Whether something of that name is another one than before. */
bool journal_change(const char *name, bool changed);
/* The text of that name, if it could be read; else false with errno. Played back, text is to be
 * empty, and good means nothing. */
bool journal_text(const char *name, bool good, struct buffer *text);

/* What a core is told, each before it is. Played back they are what journal_next gives, and these
 * do nothing. */
void journal_delivery(struct moment now, const struct delivery *in);
void journal_turn(struct moment now);
void journal_stop(struct moment now);
void journal_dump(void);
/* Any other entry of a kind that is heard or read. */
void journal_take_down(const struct journal_entry *entry);

/* What a core says: taken down, or compared. */
void journal_send(const struct outbox *out, int64_t term);
/* An entry of a kind that is said; its body is not looked at but for body. */
void journal_say(struct journal_entry *entry, struct str body);
/* The hash of an entry of a kind that is said, with its body, which may stand elsewhere: the same
 * on every machine. */
int64_t journal_hash(const struct journal_entry *entry, struct str body);

#endif
