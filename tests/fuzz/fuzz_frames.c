/* fuzz_frames: any bytes as a frame that a peer sent: opening and decoding must refuse it by name,
 * or read a message that survives being framed again. An even first byte leaves the rest as the
 * whole frame; an odd one is followed by a message's number and its body, behind a good envelope.
 */
#include "proto/base/must.h"
#include "proto/bus/frame.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read is framed again, opened and compared. */
static void check_again(const struct envelope *envelope, const struct message *m)
{
    static struct buffer frame, body;
    struct envelope back;
    struct message again;
    struct byte_cursor rest;
    struct arena arena = {0};
    buffer_reset(&body);
    codec_encode(frame_record(envelope->type), message_body_const(m), &body);
    frame_build(&frame, envelope, buffer_str(&body));
    must(frame_open(buffer_str(&frame), &back, &rest) == REFUSED_nothing);
    must(codec_equal(&envelope_record, envelope, &back));
    must(frame_decode(&back, rest, &again, &arena) == REFUSED_nothing);
    must(again.type == m->type);
    must(codec_equal(frame_record(envelope->type), message_body_const(m), message_body(&again)));
    arena_free(&arena);
}

static void read_frame(struct str frame)
{
    static struct arena arena;
    struct envelope envelope;
    struct byte_cursor body;
    struct message m;
    enum refusal why = frame_open(frame, &envelope, &body);
    must(strlen(refusal_name(why)) > 0 && strlen(refusal_text(why)) > 0);
    if (why != REFUSED_nothing)
        return;
    must(strlen(frame_type_name(envelope.type)) > 0);
    why = frame_decode(&envelope, body, &m, &arena);
    must(arena.total <= 64 * (size_t)(body.end - body.at) + 65536);
    must((why == REFUSED_unknown_message) == (frame_record(envelope.type) == NULL));
    if (why == REFUSED_nothing)
        check_again(&envelope, &m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct str rest = {(const char *)data + 1, (uint32_t)size - 1};
    if (data[0] % 2 == 0) {
        read_frame(rest);
        return 0;
    }
    static struct buffer frame;
    struct envelope envelope = {.type = 1 + data[1] % (MSG_COUNT - 1), .link = 1};
    struct str body = {(const char *)data + 2, (uint32_t)size - 2};
    frame_build(&frame, &envelope, body);
    read_frame(buffer_str(&frame));
    return 0;
}
