/* Protobuf by hand, read into the tree that JSON gives; and bytes that nobody should believe. */
#include "proto/base/memory.h"
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/documents/protobuf_put.h"
#include "proto/kube/objects/objects.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct arena arena;
static struct buffer message, body, printed;

static int fresh(void **state)
{
    (void)state;
    buffer_reset(&message);
    buffer_reset(&body);
    arena_reset(&arena);
    return 0;
}

static int done(void **state)
{
    (void)state;
    buffer_free(&message);
    buffer_free(&body);
    buffer_free(&printed);
    arena_free(&arena);
    return 0;
}

/* ---- making bytes ---- */

static void text(uint32_t field, const char *value)
{
    protobuf_put_text(&message, field, str_of(value));
}

static void bytes(const char *at, size_t len)
{
    buffer_add(&message, at, len);
}
#define BYTES(literal) bytes(literal, sizeof(literal) - 1)

/* The message in its envelope. */
static struct str wrapped(const char *kind)
{
    buffer_reset(&body);
    size_t raw = protobuf_begin(&body, STR_LITERAL("v1"), str_of(kind));
    buffer_add_str(&body, buffer_str(&message));
    protobuf_close(&body, raw);
    return buffer_str(&body);
}

/* ---- looking at trees ---- */

/* NOLINTNEXTLINE(misc-no-recursion): a tree of the table's shapes is not deep */
static void print_value(const struct kube_json *value, struct buffer *out)
{
    double number = 0;
    bool list = kube_json_is_array(value);
    if (kube_json_is_string(value))
        buffer_print(out, "'%.*s'", STR_ARG(kube_json_text(value)));
    else if (kube_json_number(value, &number))
        buffer_print(out, "%.17g", number);
    else if (kube_json_is_bool(value))
        buffer_add_text(out, kube_json_true(value) ? "true" : "false");
    if (!list && !kube_json_is_object(value))
        return;
    buffer_add_text(out, list ? "[" : "{");
    for (const struct kube_json *c = kube_json_first(value); c != NULL; c = kube_json_next(c)) {
        buffer_add_text(out, c == kube_json_first(value) ? "" : ",");
        if (!list)
            buffer_print(out, "%s:", kube_json_name(c).at);
        print_value(c, out);
    }
    buffer_add_text(out, list ? "]" : "}");
}

static void expect_tree(struct kube_json *tree, const char *want)
{
    assert_non_null(tree);
    buffer_reset(&printed);
    print_value(tree, &printed);
    kube_json_free(&tree);
    assert_string_equal(printed.at, want);
}

static void expect(const char *kind, const char *want)
{
    struct str error = {0};
    struct kube_json *tree = kube_protobuf_parse(wrapped(kind), &error, &arena);
    if (tree == NULL)
        fail_msg("refused: %.*s", STR_ARG(error));
    expect_tree(tree, want);
}

static void expect_refused(struct str what, const char *why)
{
    struct str error = {0};
    struct kube_json *tree = kube_protobuf_parse(what, &error, &arena);
    assert_null(tree);
    if (!str_is(error, why))
        fail_msg("refused with %.*s", STR_ARG(error));
}

/* ---- what is read ---- */

static void a_claim_by_hand_is_the_tree_of_its_json(void **state)
{
    (void)state;
    BYTES("\x0a\x14"                     /* metadata, 20 bytes */
          "\x0a\1c"                      /* name */
          "\x42\6\x08\xa5\xeb\xdc\xca\6" /* creationTimestamp */
          "\x5a\7\x0a\1k\x12\2vw"        /* labels */
          "\x12\x1b"                     /* spec, 27 bytes */
          "\x0a\3RWO"                    /* accessModes */
          "\x12\x12\x12\x10\x0a\7storage\x12\5\x0a\3"
          "1Gi"      /* resources.requests */
          "\x2a\0"   /* storageClassName, a pointer to nothing */
          "\x1a\0"); /* status */
    expect("PersistentVolumeClaim",
           "{metadata:{name:'c',creationTimestamp:'2026-01-02T03:04:05Z',labels:{k:'vw'}},"
           "spec:{accessModes:['RWO'],resources:{requests:{storage:'1Gi'}},storageClassName:''},"
           "status:{}}");
}

static void what_go_leaves_out_of_json_is_left_out(void **state)
{
    (void)state;
    size_t meta = protobuf_open(&message, 1);
    BYTES("\x0a\0"         /* name: empty */
          "\x38\0"         /* generation 0 */
          "\x42\0"         /* creationTimestamp: zero */
          "\x4a\2\x08\0"); /* deletionTimestamp: 1970 */
    protobuf_close(&message, meta);
    size_t spec = protobuf_open(&message, 2);
    BYTES("\x58\0"     /* hostNetwork false */
          "\xc8\1\0"   /* priority, a pointer to 0 */
          "\xfa\1\0"   /* preemptionPolicy, a pointer to an empty text */
          "\xa8\2\0"); /* hostUsers, a pointer to false */
    protobuf_close(&message, spec);
    expect("Pod", "{metadata:{deletionTimestamp:'1970-01-01T00:00:00Z'},"
                  "spec:{priority:0,preemptionPolicy:'',hostUsers:false}}");
}

static void numbers_keep_their_sign(void **state)
{
    (void)state;
    size_t meta = protobuf_open(&message, 1);
    protobuf_put_number(&message, 7, INT64_C(1) << 40);
    protobuf_close(&message, meta);
    size_t spec = protobuf_open(&message, 2);
    protobuf_put_number(&message, 25, -7);
    protobuf_close(&message, spec);
    expect("Pod", "{metadata:{generation:1099511627776},spec:{priority:-7}}");
}

static void fields_may_come_in_any_order_and_lists_in_pieces(void **state)
{
    (void)state;
    size_t spec = protobuf_open(&message, 2);
    for (int i = 0; i < 2; i++) {
        size_t toleration = protobuf_open(&message, 22);
        text(1, i ? "b" : "a");
        protobuf_close(&message, toleration);
        size_t gate = protobuf_open(&message, 38);
        text(1, i ? "y" : "x");
        protobuf_close(&message, gate);
        BYTES("\x3a\6\x0a\1k\x12\1v"); /* nodeSelector */
    }
    text(10, "n1");
    protobuf_close(&message, spec);
    size_t meta = protobuf_open(&message, 1);
    text(1, "p");
    protobuf_close(&message, meta);
    expect("Pod", "{spec:{tolerations:[{key:'a'},{key:'b'}],"
                  "schedulingGates:[{name:'x'},{name:'y'}],nodeSelector:{k:'v',k:'v'},"
                  "nodeName:'n1'},metadata:{name:'p'}}");
}

static void members_of_an_inlined_message_stand_in_its_place(void **state)
{
    (void)state;
    size_t spec = protobuf_open(&message, 2);
    size_t volume = protobuf_open(&message, 1);
    text(1, "data");
    size_t source = protobuf_open(&message, 2);
    size_t claim = protobuf_open(&message, 10);
    text(1, "c");
    protobuf_close(&message, claim);
    protobuf_close(&message, source);
    protobuf_close(&message, volume);
    protobuf_close(&message, spec);
    expect("Pod", "{spec:{volumes:[{name:'data',persistentVolumeClaim:{claimName:'c'}}]}}");
}

static void what_is_not_in_the_table_is_skipped_whatever_it_is(void **state)
{
    (void)state;
    BYTES("\xf8\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" /* 127, the longest number */
          "\xf9\x07"
          "12345678"
          "\xfa\x07\3abc"
          "\xfd\x07"
          "1234");
    size_t meta = protobuf_open(&message, 1);
    text(17, "managedFields");
    text(1, "n");
    protobuf_close(&message, meta);
    expect("Node", "{metadata:{name:'n'}}");
}

static void a_list_has_the_objects_and_where_it_goes_on(void **state)
{
    (void)state;
    size_t meta = protobuf_open(&message, 1);
    text(2, "10");
    text(3, "next");
    protobuf_close(&message, meta);
    for (int i = 0; i < 2; i++) {
        size_t item = protobuf_open(&message, 2), inner = protobuf_open(&message, 1);
        text(1, i ? "b" : "a");
        protobuf_close(&message, inner);
        protobuf_close(&message, item);
    }
    expect("NamespaceList", "{metadata:{resourceVersion:'10',continue:'next'},"
                            "items:[{metadata:{name:'a'}},{metadata:{name:'b'}}]}");
}

static void a_failure_is_read_as_a_status(void **state)
{
    (void)state;
    text(2, "Failure");
    text(3, "too old");
    size_t details = protobuf_open(&message, 5);
    protobuf_put_number(&message, 5, 3);
    protobuf_close(&message, details);
    protobuf_put_number(&message, 6, 410);
    expect("Status", "{status:'Failure',message:'too old',details:{retryAfterSeconds:3},code:410}");
}

static void an_event_has_a_type_and_an_object(void **state)
{
    (void)state;
    struct buffer frame = {0};
    text(1, "");
    protobuf_put_text(&frame, 1, STR_LITERAL("ADDED"));
    size_t object = protobuf_open(&frame, 2);
    protobuf_put_text(&frame, 1, wrapped("Pod"));
    protobuf_close(&frame, object);
    expect_tree(kube_protobuf_parse_event(buffer_str(&frame), NULL, &arena),
                "{type:'ADDED',object:{}}");
    struct str error = {0};
    assert_null(kube_protobuf_parse_event(STR_LITERAL("\x0a\5ADDED"), &error, &arena));
    assert_true(str_is(error, "protobuf: malformed event"));
    buffer_free(&frame);
}

static void each_form_is_known_by_its_first_bytes(void **state)
{
    (void)state;
    text(3, "m");
    expect_tree(kube_answer_parse(wrapped("Status"), NULL, &arena), "{message:'m'}");
    expect_tree(kube_answer_parse(STR_LITERAL("{\"message\":\"m\"}"), NULL, &arena),
                "{message:'m'}");
    assert_false(kube_protobuf_is(STR_LITERAL("k8s")));
}

/* ---- what is refused ---- */

static void malformed_messages_are_refused_where_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *at;
        size_t len;
        const char *why;
    } cases[] = {
#define CASE(bytes, why) {bytes, sizeof(bytes) - 1, "protobuf: malformed at byte " why " of a Pod"}
        CASE("\x0a\5ab", "0 of 4"), /* longer than what is there */
        CASE("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", "0 of 11"),
        CASE("\x0a\3\x0a\2x", "2 of 5"), /* longer than the message around it */
        CASE("\x0a", "0 of 1"),
        CASE("\x80", "0 of 1"),
        CASE("\x08\1", "0 of 2"),
        CASE("\x0a\2\x08\1", "2 of 4"),   /* a number where a text is */
        CASE("\x12\3\xca\1\0", "2 of 5"), /* a text where a number is */
        CASE("\0\1", "0 of 2"),
        CASE("\x7b", "0 of 1"),
        CASE("\x7c", "0 of 1"), /* groups */
        CASE("\x7d\1\1\1", "0 of 4"),
        CASE("\x79\1\1\1\1\1\1\1", "0 of 8"),
        CASE("\x0a\x04\x5a\2\x0a\1", "2 of 6"),   /* a pair of a map */
        CASE("\x0a\x04\x42\2\x08\x80", "2 of 6"), /* a time */
        CASE("\x0a\3\x0a\1p\x0a\0", "5 of 7"),    /* metadata in two pieces */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        buffer_reset(&message);
        bytes(cases[i].at, cases[i].len);
        expect_refused(wrapped("Pod"), cases[i].why);
    }
}

static void envelopes_are_refused_that_are_not_understood(void **state)
{
    (void)state;
    expect_refused(STR_LITERAL(""), "protobuf: malformed envelope");
    expect_refused(STR_LITERAL("k8s\0\x12\5ab"), "protobuf: malformed envelope");
    expect_refused(wrapped("Secret"), "protobuf: the kind \"Secret\" is not known");
    expect_refused(wrapped("List"), "protobuf: the kind \"List\" is not known");
    wrapped("Pod");
    protobuf_put_text(&body, 3, STR_LITERAL("gzip"));
    expect_refused(buffer_str(&body), "protobuf: malformed envelope");
}

/* Every prefix of a good body, each in memory of its own so that reading past its end is seen. */
static void no_prefix_of_a_body_is_read_past_its_end(void **state)
{
    (void)state;
    BYTES("\x0a\x16\x0a\1c\x42\6\x08\x85\xe8\xdc\xca\6\x5a\7\x0a\1k\x12\2vw\x12\x04\x52\2n1");
    struct str whole = wrapped("Pod");
    for (uint32_t len = 0; len < whole.len; len++) {
        char *copy = memory_copy(whole.at, len);
        struct kube_json *tree = kube_protobuf_parse((struct str){copy, len}, NULL, &arena);
        kube_json_free(&tree);
        memory_free(copy);
    }
}

static void every_kind_that_is_watched_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < kube_resource_count; i++)
        assert_int_equal(kube_protobuf_knows(str_of(kube_resources[i].kind)),
                         kube_resources[i].offer < KUBE_custom);
    assert_false(kube_protobuf_knows(STR_LITERAL("PodList")));
    assert_false(kube_protobuf_knows(STR_LITERAL("Gateway")));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, fresh)
    const struct CMUnitTest tests[] = {
        TEST(a_claim_by_hand_is_the_tree_of_its_json),
        TEST(what_go_leaves_out_of_json_is_left_out),
        TEST(numbers_keep_their_sign),
        TEST(fields_may_come_in_any_order_and_lists_in_pieces),
        TEST(members_of_an_inlined_message_stand_in_its_place),
        TEST(what_is_not_in_the_table_is_skipped_whatever_it_is),
        TEST(a_list_has_the_objects_and_where_it_goes_on),
        TEST(a_failure_is_read_as_a_status),
        TEST(an_event_has_a_type_and_an_object),
        TEST(each_form_is_known_by_its_first_bytes),
        TEST(malformed_messages_are_refused_where_they_are),
        TEST(envelopes_are_refused_that_are_not_understood),
        TEST(no_prefix_of_a_body_is_read_past_its_end),
        TEST(every_kind_that_is_watched_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, done);
}
