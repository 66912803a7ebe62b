/* beat: a page of counters that a supervisor shares with the processes that it starts, one slot
 * each, so that it sees whose loop turns: no message and no system call a beat. */
#ifndef BEAT_H
#define BEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the supervisor's side ---- */

struct beats;

/* A page of count slots; NULL, with errno, when the system has none to give. */
struct beats *beats_new(size_t count);
void beats_free(struct beats **beats);
/* The descriptor that its processes inherit; it closes at an exec unless that is taken back. */
int beats_fd(const struct beats *beats);
/* How often the loop of the slot's process has turned; 0 while it starts. */
uint64_t beats_turns(const struct beats *beats, size_t slot);
/* Before the slot's next process starts: its loop has not turned. */
void beats_begin(struct beats *beats, size_t slot);
/* So many more of the slot's lines could not be passed on. */
void beats_lost(struct beats *beats, size_t slot, uint64_t lines);
/* The size of what the slot's process works on, as it told last (beat_tell): of a scheduler the
 * cluster's nodes. 0: it has told nothing yet. */
uint64_t beats_size(const struct beats *beats, size_t slot);

/* ---- the process's side ---- */

/* Joins the page "FD:SLOT" and closes FD; false when it is none. Without it beats go nowhere. */
bool beat_join(const char *text);
/* The loop turns: to be called at least once a second, and as often as one likes. */
void beat(void);
/* The size of what this process works on, for the supervisor to see. */
void beat_tell(uint64_t size);
/* How many of this process's lines the supervisor could not pass on, over all its lives. */
uint64_t beat_lost(void);

#endif
