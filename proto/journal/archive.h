/* archive: the journals of a whole system in one compressed file, so that whoever has it needs
 * nothing else. The format: the ten bytes "BERTHSYS1\n", of which the digit is the format's
 * version; then members, each the byte 'M', the length of its name (a byte), the name, and blocks,
 * each a length (four bytes, most significant first) and that many bytes, one zstd frame of at most
 * ARCHIVE_PIECE bytes with its checksum; a length of 0 ends the member. Behind the last one comes
 * the byte 'E': a file without it is not whole. */
#ifndef JOURNAL_ARCHIVE_H
#define JOURNAL_ARCHIVE_H

#include "proto/base/str.h"

#define ARCHIVE_MAGIC    "BERTHSYS1\n"
#define ARCHIVE_PIECE    (1u << 20) /* bytes */
#define ARCHIVE_NAME_MAX 100        /* bytes: letters, digits, and - _ . but for the first */

struct archive;

/* ---- writing ---- */

/* A new file, for this user alone; one that is there is left alone, which is an error. NULL with
 * one line in error. */
struct archive *archive_create(const char *path, char *error, size_t room);
/* Begins a member, which ends the one before. False when the name will not do, or the disk. */
bool archive_begin(struct archive *a, const char *name);
/* Goes on with the member that was begun. */
bool archive_add(struct archive *a, const void *bytes, size_t len);
/* Ends the file and waits for the disk. False, with one line in error, if anything of it could not
 * be written; the archive is freed in any case. */
bool archive_finish(struct archive **a, char *error, size_t room);
/* Bytes in the file so far. */
uint64_t archive_size(const struct archive *a);

/* ---- reading: the bytes are a stranger's ---- */

/* NULL with one line in error. */
struct archive *archive_open(const char *path, char *error, size_t room);
/* The next member's name, past what was not read of the one before; borrowed until the next call.
 * NULL behind the last one, and where the file is broken or cut. */
const char *archive_next(struct archive *a);
/* The next piece of the member, borrowed until the next call; empty at its end, and where the file
 * is broken. */
struct str archive_read(struct archive *a);
/* What is wrong with what was read so far; NULL: nothing. */
const char *archive_wrong(const struct archive *a);
void archive_free(struct archive **a);

#endif
