/* curve: the key pairs of an instance, as files in one directory. A key says what its holder may
 * be.
 *
 *     server.key   server.key_secret      the pair of every door and tap of the instance
 *     KIND.key     KIND.key_secret        the pair that processes of that kind connect with
 *     KIND-*.key                          further keys for that kind: their public halves are
 * accepted
 *
 * KIND is watcher, queue, scheduler, worker, binder, extender, plugin or tool. A process needs the
 * public server.key and its own pair; a door the server's secret and the public keys of who may
 * come in. Files have CZMQ's certificate format; secret ones have mode 0600. */
#ifndef CURVE_H
#define CURVE_H

#include "proto/messages.h"

#define CURVE_KEY_ROOM  41 /* 40 characters of Z85 and a zero byte */
#define CURVE_NAME_ROOM 72 /* of a key file's name without its ending, and a zero byte */

struct curve_keys {
    char server_public[CURVE_KEY_ROOM];
    char server_secret[CURVE_KEY_ROOM]; /* empty when the directory has only the public half */
    char own_public[CURVE_KEY_ROOM];    /* of that kind; empty when it has none */
    char own_secret[CURVE_KEY_ROOM];
};

/* Reads the server's pair and that of the kind; the server's secret may be missing (who only
 * connects does not need it), and so may the kind's pair (who only listens does not need that). */
bool curve_load(struct curve_keys *keys, const char *dir, enum process kind, char *error,
                size_t room);
/* Why a process of that kind has no key to connect with, as one line. */
void curve_say_missing(const char *dir, enum process kind, char *error, size_t room);
/* Makes DIR/NAME.key and DIR/NAME.key_secret, both or neither; refuses to replace what is there. */
bool curve_make(const char *dir, const char *name, char *error, size_t room);
/* True when there is a file of that name's pair, of either half; an empty one, of whoever could not
 * write it, counts as none. */
bool curve_exists(const char *dir, const char *name);
/* True when one half is there and the other one is an empty file. */
bool curve_broken(const char *dir, const char *name);
/* The kind that a key file's name without ending permits: worker for worker and worker-far; 0 when
 * it is none's. */
enum process curve_role(const char *name);
/* The name of the key file in dir with these 32 bytes, of a kind; false when there is none. Reads
 * the directory anew, so that a key can be added or taken away while processes run. */
bool curve_find(const char *dir, const unsigned char key[32], char name[CURVE_NAME_ROOM]);

#endif
