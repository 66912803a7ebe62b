/* messages: the texts of messages on the bus, shown where they stand. */
#ifndef CTL_REDACT_MESSAGES_H
#define CTL_REDACT_MESSAGES_H

#include "ctl/redact/names.h"
#include "proto/codec.h"

/* An encoded record: as far as it can be read. r may be NULL: of it nothing is known. */
void messages_take(struct names *n, const struct record *r, struct str encoded);

#endif
