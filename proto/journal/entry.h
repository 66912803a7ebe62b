/* entry: the file format of a journal: the ten bytes "BERTHREC1\n", of which the digit is the
 * format's version; then blocks, each a length (four bytes, most significant first) and that many
 * bytes of msgpack: first a `journal_head`, then `journal_entry` after `journal_entry`, as
 * MESSAGES.md describes them. */
#ifndef JOURNAL_ENTRY_H
#define JOURNAL_ENTRY_H

#include "proto/messages.h"

#define JOURNAL_MAGIC     "BERTHREC1\n"
#define JOURNAL_ENTRY_MAX (64u << 20) /* bytes; a longer one is refused */

/* Numbers are never reused. Heard: a core is told it. Read: a core asks for it in the middle of
 * something. Said: a core does it, and must do it again. */
#define JOURNAL_KINDS                                                                              \
    KIND(1, delivery, heard) /* a message */                                                       \
    KIND(2, turn, heard)     /* a look at the client and the timers */                             \
    KIND(3, stop, heard)     /* to start a clean end */                                            \
    KIND(4, dump, heard)     /* to log what it holds */                                            \
    KIND(5, clock, read)     /* what clocks show */                                                \
    KIND(6, number, read)    /* a random draw, or whatever else is a number */                     \
    KIND(7, text, read)      /* a file, or whatever else is a text */                              \
    KIND(8, change, read)    /* that something, such as a file, is another one now */              \
    KIND(9, data, read)      /* a piece of the answer to a request */                              \
    KIND(10, answer, read)   /* a request's end */                                                 \
    KIND(11, answered, read) /* no more of these in this look at the client */                     \
    KIND(12, send, said)     /* so many messages go out, which follow */                           \
    KIND(13, message, said)                                                                        \
    KIND(14, request, said) /* to the API server, or to an extender */                             \
    KIND(15, cancel, said)  /* of a request */                                                     \
    KIND(16, gap, heard)    /* nothing behind it was taken down */                                 \
    KIND(17, end, heard)    /* of the life: the journal is whole */

enum journal_kind {
#define KIND(number, name, way) JOURNAL_##name = (number),
    JOURNAL_KINDS
#undef KIND
        JOURNAL_KIND_COUNT
};

/* "delivery", …; "?" for what is none. */
const char *journal_kind_name(int64_t kind);

/* Appends magic and head, or an entry. */
void journal_put_head(struct buffer *out, const struct journal_head *head);
void journal_put(struct buffer *out, const struct journal_entry *entry);
/* How many of these bytes, which begin with the magic or a block, are whole blocks. */
size_t journal_whole(const char *bytes, size_t len);

/* Where one reads; the bytes are borrowed, and so are all texts of entries. */
struct journal_cursor {
    const char *at, *end;
};

/* Checks magic, version and head, and goes behind them. NULL, or what is wrong. The head's list
 * comes from the arena. */
const char *journal_start(struct journal_cursor *c, struct journal_head *head, struct arena *a);

enum journal_step {
    JOURNAL_STEP_entry,
    JOURNAL_STEP_end,   /* behind the last one */
    JOURNAL_STEP_cut,   /* in the middle of one, as after a kill */
    JOURNAL_STEP_broken /* not what we write */
};

/* The next entry; the cursor stays before whatever is none. */
enum journal_step journal_read(struct journal_cursor *c, struct journal_entry *entry);

#endif
