/* life: a journal whose texts are changed. */
#ifndef CTL_REDACT_LIFE_H
#define CTL_REDACT_LIFE_H

#include "ctl/redact/names.h"
#include "proto/base/buffer.h"

/* Shows names_take all texts of a journal. bytes may be written to (private memory) if names are to
 * be changed. False: it is no journal. */
bool life_take(struct names *n, struct str bytes);
/* Behind that, and with changed names: the journal again, with hashes of what is said now. Where it
 * was cut off, so is this one. False: it is broken. */
bool life_write(struct str bytes, bool (*put)(void *context, struct str piece), void *context);

#endif
