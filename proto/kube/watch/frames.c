/* frames: a frame that lies whole in a piece is handed out in place; a torn one is gathered in a
 * buffer. What must stay true: a length is refused before a byte is kept for its sake, and the
 * buffer grows by what came, not by what a length promises. */
#include "proto/kube/watch/frames.h"
#include "proto/base/must.h"

#define HEAD 4 /* bytes of a length */

void frames_feed(struct frames *f, struct str piece)
{
    must(f->rest.len == 0);
    f->rest = piece;
}

static uint32_t length_at(const char *head)
{
    const unsigned char *b = (const unsigned char *)head;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Moves up to len bytes of the piece behind what is torn. */
static void gather(struct frames *f, size_t len)
{
    struct str head = {f->rest.at, f->rest.len < len ? f->rest.len : (uint32_t)len};
    buffer_add_str(&f->torn, head);
    f->rest.at += head.len;
    f->rest.len -= head.len;
}

static enum frames_step next_torn(struct frames *f, struct str *frame)
{
    if (f->torn.len < HEAD)
        gather(f, HEAD - f->torn.len);
    if (f->torn.len < HEAD)
        return FRAMES_more;
    size_t whole = HEAD + (size_t)length_at(f->torn.at);
    if (whole - HEAD > f->max)
        return FRAMES_too_long;
    gather(f, whole - f->torn.len);
    if (f->torn.len < whole)
        return FRAMES_more;
    f->lent = true;
    *frame = (struct str){f->torn.at + HEAD, (uint32_t)(whole - HEAD)};
    return FRAMES_frame;
}

enum frames_step frames_next(struct frames *f, struct str *frame)
{
    if (f->lent) {
        f->torn.len = 0;
        f->lent = false;
    }
    if (f->rest.len == 0)
        return FRAMES_more;
    uint32_t len = f->torn.len == 0 && f->rest.len >= HEAD ? length_at(f->rest.at) : UINT32_MAX;
    if (f->torn.len > 0 || f->rest.len < HEAD || (len <= f->max && len > f->rest.len - HEAD))
        return next_torn(f, frame);
    if (len > f->max)
        return FRAMES_too_long;
    *frame = (struct str){f->rest.at + HEAD, len};
    f->rest.at += HEAD + len;
    f->rest.len -= HEAD + len;
    return FRAMES_frame;
}

void frames_reset(struct frames *f)
{
    buffer_reset(&f->torn);
    f->rest = (struct str){0};
    f->lent = false;
}

void frames_free(struct frames *f)
{
    buffer_free(&f->torn);
    f->rest = (struct str){0};
    f->lent = false;
}
