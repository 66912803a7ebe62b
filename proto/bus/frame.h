/* frame: one message as bytes: a version byte, the envelope, the body; several of them as one, a
 * pack; and the ways to refuse one. */
#ifndef FRAME_H
#define FRAME_H

#include "proto/messages.h"

#define FRAME_VERSION 0x01
#define FRAME_PACK    0x02 /* the first byte of a pack, in place of a version */

#define PACK_FRAMES_MAX 64

/* Why a received frame is not handed to anybody; REFUSAL(name, what the log says). */
#define REFUSALS                                                                                   \
    REFUSAL(unknown_version, "first byte is not a known frame version")                            \
    REFUSAL(malformed_envelope, "envelope cannot be decoded")                                      \
    REFUSAL(oversized, "longer than a frame may be")                                               \
    REFUSAL(unknown_message, "no message has this number")                                         \
    REFUSAL(local_only, "a message that never travels")                                            \
    REFUSAL(before_hello, "the sender has not said hello")                                         \
    REFUSAL(other_life, "from another life of the sender than the link's")                         \
    REFUSAL(gap, "not the next frame of its link")                                                 \
    REFUSAL(malformed_hello, "hello without a usable kind or name")                                \
    REFUSAL(wrong_process, "another kind of process answers here")                                 \
    REFUSAL(not_served, "this door does not serve that kind of process")                           \
    REFUSAL(wrong_key, "its key is not one of that kind of process")                               \
    REFUSAL(place_taken, "another living process has its place")                                   \
    REFUSAL(wild_term, "a term beyond what a lease can hold")                                      \
    REFUSAL(long_routing, "a routing id of more than 255 bytes")                                   \
    REFUSAL(too_many_peers, "as many peers as there may be")                                       \
    REFUSAL(misdirected, "this kind of sender or receiver has no part in it")                      \
    REFUSAL(stale_term, "from an older leadership term")                                           \
    REFUSAL(stale_generation, "from an older config generation")                                   \
    REFUSAL(malformed_pack, "a pack of frames that breaks off, or of too many")                    \
    REFUSAL(malformed_body, "body cannot be decoded")                                              \
    REFUSAL(trailing_bytes, "bytes behind the body")

enum refusal {
    REFUSED_nothing,
#define REFUSAL(name, text) REFUSED_##name,
    REFUSALS
#undef REFUSAL
        REFUSED_COUNT
};

const char *refusal_name(enum refusal why);
const char *refusal_text(enum refusal why);

/* Replaces what is in out. */
void frame_build(struct buffer *out, const struct envelope *envelope, struct str body);
/* Reads version and envelope and leaves the cursor at the body. Cheap, and safe for any length. */
enum refusal frame_open(struct str frame, struct envelope *envelope, struct byte_cursor *body);
/* Messages that are mostly kept by who gets them. */
bool frame_is_kept(int64_t type);
/* Decodes the body of envelope->type into m. Memory is bounded by the body's length; the arena is
 * reset first. Of a message that is kept all lies in the arena, of others the strings in the body.
 */
enum refusal frame_decode(const struct envelope *envelope, struct byte_cursor body,
                          struct message *m, struct arena *arena);
/* A pack is that byte and then each frame behind its length, four bytes of it, the highest first.
 * Adds a frame to one, which may be empty. */
void pack_add(struct buffer *pack, struct str frame);
bool is_pack(struct str bytes);
/* The next frame of what is left of a pack behind its first byte. False: it says more than there
 * is. */
bool pack_next(struct str *rest, struct str *frame);
/* The record of a message number that came from outside; NULL when there is none. */
const struct record *frame_record(int64_t type);
/* Its name, "unknown" when there is none. */
const char *frame_type_name(int64_t type);

#endif
