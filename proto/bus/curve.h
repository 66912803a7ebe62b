/* curve: the key pairs of an instance, as files in one directory.
 *
 *     server.key   server.key_secret      the pair of every door and tap of the instance
 *     client.key   client.key_secret      the pair its processes connect with
 *     client*.key                         further clients whose public key is accepted
 *
 * Files have CZMQ's certificate format; secret ones have mode 0600. */
#ifndef CURVE_H
#define CURVE_H

#include <stdbool.h>
#include <stddef.h>

#define CURVE_KEY_ROOM 41 /* 40 characters of Z85 and a zero byte */

struct curve_keys {
    char server_public[CURVE_KEY_ROOM];
    char server_secret[CURVE_KEY_ROOM]; /* empty when the directory has only the public half */
    char client_public[CURVE_KEY_ROOM];
    char client_secret[CURVE_KEY_ROOM];
};

/* Reads both pairs; the server's secret may be missing (a client's machine does not need it). */
bool curve_load(struct curve_keys *keys, const char *dir, char *error, size_t room);
/* Makes DIR/NAME.key and DIR/NAME.key_secret; refuses to replace what is there. */
bool curve_make(const char *dir, const char *name, char *error, size_t room);
/* True when the 32 bytes are the public key of a client*.key in dir; reads the directory anew, so
 * that a key can be added or taken away while processes run. */
bool curve_is_client(const char *dir, const unsigned char key[32]);

#endif
