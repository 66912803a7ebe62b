/* said: where names stand in a text that is put together of them: in what is said when something
 * fails, and in a CEL expression. */
#ifndef CTL_REDACT_SAID_H
#define CTL_REDACT_SAID_H

#include "proto/base/str.h"

/* The next name from *at on, of a host, a file or a program, whatever it looks like; false: there
 * is none. path: of a file or a program. */
bool said_next(struct str text, uint32_t *at, struct str *name, bool *path);
/* Where another program's own words begin, which may say anything; the text's length: nowhere. */
uint32_t said_by_others(struct str text);
/* The next name in a CEL expression: what stands in quotes, and what is looked up behind a bracket.
 */
bool said_in_expression(struct str text, uint32_t *at, struct str *name);

#endif
