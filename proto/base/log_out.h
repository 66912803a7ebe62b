/* log_out: lines to standard error that never wait for whoever reads them. What cannot be written
 * at once is lost and counted; when the reader goes on, one line says how many. */
#ifndef LOG_OUT_H
#define LOG_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_OUT_MAX 70000 /* bytes of one line */

/* Writes a line, its line end included. False when it is lost, wholly. */
bool log_out(const char *line, size_t len);
/* Lines that are lost and were not told of yet. */
uint64_t log_out_untold(void);
/* Writes the line that tells of so many; when it cannot go out either, they stay untold. */
bool log_out_tell(const char *line, size_t len, uint64_t lines);
/* Lines lost since the start. */
uint64_t log_out_lost(void);

#endif
