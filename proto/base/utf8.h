/* utf8: where a character ends, for what prints texts whose bytes may be anything. */
#ifndef UTF8_H
#define UTF8_H

#include "proto/base/str.h"

/* Bytes of the character that the text begins with; 0: there is none. Half of a surrogate pair,
 * more bytes than a character needs and code points above U+10FFFF are none, as in Go. */
uint32_t utf8_length(struct str text);

#endif
