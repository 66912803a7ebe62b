/* kept: the certificate that is kept in --cert-dir, and how a file that a flag names is read. */
#ifndef SERVE_KEPT_H
#define SERVE_KEPT_H

#include "proto/base/buffer.h"

#include <stdbool.h>

/* Appends the text of that file; nothing when there is no path. False, with a line in the log, when
 * it cannot be read or is empty. */
bool kept_read(struct buffer *into, const char *flag, const char *path);
/* The pair in the directory; when neither file is there, one is made for that address and kept, as
 * upstream. False with a line in the log. */
bool kept_pair(const char *dir, const char *address, struct buffer *certificate,
               struct buffer *key);

#endif
