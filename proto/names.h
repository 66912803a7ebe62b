/* names: what messages.def declares, as source text for those who speak on the bus in another
 * program: numbers, words and fields by name. `document KIND` prints it, proto/clients keeps it. */
#ifndef NAMES_H
#define NAMES_H

#include "proto/base/buffer.h"

/* A module for proto/clients/python: a class for each record and message. */
void names_python(struct buffer *out);
/* A file for proto/clients/go, as gofmt has it: a struct for each. */
void names_go(struct buffer *out);
/* A header for any program in C; needs nothing of ours. */
void names_c(struct buffer *out);
/* A JSON Schema of all bodies, as `berth tap -o json` prints them. */
void names_schema(struct buffer *out);

#endif
