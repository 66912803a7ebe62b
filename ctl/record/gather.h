/* gather: the journals of a directory, DIR/NAME.N.rec, into one archive. */
#ifndef CTL_RECORD_GATHER_H
#define CTL_RECORD_GATHER_H

#include "proto/base/buffer.h"
#include "proto/journal/archive.h"

#define GATHER_ABOUT   "about"    /* the first member: a JSON object about the recording */
#define GATHER_ROTATED "rotation" /* in it, as endedBy: it goes on in another file */

struct gathered {
    unsigned lives;       /* journals */
    unsigned unended;     /* of them the last of a process, without an end */
    uint64_t raw, packed; /* bytes of journals, of the archive */
};

/* What the journals take by now; it looks at nothing else. */
struct gathered gather_look(const char *dir);
/* Makes the file, which must not be there. False with one line in error, and no file. */
bool gather(const char *dir, const char *path, struct str about, struct gathered *what,
            struct buffer *error);
/* Removes the journals and the directory. */
void gather_remove(const char *dir);

#endif
