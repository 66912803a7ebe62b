/* select: label selectors as people type them, kubectl's -l. */
#ifndef CTL_TABLES_SELECT_H
#define CTL_TABLES_SELECT_H

#include "proto/messages.h"

/* a=b, a==b, a!=b, a in (b,c), a notin (b), a, !a; with commas: all of them. From the arena; the
 * text is borrowed. False: it is none. */
bool select_read(struct str text, struct selector *selector, struct arena *a);

#endif
