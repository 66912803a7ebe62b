/* Protobuf bodies: one pod written by hand byte by byte, and the same cut short or corrupted at
 * every place, which must be refused or read but never crash. */
#include "harness.h"

#include "tests/apiserver/protobuf.h"

/* Appends a field of bytes. */
static void put_bytes(struct buffer *out, unsigned number, const char *bytes, size_t size)
{
    assert_true(number < 16 && size < 16384);
    unsigned char head[3] = {(unsigned char)(number << 3 | 2),
                             (unsigned char)((size & 0x7f) | 0x80), (unsigned char)(size >> 7)};
    buffer_add(out, head, sizeof head);
    buffer_add(out, bytes, size);
}

static void put_text(struct buffer *out, unsigned number, const char *text)
{
    put_bytes(out, number, text, strlen(text));
}

static void put_buffer(struct buffer *out, unsigned number, struct buffer *part)
{
    put_bytes(out, number, part->at != NULL ? part->at : "", part->len);
    buffer_free(part);
}

static void put_number(struct buffer *out, unsigned number, unsigned char value)
{
    assert_true(value < 0x80);
    unsigned char bytes[2] = {(unsigned char)(number << 3), value};
    buffer_add(out, bytes, sizeof bytes);
}

/* A pod with a label, a creation time, and a container that asks for 100m. */
static struct buffer pod_body(void)
{
    struct buffer body = {0}, type = {0}, raw = {0}, metadata = {0}, label = {0}, time = {0},
                  spec = {0}, container = {0}, needs = {0}, request = {0}, amount = {0};
    put_text(&label, 1, "app");
    put_text(&label, 2, "web");
    put_number(&time, 1, 60);
    put_text(&metadata, 1, "p");
    put_text(&metadata, 3, "");
    put_buffer(&metadata, 8, &time);
    put_buffer(&metadata, 11, &label);
    put_text(&amount, 1, "100m");
    put_text(&request, 1, "cpu");
    put_buffer(&request, 2, &amount);
    put_buffer(&needs, 2, &request);
    put_text(&container, 1, "c");
    put_text(&container, 2, "i");
    put_buffer(&container, 8, &needs);
    put_buffer(&spec, 2, &container);
    put_number(&spec, 4, 5);
    put_number(&spec, 11, 1);
    put_buffer(&raw, 1, &metadata);
    put_buffer(&raw, 2, &spec);
    put_text(&type, 1, "v1");
    put_text(&type, 2, "Pod");
    buffer_add(&body, "k8s", 4);
    put_buffer(&body, 1, &type);
    put_buffer(&body, 2, &raw);
    return body;
}

static void a_pod_reads_as_its_json_would(void **state)
{
    (void)state;
    struct buffer body = pod_body();
    cJSON *pod = protobuf_parse(body.at, body.len);
    assert_non_null(pod);
    struct blob *printed = tree_print(pod);
    assert_string_equal(printed->bytes,
                        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
                        "\"creationTimestamp\":"
                        "\"1970-01-01T00:01:00Z\",\"labels\":{\"app\":\"web\"}},\"spec\":{"
                        "\"containers\":[{\"name\":"
                        "\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"100m\"}}}],"
                        "\"terminationGracePeriodSeconds\":5,\"hostNetwork\":true}}");
    blob_drop(printed);
    cJSON_Delete(pod);
    buffer_free(&body);
}

static void a_cut_body_never_reads_past_its_end(void **state)
{
    (void)state;
    struct buffer body = pod_body();
    for (size_t size = 0; size < body.len; size++) {
        char *cut = memory_copy(body.at, size);
        char *exact = memory_resize(cut, size ? size : 1);
        cJSON_Delete(protobuf_parse(exact, size));
        memory_free(exact);
    }
    buffer_free(&body);
}

static void a_corrupted_body_never_crashes(void **state)
{
    (void)state;
    struct buffer body = pod_body();
    for (size_t at = 0; at < body.len; at++) {
        char old = body.at[at];
        for (int value = 0; value < 256; value++) {
            body.at[at] = (char)value;
            cJSON_Delete(protobuf_parse(body.at, body.len));
        }
        body.at[at] = old;
    }
    buffer_free(&body);
}

static void unknown_kinds_and_wrong_magic_are_refused(void **state)
{
    (void)state;
    struct buffer body = {0}, type = {0};
    put_text(&type, 1, "example.org/v1");
    put_text(&type, 2, "Thing");
    buffer_add(&body, "k8s", 4);
    put_buffer(&body, 1, &type);
    assert_null(protobuf_parse(body.at, body.len));
    body.at[0] = 'x';
    assert_null(protobuf_parse(body.at, body.len));
    assert_null(protobuf_parse("", 0));
    buffer_free(&body);
}

int main(void)
{
    tree_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_reads_as_its_json_would),
        cmocka_unit_test(a_cut_body_never_reads_past_its_end),
        cmocka_unit_test(a_corrupted_body_never_crashes),
        cmocka_unit_test(unknown_kinds_and_wrong_magic_are_refused),
    };
    return cmocka_run_group_tests_name("apiserver protobuf", tests, NULL, NULL);
}
