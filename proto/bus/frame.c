/* frame: builds and opens the bytes that travel. The one idea: opening and decoding are two steps,
 * so that a frame that is too long or not for us is named and numbered without being decoded. What
 * must stay true: work and memory are bounded by the frame's length, whatever it says. */
#include "proto/bus/frame.h"

/* The tightest encoding of a list's element is one byte and its struct in memory is far larger. */
#define ARENA_PER_BYTE 64
#define ARENA_LEAST    (64u << 10)

#define PACK_LENGTH 4 /* bytes in front of each frame */

const char *refusal_name(enum refusal why)
{
    static const char *const names[] = {"nothing",
#define REFUSAL(name, text) #name,
                                        REFUSALS
#undef REFUSAL
    };
    return names[why];
}

const char *refusal_text(enum refusal why)
{
    static const char *const texts[] = {"nothing",
#define REFUSAL(name, text) text,
                                        REFUSALS
#undef REFUSAL
    };
    return texts[why];
}

void frame_build(struct buffer *out, const struct envelope *envelope, struct str body)
{
    const char version = FRAME_VERSION;
    buffer_reset(out);
    buffer_add(out, &version, 1);
    codec_encode(&envelope_record, envelope, out);
    buffer_add_str(out, body);
}

enum refusal frame_open(struct str frame, struct envelope *envelope, struct byte_cursor *body)
{
    const uint8_t *at = (const uint8_t *)frame.at;
    struct arena none = {.limit = 1}; /* an envelope holds no lists */
    if (frame.len == 0 || at[0] != FRAME_VERSION)
        return REFUSED_unknown_version;
    *body = (struct byte_cursor){at + 1, at + frame.len};
    *envelope = (struct envelope){0};
    bool read = codec_decode(&envelope_record, envelope, body, &none);
    arena_free(&none);
    if (!read || envelope->link < 0 || envelope->term < 0 || envelope->generation < 0)
        return REFUSED_malformed_envelope;
    return REFUSED_nothing;
}

void pack_add(struct buffer *pack, struct str frame)
{
    const uint8_t head[] = {FRAME_PACK, (uint8_t)(frame.len >> 24), (uint8_t)(frame.len >> 16),
                            (uint8_t)(frame.len >> 8), (uint8_t)frame.len};
    size_t known = pack->len > 0;
    buffer_add(pack, head + known, sizeof(head) - known);
    buffer_add_str(pack, frame);
}

bool is_pack(struct str bytes)
{
    return bytes.len > 0 && bytes.at[0] == FRAME_PACK;
}

bool pack_next(struct str *rest, struct str *frame)
{
    const uint8_t *at = (const uint8_t *)rest->at;
    if (rest->len < PACK_LENGTH)
        return false;
    uint32_t len = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    if (len > rest->len - PACK_LENGTH)
        return false;
    *frame = (struct str){rest->at + PACK_LENGTH, len};
    *rest = (struct str){frame->at + len, rest->len - PACK_LENGTH - len};
    return true;
}

const struct record *frame_record(int64_t type)
{
    return type > MSG_none && type < MSG_COUNT ? message_info[type].record : NULL;
}

const char *frame_type_name(int64_t type)
{
    const struct record *record = frame_record(type);
    return record ? record->name : "unknown";
}

bool frame_is_kept(int64_t type)
{
    return type == MSG_map_picks;
}

enum refusal frame_decode(const struct envelope *envelope, struct byte_cursor body,
                          struct message *m, struct arena *arena)
{
    arena_reset(arena); /* also where nothing is read: what the arena holds is this frame's */
    const struct record *record = frame_record(envelope->type);
    if (record == NULL)
        return REFUSED_unknown_message;
    arena->limit = ARENA_PER_BYTE * (size_t)(body.end - body.at) + ARENA_LEAST;
    if (frame_is_kept(envelope->type)) {
        size_t len = (size_t)(body.end - body.at);
        arena->limit += len;
        body.at = arena_same(arena, body.at, len);
        body.end = body.at + len;
    }
    m->type = (enum message_type)envelope->type; /* all that belongs to it is set by decoding */
    if (!codec_decode(record, message_body(m), &body, arena))
        return REFUSED_malformed_body;
    return body.at == body.end ? REFUSED_nothing : REFUSED_trailing_bytes;
}
