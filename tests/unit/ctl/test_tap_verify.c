/* test_tap_verify: what `berth tap --verify` compares and says. The second reader is replaced by
 * one that can be made to see a difference, as in a program whose codec has a bug; the real one is
 * held by tests/unit/proto/test_second_reader.c and, on a live bus, by test_commands.c. */
#include "ctl/commands.h"
#include "ctl/recording.h"
#include "ctl/tap/verify.h"

#include "proto/bus/frame.h"
#include "proto/second_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct record *planted; /* the record that is read otherwise */
static int asked;
static enum reading_end ended; /* how the codec said that the record planted ended */

bool second_agrees(const struct record *r, const struct reading *ours, struct str bytes,
                   struct arena *a, struct buffer *lines)
{
    (void)bytes, (void)a;
    asked++;
    if (r != planted)
        return true;
    ended = ours->end;
    buffer_add_text(lines, "name: \"web\", by msgpack-c \"wet\"\nuid: 1, by msgpack-c 2\n");
    return false;
}

/* A frame as the watcher's tap mirrors it, with bytes behind its body if any are given. */
static struct str mirror(struct buffer *out, const char *behind)
{
    static const struct pod_gone gone = {.name = {"web", 3}};
    struct envelope envelope = {.type = MSG_pod_gone, .link = 3};
    struct buffer body = {0}, frame = {0};
    codec_encode(message_info[MSG_pod_gone].record, &gone, &body);
    buffer_add_text(&body, behind);
    frame_build(&frame, &envelope, buffer_str(&body));
    struct tapped tapped = {.instance = STR_LITERAL("watcher"),
                            .process = STR_LITERAL("watcher"),
                            .sent = true,
                            .peer_process = STR_LITERAL("queue"),
                            .peer_instance = STR_LITERAL("queue"),
                            .tap_sequence = 1,
                            .frame = buffer_str(&frame)};
    buffer_reset(out);
    codec_encode(&tapped_record, &tapped, out);
    buffer_free(&body);
    buffer_free(&frame);
    return buffer_str(out);
}

static int nothing_planted(void **state)
{
    (void)state;
    planted = NULL;
    asked = 0;
    return 0;
}

static void record_envelope_and_body_are_compared(void **state)
{
    (void)state;
    struct tap_verify v = {0};
    struct buffer tapped = {0};
    assert_true(tap_verify_frame(&v, mirror(&tapped, "")));
    assert_int_equal(asked, 3);
    planted = message_info[MSG_pod_gone].record;
    assert_false(tap_verify_frame(&v, mirror(&tapped, "")));
    assert_string_equal(v.lines.at, "watcher>queue pod_gone: name: \"web\", by msgpack-c \"wet\"\n"
                                    "watcher>queue pod_gone: uid: 1, by msgpack-c 2\n");
    assert_int_equal(ended, READING_whole);
    assert_false(tap_verify_frame(&v, mirror(&tapped, "x")));
    assert_int_equal(ended, READING_part);
    planted = &envelope_record;
    assert_false(tap_verify_frame(&v, mirror(&tapped, "")));
    assert_int_equal(ended, READING_part); /* the body is behind it */
    assert_non_null(strstr(v.lines.at, "watcher>queue envelope: name: "));
    planted = &tapped_record;
    assert_false(tap_verify_frame(&v, STR_LITERAL("\xc1")));
    assert_int_equal(ended, READING_refused);
    assert_int_equal(v.frames, 5);
    assert_int_equal(v.different, 4);
    tap_verify_free(&v);
    buffer_free(&tapped);
}

static int tap(const char *path, const char *option)
{
    char *argv[] = {strdup("tap"), strdup("--read"), strdup(path), strdup(option), NULL};
    int status = command_tap(4, argv);
    for (int i = 0; i < 4; i++)
        free(argv[i]);
    return status;
}

static void a_difference_is_the_exit_status(void **state)
{
    (void)state;
    char path[] = "/tmp/berth-verify-XXXXXX", error[256];
    struct buffer tapped = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    FILE *file = recording_create(path, error, sizeof(error));
    assert_non_null(file);
    assert_true(recording_add(file, mirror(&tapped, ""), 0));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(tap(path, "--verify"), 0);
    assert_int_equal(asked, 3);
    planted = message_info[MSG_pod_gone].record;
    assert_int_equal(tap(path, "--verify"), 1);
    assert_int_equal(tap(path, "-o=text"), 0); /* nobody asked for it */
    unlink(path);
    buffer_free(&tapped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(record_envelope_and_body_are_compared, nothing_planted),
        cmocka_unit_test_setup(a_difference_is_the_exit_status, nothing_planted),
    };
    return cmocka_run_group_tests_name("tap_verify", tests, NULL, NULL);
}
