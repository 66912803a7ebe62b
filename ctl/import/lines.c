/* lines: read piece by piece. What must stay true: whatever a stranger's file holds, what is kept
 * of it at once is bounded, and ends in a zero byte. */
#include "ctl/import/lines.h"

#include <string.h>

bool lines_next(FILE *file, struct buffer *line)
{
    char piece[4096];
    buffer_reset(line);
    while (line->len < LINES_MOST && fgets(piece, sizeof(piece), file) != NULL) {
        buffer_add_text(line, piece);
        if (strchr(piece, '\n') != NULL)
            return true;
    }
    return line->len > 0 && !ferror(file);
}
