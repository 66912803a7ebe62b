/* verify: the one idea: what a process believes to have read is what its codec says, so that is
 * what is compared, refusals included. What must stay true: every frame is looked at, whatever the
 * filters let pass; a body is read with the memory that frame_decode allows it. */
#include "ctl/tap/verify.h"

#include "proto/bus/frame.h"
#include "proto/second_reader.h"

#define TAPPED_MEMORY (1u << 16) /* as in view.c: it has no lists */

void tap_verify_free(struct tap_verify *v)
{
    buffer_free(&v->lines);
    buffer_free(&v->found);
    arena_free(&v->ours);
    arena_free(&v->theirs);
}

/* Each of the lines found, behind whose frame and what part of it they are about. */
static void tell(struct tap_verify *v, const struct tapped *t, const char *part)
{
    struct str rest = buffer_str(&v->found), line;
    struct str from = t->sent ? t->instance : t->peer_instance;
    struct str to = t->sent ? t->peer_instance : t->instance;
    while (rest.len > 0 && str_split(&rest, "\n", &line))
        buffer_print(&v->lines, "%.*s>%.*s %s: %.*s\n", STR_ARG(from), STR_ARG(to), part,
                     STR_ARG(line));
}

static void compare(struct tap_verify *v, const struct record *r, const struct reading *ours,
                    struct str bytes)
{
    buffer_reset(&v->found);
    arena_reset(&v->theirs);
    v->theirs.limit = v->ours.limit;
    second_agrees(r, ours, bytes, &v->theirs, &v->found);
}

/* A record that begins the bytes. False when the codec refuses it. */
static bool compare_record(struct tap_verify *v, const struct record *r, void *object,
                           struct str bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.at;
    struct byte_cursor in = {at, at + bytes.len};
    struct reading ours = {.object = object};
    arena_reset(&v->ours);
    v->ours.limit = TAPPED_MEMORY;
    if (codec_decode(r, object, &in, &v->ours))
        ours.end = in.at == in.end ? READING_whole : READING_part;
    compare(v, r, &ours, bytes);
    return ours.end != READING_refused;
}

static void compare_body(struct tap_verify *v, const struct envelope *envelope,
                         struct byte_cursor body)
{
    struct message m;
    struct str bytes = {(const char *)body.at, (uint32_t)(body.end - body.at)};
    enum refusal why = frame_decode(envelope, body, &m, &v->ours);
    struct reading ours = {.end = why == REFUSED_nothing          ? READING_whole
                                  : why == REFUSED_trailing_bytes ? READING_part
                                                                  : READING_refused,
                           .object = message_body(&m)};
    buffer_reset(&v->found);
    if (why != REFUSED_unknown_message)
        compare(v, frame_record(envelope->type), &ours, bytes);
}

bool tap_verify_frame(struct tap_verify *v, struct str tapped)
{
    struct tapped t;
    struct envelope envelope;
    struct byte_cursor body;
    buffer_reset(&v->lines);
    bool read = compare_record(v, &tapped_record, &t, tapped);
    if (!read)
        t = (struct tapped){.sent = true};
    tell(v, &t, "tapped record");
    if (read && t.frame.len > 1 && t.frame.at[0] == FRAME_VERSION) {
        struct envelope again;
        compare_record(v, &envelope_record, &again, (struct str){t.frame.at + 1, t.frame.len - 1});
        tell(v, &t, "envelope");
    }
    if (read && frame_open(t.frame, &envelope, &body) == REFUSED_nothing) {
        compare_body(v, &envelope, body);
        tell(v, &t, frame_type_name(envelope.type));
    }
    v->frames++;
    v->different += v->lines.len > 0;
    return v->lines.len == 0;
}
