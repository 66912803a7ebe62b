/* compare: what a core says beside what it said, in words. */
#ifndef JOURNAL_COMPARE_H
#define JOURNAL_COMPARE_H

#include "proto/journal/entry.h"

/* An entry in a few words: "bind to binder", "POST /api/v1/…", "a turn". */
void compare_name(const struct journal_entry *entry, struct buffer *out);
/* What is said now and what was said, as a line, and two lines that show both if said has its body.
 */
void compare_explain(const struct journal_entry *now, const struct journal_entry *said,
                     struct buffer *out);

#endif
