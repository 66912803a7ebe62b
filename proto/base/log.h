/* log: lines on stderr, logfmt or JSON, one an event, written where a decision is made. */
#ifndef LOG_H
#define LOG_H

#include "proto/base/moment.h"

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_error, LOG_LEVEL_warn, LOG_LEVEL_info, LOG_LEVEL_debug };

/* Names the process in every line (proc=…); called once at start. */
void log_open(const char *process, enum log_level least);
void log_set_level(enum log_level least);
/* The same by klog's number: 2 and more is debug. */
void log_set_verbosity(int64_t verbosity);
/* The name of the level in force, to hand on to another process. */
const char *log_level_name(void);
/* "error", "warn", "info", "debug" or klog's "0" … "10" (0-1 info, 2 and more debug). */
bool log_level_parse(const char *text, enum log_level *level);

/* "text", which is logfmt, or "json" (log_json.h); false: there is no other. */
bool log_set_format(const char *format);
const char *log_format_name(void);

/* format gives the text of msg=, then, after the first '|', further key=value pairs that the caller
 * wrote in logfmt: log_info("bound|pod=%s/%s node=%s", …). Quote values that may hold spaces. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* No line waits for whoever reads standard error: what cannot be written at once is lost and
 * counted (log_out.h). Says how many were lost, if any were and it can be said by now; each line
 * does so first, and who may have no further line for a while calls it now and then. */
void log_catch_up(void);

/* At most one line a second for something that a peer can repeat at will:
 * if (log_limited(&limit, now)) log_warn("…| suppressed=%u", limit.suppressed_before). */
struct log_limit {
    struct moment next;
    unsigned suppressed, suppressed_before;
};
bool log_limited(struct log_limit *limit, struct moment now);

#endif
