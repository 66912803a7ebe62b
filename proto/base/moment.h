/* moment: time as a type, so that a delay cannot be passed where an instant is meant.
 *
 * Cores get the time as an argument and never ask for it; only main loops call these two clocks. */
#ifndef MOMENT_H
#define MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An instant of the monotonic clock, in nanoseconds; 0 = never set. Not comparable across hosts. */
struct moment {
    int64_t ns;
};

/* A length of time, in nanoseconds. */
struct span {
    int64_t ns;
};

#define MOMENT_NEVER ((struct moment){INT64_MAX})

struct moment moment_now(void); /* CLOCK_MONOTONIC */
int64_t moment_boot_ns(void);   /* CLOCK_BOOTTIME, which the kernel counts starts of processes in */
int64_t moment_wall_us(void);   /* CLOCK_REALTIME, microseconds since 1970 */
struct span span_of_ms(int64_t ms);
struct span span_of_us(int64_t us);
struct span span_of_seconds(double seconds);
int64_t span_ms(struct span s);                             /* rounded down */
struct moment moment_after(struct moment m, struct span s); /* saturates at MOMENT_NEVER */
struct span moment_since(struct moment later, struct moment earlier);
bool moment_reached(struct moment now, struct moment at); /* now >= at */
struct moment moment_earlier(struct moment a, struct moment b);

/* "2026-01-02T03:04:05Z" and "2026-01-02T03:04:05.000006Z" (UTC); out holds at least 32 bytes. */
void moment_print_seconds(int64_t wall_us, char *out, size_t room);
void moment_print_micros(int64_t wall_us, char *out, size_t room);
/* RFC 3339 with optional fraction and offset, to microseconds since 1970; false when malformed. */
bool moment_parse_wall(const char *at, size_t len, int64_t *wall_us);

#endif
