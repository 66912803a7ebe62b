/* note: what an action did, as one short line for whoever reads a script. */
#ifndef TESTS_SIMULATION_NOTE_H
#define TESTS_SIMULATION_NOTE_H

#include <stdbool.h>
#include <stdint.h>

struct note {
    char text[200];
};

/* Zeroed notes, which another process may fill in; NULL for none. Given back with notes_free. */
struct note *notes_new(uint32_t count);
void notes_free(struct note *notes, uint32_t count);

/* What is traced at level 1 is added to this one from now on; NULL: to none. */
void note_into(struct note *note);
bool note_is_wanted(void);
/* A line that was traced. What users ask for is told with their verb, what it is about, and the
 * words and numbers of the JSON. */
void note_add(const char *line);

#endif
