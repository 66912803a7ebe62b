/* lines: a file's lines, one after the other. */
#ifndef CTL_IMPORT_LINES_H
#define CTL_IMPORT_LINES_H

#include "proto/base/buffer.h"

#include <stdio.h>

#define LINES_MOST (64u << 20) /* bytes of a line; a longer one comes in pieces */

/* The next line, with its end, into line, in place of what is there; false: there is none, or, as
 * ferror and errno say, it cannot be read. */
bool lines_next(FILE *file, struct buffer *line);

#endif
