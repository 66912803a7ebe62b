/* file: a journal that goes into a file, of the process that there is one of. */
#ifndef JOURNAL_FILE_H
#define JOURNAL_FILE_H

#include "proto/journal/journal.h"

/* Makes or empties the file, for this user alone, and puts a journal in force that is written to it
 * until the process ends. The core never waits for the disk: what it cannot take is a gap, at which
 * the journal ends, with a line in the log. False with one line in error. */
bool journal_file_create(const char *path, const struct journal_head *head, char *error,
                         size_t room);
/* Ends it here, although the core lives on: nothing more is taken down, and the file is closed by
 * one of the next journal_file_flush, once all is written. Waits for nothing. */
void journal_file_end(void);
/* journal_flush, and the closing of a file that was ended. True: there is more to be done soon. */
bool journal_file_flush(void);
/* Ends it; done by exit() as well. Waits for the disk for JOURNAL_FILE_WAIT_MS at most. */
void journal_file_close(void);
#define JOURNAL_FILE_WAIT_MS 2000

/* Puts the file's journal in force, to be played back. NULL with one line in error. It lives until
 * the process ends. */
struct journal *journal_file_play(const char *path, char *error, size_t room);

#endif
