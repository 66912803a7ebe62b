/* buffer: bytes that grow; for building frames, JSON and log lines. */
#ifndef BUFFER_H
#define BUFFER_H

#include "proto/base/str.h"

/* Zero-initialise. at[len] is always a zero byte once something was added. */
struct buffer {
    char *at;
    size_t len, room;
};

void buffer_add(struct buffer *b, const void *bytes, size_t len);
/* Room for so many bytes behind the last one, to be filled in and counted (len) by the caller, who
 * sees to the zero byte as well: one more than asked for is there. */
char *buffer_reserve(struct buffer *b, size_t len);
void buffer_add_str(struct buffer *b, struct str s);
void buffer_add_text(struct buffer *b, const char *zero_terminated);
void buffer_print(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Empties it, keeps the memory. */
void buffer_reset(struct buffer *b);
void buffer_free(struct buffer *b);
struct str buffer_str(const struct buffer *b);

#endif
