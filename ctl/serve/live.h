/* live: what `berth follow` prints, handed to everybody who looks at the page, as server-sent
 * events. One helper follows the cluster, and only while somebody looks; what it says last is kept
 * here, as lines that nobody here reads. */
#ifndef SERVE_LIVE_H
#define SERVE_LIVE_H

#include "proto/base/buffer.h"
#include "proto/base/moment.h"

#include <sys/types.h>

#define LIVE_READERS_MAX 32
#define LIVE_LINES_MAX   4096
#define LIVE_BYTES_MAX   (16u << 20) /* of lines that are kept; the newest is kept in any case */
#define LIVE_LINE_MAX    (64u << 20)
#define LIVE_SECONDS     60    /* a stream ends then, and is asked for again, with its permission */
#define LIVE_QUIET_MS    15000 /* so long without a line, and a comment shows that it lives */
#define LIVE_LINGER_MS   30000 /* the helper stays so long behind the last reader */

struct live_stream;
struct live_reader;

/* argv: the helper's arguments, borrowed; epoll_fd as well. */
struct live_stream *live_stream_new(char *const *argv, int epoll_fd);
void live_stream_free(struct live_stream **stream);

/* last: the id of the last event that the reader has, as it got it; "": none. NULL: too many. */
struct live_reader *live_join(struct live_stream *l, struct moment now, const char *last);
void live_leave(struct live_stream *l, struct live_reader **reader);
/* The next bytes for it; 0: none yet; -1: its stream is over. */
ssize_t live_read(struct live_stream *l, struct live_reader *reader, struct moment now, char *to,
                  size_t room);
/* Whether live_read has something to say. */
bool live_has_more(struct live_stream *l, const struct live_reader *reader, struct moment now);

/* Reads what has come; true when there is something new. Returns in next when it wants to be called
 * again. */
bool live_work(struct live_stream *l, struct moment now, struct moment *next);

#endif
