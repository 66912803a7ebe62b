/* atoms: strings as small numbers, so that the map path compares integers. Counted: an atom is
 * forgotten with its last user, so that a cluster's comings and goings do not pile up. */
#ifndef SCHEDULER_TABLE_ATOMS_H
#define SCHEDULER_TABLE_ATOMS_H

#include "proto/base/str.h"

struct atoms;

struct atoms *atoms_new(void);
void atoms_free(struct atoms **atoms);

/* The atom of s, never 0; one more user. */
uint32_t atom_take(struct atoms *atoms, struct str s);
/* One user less; 0 is allowed. */
void atom_drop(struct atoms *atoms, uint32_t atom);
/* The atom of s, or 0 when nobody uses that string. */
uint32_t atom_find(const struct atoms *atoms, struct str s);
/* Borrowed as long as the atom has users. */
struct str atom_text(const struct atoms *atoms, uint32_t atom);
/* True when the text is a decimal int64, as Go's ParseInt reads it. */
bool atom_integer(const struct atoms *atoms, uint32_t atom, int64_t *value);
uint32_t atoms_count(const struct atoms *atoms);
/* How many atoms were ever made: while this stays the same, what atom_find said stays true, but for
 * strings that have gone. */
uint64_t atoms_made(const struct atoms *atoms);

#endif
