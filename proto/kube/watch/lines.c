/* lines: a line that lies whole in a piece is handed out in place; a torn one is gathered in a
 * buffer. What must stay true: the buffer never holds more than max bytes of a peer's data. */
#include "proto/kube/watch/lines.h"
#include "proto/base/must.h"

void lines_feed(struct lines *l, struct str piece)
{
    must(l->rest.len == 0);
    l->rest = piece;
}

/* Keeps what has no end yet for the next piece. */
static enum lines_step keep_rest(struct lines *l)
{
    if (l->torn.len + l->rest.len > l->max)
        return LINES_too_long;
    buffer_add_str(&l->torn, l->rest);
    l->rest = (struct str){0};
    return LINES_more;
}

static struct str without_return(struct str line)
{
    if (line.len > 0 && line.at[line.len - 1] == '\r')
        line.len--;
    return line;
}

enum lines_step lines_next(struct lines *l, struct str *line)
{
    while (l->rest.len > 0) {
        int64_t end = str_find(l->rest, '\n');
        if (end < 0)
            return keep_rest(l);
        struct str head = {l->rest.at, (uint32_t)end};
        l->rest.at += end + 1;
        l->rest.len -= (uint32_t)end + 1;
        if (l->torn.len + head.len > l->max)
            return LINES_too_long;
        *line = head;
        if (l->torn.len > 0) {
            buffer_add_str(&l->torn, head);
            *line = buffer_str(&l->torn);
            l->torn.len = 0; /* the bytes stay in place until the next piece is kept */
        }
        *line = without_return(*line);
        if (line->len > 0)
            return LINES_line;
    }
    return LINES_more;
}

void lines_reset(struct lines *l)
{
    buffer_reset(&l->torn);
    l->rest = (struct str){0};
}

void lines_free(struct lines *l)
{
    buffer_free(&l->torn);
    l->rest = (struct str){0};
}
