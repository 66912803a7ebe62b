/* uuid: UUIDs as Kubernetes writes them (36 characters, lower case) in 16 bytes. */
#ifndef UUID_H
#define UUID_H

#include "proto/base/str.h"

#define UUID_TEXT  36
#define UUID_BYTES 16

/* False, and bytes are undefined, when text is not a UUID that uuid_print would give back. */
bool uuid_pack(struct str text, uint8_t *bytes);
/* UUID_TEXT characters, without a zero byte. */
void uuid_print(const uint8_t *bytes, char *text);

#endif
