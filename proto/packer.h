/* packer: msgpack-c's packer, instantiated from its template for a place in memory in place of a
 * callback: so the compiler sees through it, and what it costs is the bytes. What must stay true:
 * the caller has seen to the room, PACKER_HEAD_MAX bytes for a number or a head. */
#ifndef PACKER_H
#define PACKER_H

#include <msgpack/pack_define.h>
#include <msgpack/timestamp.h>

#include <stdint.h>
#include <string.h>

#define PACKER_HEAD_MAX 9 /* bytes */

/* Where the next byte goes. */
struct packer {
    uint8_t *at;
};

static inline int packer_append(struct packer *p, const void *bytes, size_t len)
{
    memcpy(p->at, bytes, len);
    p->at += len;
    return 0;
}

/* Gives msgpack_pack_int64(), msgpack_pack_str() and so on, as in <msgpack/pack.h>, which cannot be
 * included beside it. */
#define msgpack_pack_inline_func(name)             static inline int msgpack_pack##name
#define msgpack_pack_user                          struct packer *
#define msgpack_pack_append_buffer(user, buf, len) return packer_append(user, buf, len)
#include <msgpack/pack_template.h>

#endif
