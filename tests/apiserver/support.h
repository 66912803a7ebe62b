/* What every file of the API server needs on top of proto/base: shared bytes, chance, base64. */
#ifndef APISERVER_SUPPORT_H
#define APISERVER_SUPPORT_H

#include "proto/base/buffer.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/base/must.h"

/* A copy of a zero-terminated string. */
char *memory_string(const char *string);
/* Zeroed like memory_take is, and left alone: the monotonic clock in milliseconds. */
int64_t clock_ms(void);

enum { TIME_TEXT = 32 };
/* RFC 3339 in UTC, whole seconds or microseconds; returns out. */
char *time_seconds_text(int64_t wall_us, char out[static TIME_TEXT]);
char *time_micro_text(int64_t wall_us, char out[static TIME_TEXT]);
/* Microseconds since 1970; -1 when the text is not a time. */
int64_t time_parse_us(const char *text);

uint64_t chance_below(uint64_t below);
/* From 0 up to, but not including, 1. */
double chance_fraction(void);
/* A random (version 4) UUID; returns out. */
char *chance_uid(char out[static 37]);

/* Bytes that several owners share and nobody changes. */
struct blob {
    unsigned refs;
    size_t size;
    char bytes[];
};
struct blob *blob_new(const char *bytes, size_t size);
struct blob *blob_keep(struct blob *blob);
/* NULL is allowed. */
void blob_drop(struct blob *blob);

/* Reads a whole file, zero-terminated; NULL with errno set when that fails. */
char *file_read(const char *path, size_t *size);

/* Base64 with padding; decode returns NULL when the text is not base64. */
char *base64_encode(const char *bytes, size_t size);
char *base64_decode(const char *string, size_t *size);

#endif
