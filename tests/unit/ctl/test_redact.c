/* test_redact: made-up names keep order, length and beginnings; names are found in every form, also
 * across pieces; what Kubernetes and berth themselves say stays. */
#include "ctl/redact/documents.h"
#include "ctl/redact/life.h"
#include "ctl/redact/messages.h"
#include "ctl/redact/names.h"
#include "ctl/redact/order.h"
#include "proto/base/memory.h"
#include "proto/base/random.h"
#include "proto/journal/journal.h"
#include "proto/kube/documents/protobuf_put.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED  42
#define WORDS 3000

/* ---- order ---- */

static int by_text(const void *one, const void *other)
{
    return str_compare(*(const struct str *)one, *(const struct str *)other);
}

static uint32_t alike(struct str a, struct str b)
{
    uint32_t i = 0;
    while (i < a.len && i < b.len && a.at[i] == b.at[i])
        i++;
    return i;
}

static int class_of(char c)
{
    return c >= 'a' && c <= 'z' ? 'a' : c >= 'A' && c <= 'Z' ? 'A' : c >= '0' && c <= '9' ? '0' : c;
}

/* Words of one to seven of few letters, so that many begin alike. */
static struct str random_word(struct random *r, char *at)
{
    static const char letters[] = "abcdeABxyz0129";
    uint32_t len = 1 + (uint32_t)random_below(r, 7);
    for (uint32_t i = 0; i < len; i++)
        at[i] = letters[random_below(r, sizeof(letters) - 1)];
    return (struct str){at, len};
}

static void check_pair(const struct order *o, struct str a, struct str b)
{
    struct str to_a = order_of(o, a), to_b = order_of(o, b);
    assert_int_equal(to_a.len, a.len);
    for (uint32_t i = 0; i < a.len; i++)
        assert_int_equal(class_of(to_a.at[i]), class_of(a.at[i]));
    assert_int_equal(alike(to_a, to_b), alike(a, b));
    assert_int_equal(str_compare(to_a, to_b) < 0, str_compare(a, b) < 0);
}

static void test_order(void **state)
{
    static char bytes[WORDS][8];
    static struct str words[WORDS];
    struct random r = {1};
    struct order *o = order_new(ORDER_words), *again = order_new(ORDER_words);
    struct order *other = order_new(ORDER_words);
    unsigned differ = 0;
    (void)state;
    for (int i = 0; i < WORDS; i++) {
        words[i] = random_word(&r, bytes[i]);
        order_add(o, words[i], i % 100 == 0);
        order_add(again, words[i], i % 100 == 0);
        order_add(other, words[i], i % 100 == 0);
    }
    order_draw(o, SEED);
    order_draw(again, SEED);
    order_draw(other, ORDER_SECRET);
    for (int i = 0; i < WORDS; i++) {
        assert_true(str_equal(order_of(o, words[i]), order_of(again, words[i])));
        differ += !str_equal(order_of(o, words[i]), order_of(other, words[i]));
        assert_true(i % 100 != 0 || str_equal(order_of(o, words[i]), words[i]));
    }
    assert_true(differ > WORDS / 2);
    qsort(words, WORDS, sizeof(words[0]), by_text);
    for (int i = 1; i < WORDS; i++)
        check_pair(o, words[i - 1], words[i]);
    order_free(&o);
    order_free(&again);
    order_free(&other);
}

/* Few words share no letter with what they were, so that nothing of them can be read. */
static void test_few_words_keep_nothing(void **state)
{
    static const char *const words[] = {"payments", "checkout", "falcon", "ledger"};
    (void)state;
    for (uint64_t seed = 1; seed < 200; seed++) {
        struct order *o = order_new(ORDER_words);
        for (size_t i = 0; i < 4; i++)
            order_add(o, str_of(words[i]), false);
        order_draw(o, seed);
        for (size_t i = 0; i < 4; i++) {
            struct str to = order_of(o, str_of(words[i]));
            for (uint32_t k = 1; k < to.len; k++)
                assert_int_not_equal(to.at[k], words[i][k]);
            assert_true(order_changes(o, str_of(words[i])));
        }
        order_free(&o);
    }
}

static void test_addresses(void **state)
{
    char texts[500][16];
    struct random r = {7};
    struct order *o = order_new(ORDER_address);
    (void)state;
    for (int i = 0; i < 500; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%u.%u.%u.%u", (unsigned)random_below(&r, 256),
                 (unsigned)random_below(&r, 256), (unsigned)random_below(&r, 256),
                 (unsigned)random_below(&r, 256));
        order_add(o, str_of(texts[i]), false);
    }
    order_draw(o, SEED);
    for (int i = 0; i < 500; i++) {
        char *to = str_copy(order_of(o, str_of(texts[i]))), *at = to, again[64];
        unsigned long parts[4];
        for (int k = 0; k < 4; k++, at += *at == '.') {
            parts[k] = strtoul(at, &at, 10);
            assert_true(parts[k] < 256);
        }
        snprintf(again, sizeof(again), "%lu.%lu.%lu.%lu", parts[0], parts[1], parts[2], parts[3]);
        assert_string_equal(again, to);
        memory_free(to);
        check_pair(o, str_of(texts[i]), str_of(texts[(i + 1) % 500]));
    }
    order_free(&o);
}

/* ---- names ---- */

static char *changed(struct names *n, const char *text, enum text_class class)
{
    char *copy = memory_copy(text, strlen(text));
    names_take(n, str_of(copy), class, false);
    assert_int_equal(strlen(copy), strlen(text));
    return copy;
}

static void check_text(struct names *n, const char *text, enum text_class class, bool changes)
{
    char *to = changed(n, text, class);
    if (changes == (strcmp(to, text) == 0))
        fail_msg("%s became %s", text, to);
    memory_free(to);
}

static struct names *some_names(void)
{
    static const char *const all[] = {"payments-prod",
                                      "web-7c9f4-x2x9k",
                                      "web",
                                      "target",
                                      "ip-10-0-0-7.acme.internal",
                                      "default",
                                      "node-1",
                                      "3f2a1b4c-0d1e-2f3a-4b5c-6d7e8f901234",
                                      "10.11.12.13"};
    struct names *n = names_new();
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        names_take(n, str_of(all[i]), TEXT_name, false);
    names_take(n, STR_LITERAL("topology.kubernetes.io/zone"), TEXT_key, false);
    names_take(n, STR_LITERAL("acme.example/tier"), TEXT_key, false);
    names_draw(n, SEED);
    return n;
}

static void test_what_stays(void **state)
{
    struct names *n = some_names();
    (void)state;
    check_text(n, "default", TEXT_name, false);
    check_text(n, "node-1", TEXT_name, false);
    check_text(n, "topology.kubernetes.io/zone", TEXT_key, false);
    check_text(n, "acme.example/tier", TEXT_key, true);
    check_text(n, "payments-prod", TEXT_name, true);
    check_text(n, "0/3 nodes are available: 3 Insufficient memory.", TEXT_words, false);
    check_text(n, "a target that is no name", TEXT_words, false);
    check_text(n, "pods \"target\" not found", TEXT_words, true);
    check_text(n, "Successfully assigned target/x to it", TEXT_words, true);
    check_text(n, "Successfully assigned default/x to target", TEXT_words, true);
    check_text(n, "Preempted by pod 1 on node target", TEXT_words, true);
    check_text(n, "target", TEXT_name, true);
    check_text(n, "Preempted by 3f2a1b4c-0d1e-2f3a-4b5c-6d7e8f901234", TEXT_words, true);
    check_text(n, "dial tcp 10.11.12.13:443", TEXT_words, true);
    check_text(n, "dial tcp 0.0.0.0:443", TEXT_words, false);
    check_text(n, "100m", TEXT_name, false);
    check_text(n, "NodeResourcesFit", TEXT_option, false);
    assert_true(names_count(n) > 5);
    names_free(&n);
}

/* Texts that are put together become what is put together of what their parts become. */
static void test_parts(void **state)
{
    struct names *n = some_names();
    char joined[64];
    (void)state;
    char *space = changed(n, "payments-prod", TEXT_name),
         *pod = changed(n, "web-7c9f4-x2x9k", TEXT_name);
    char *start = changed(n, "web", TEXT_name);
    char *both = changed(n, "bound payments-prod/web-7c9f4-x2x9k now", TEXT_words);
    snprintf(joined, sizeof(joined), "bound %s/%s now", space, pod);
    assert_string_equal(both, joined);
    assert_memory_equal(pod, start, 3);
    char *event = changed(n, "web-7c9f4-x2x9k.17abc0ffee", TEXT_derived);
    snprintf(joined, sizeof(joined), "%s.17abc0ffee", pod);
    assert_string_equal(event, joined);
    memory_free(space);
    memory_free(pod);
    memory_free(start);
    memory_free(both);
    memory_free(event);
    names_free(&n);
}

static void test_left(void **state)
{
    struct names *n = some_names();
    (void)state;
    assert_int_equal(names_left(n, STR_LITERAL("\x0bpayments-prod\x02")).len, 13);
    assert_int_equal(names_left(n, STR_LITERAL("9payments-prod")).len, 13);
    assert_int_equal(names_left(n, STR_LITERAL("the target is default")).len, 0);
    names_free(&n);
}

/* ---- documents ---- */

static const char pod_json[] =
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"falcon\",\"labels\":{\"squad\":\"fraud\"},"
    "\"annotations\":{\"owner\":\"alice\"},\"managedFields\":[{\"f:bob\":{}}]},"
    "\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"acme/scorer:1\",\"env\":[{\"name\":"
    "\"CAROL\",\"value\":\"s3cret\"}],\"resources\":{\"requests\":{\"cpu\":\"100m\","
    "\"acme.example/chip\":\"1\"}}}],\"unknownThing\":{\"dave\":\"x\"}},"
    "\"status\":{\"phase\":\"Running\",\"message\":\"no \\\"falcon\\\" here\"}}";

static void test_json(void **state)
{
    static const char *const gone[] = {"falcon", "squad",  "fraud", "alice", "bob", "scorer",
                                       "CAROL",  "s3cret", "chip",  "dave",  "acme"};
    static const char *const kept[] = {"\"phase\":\"Running\"", "\"cpu\":\"100m\"",
                                       "\"requests\":{", "\"kind\":\"Pod\"", "\\\" here\""};
    struct names *n = names_new();
    char *text = memory_copy(pod_json, sizeof(pod_json) - 1);
    (void)state;
    documents_any(n, str_of(text), true);
    names_draw(n, SEED);
    documents_any(n, str_of(text), true);
    assert_int_equal(strlen(text), sizeof(pod_json) - 1);
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        if (strstr(text, gone[i]) != NULL)
            fail_msg("%s is in %s", gone[i], text);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (strstr(text, kept[i]) == NULL)
            fail_msg("%s is not in %s", kept[i], text);
    memory_free(text);
    names_free(&n);
}

/* Wherever a document ends, what there is of it is read, and nothing else. */
static void test_cut(void **state)
{
    (void)state;
    for (uint32_t len = 0; len < sizeof(pod_json); len++) {
        struct names *n = names_new();
        char *text = memory_copy(pod_json, len);
        documents_json(n, (struct str){text, len});
        names_draw(n, SEED);
        documents_json(n, (struct str){text, len});
        memory_free(text);
        names_free(&n);
    }
}

static void test_yaml(void **state)
{
    char text[] = "# of alice\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: "
                  "target # bob's\n  plugins: {score: {enabled: [{name: NodeResourcesFit}]}}\n"
                  "podMaxBackoff: 10m0s\n";
    struct names *n = names_new();
    (void)state;
    documents_yaml(n, str_of(text));
    names_draw(n, SEED);
    documents_yaml(n, str_of(text));
    assert_null(strstr(text, "alice"));
    assert_null(strstr(text, "bob"));
    assert_null(strstr(text, "falcon"));
    assert_non_null(
        strstr(text, "\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: "));
    assert_non_null(strstr(text, "{name: NodeResourcesFit}"));
    assert_non_null(strstr(text, ": 10m0s\n"));
    names_free(&n);
}

static void put_pod(struct buffer *out, const char *name)
{
    size_t raw = protobuf_begin(out, STR_LITERAL("v1"), STR_LITERAL("Pod"));
    size_t meta = protobuf_open(out, 1);
    protobuf_put_text(out, 1, str_of(name));
    protobuf_put_text(out, 2, STR_LITERAL("generated-by-alice"));
    protobuf_close(out, meta);
    size_t spec = protobuf_open(out, 2);
    protobuf_put_text(out, 10, STR_LITERAL("oakhurst"));
    protobuf_close(out, spec);
    protobuf_close(out, raw);
}

static void test_protobuf(void **state)
{
    struct buffer body = {0}, other = {0};
    struct names *n = names_new();
    (void)state;
    put_pod(&body, "zeppelin");
    put_pod(&other, "zeppelin");
    documents_any(n, buffer_str(&body), false);
    names_draw(n, SEED);
    documents_any(n, buffer_str(&body), false);
    assert_int_equal(body.len, other.len);
    assert_null(memmem(body.at, body.len, "zeppelin", 8));
    assert_null(memmem(body.at, body.len, "oakhurst", 8));
    assert_null(memmem(body.at, body.len, "alice", 5));
    assert_non_null(memmem(body.at, body.len, "Pod", 3));
    buffer_free(&body);
    buffer_free(&other);
    names_free(&n);
}

/* ---- lives ---- */

static struct buffer written;

static bool put(void *context, struct str piece)
{
    (void)context;
    buffer_add_str(&written, piece);
    return true;
}

static void put_bind(struct buffer *out)
{
    struct message m = {.type = MSG_bind};
    struct buffer body = {0};
    m.bind.name = STR_LITERAL("falcon-1");
    m.bind.namespace_name = STR_LITERAL("target");
    m.bind.node_name = STR_LITERAL("oakhurst");
    codec_encode(message_info[MSG_bind].record, message_body(&m), &body);
    struct journal_entry e = {.kind = JOURNAL_message, .type = MSG_bind, .process = BINDER};
    e.hash = journal_hash(&e, buffer_str(&body));
    e.body = buffer_str(&body);
    journal_put(out, &e);
    buffer_free(&body);
}

/* A list in pieces of three bytes, and a bind. */
static void make_life(struct buffer *out)
{
    journal_put_head(out, &(struct journal_head){.process = STR_LITERAL("watcher")});
    for (uint32_t at = 0; at + 1 < sizeof(pod_json); at += 3) {
        uint32_t left = sizeof(pod_json) - 1 - at;
        journal_put(out, &(struct journal_entry){.kind = JOURNAL_data,
                                                 .number = 7,
                                                 .body = {pod_json + at, left < 3 ? left : 3}});
    }
    journal_put(out, &(struct journal_entry){
                         .kind = JOURNAL_request,
                         .number = 8,
                         .name = STR_LITERAL(
                             "POST /api/v1/namespaces/target/pods/falcon-1/binding?x=1 - -")});
    put_bind(out);
    journal_put(out, &(struct journal_entry){.kind = JOURNAL_end});
}

static void check_life(struct str bytes)
{
    struct journal_cursor c = {bytes.at, bytes.at + bytes.len};
    struct arena a = {0};
    struct journal_head head;
    struct journal_entry e;
    struct buffer list = {0};
    uint64_t count = 0;
    assert_null(journal_start(&c, &head, &a));
    for (; journal_read(&c, &e) == JOURNAL_STEP_entry; count++) {
        if (e.kind == JOURNAL_data)
            buffer_add_str(&list, e.body);
        if (e.kind == JOURNAL_message)
            assert_int_equal(e.hash, journal_hash(&e, e.body));
        if (e.kind != JOURNAL_request)
            continue;
        assert_true(str_starts_with(e.name, "POST /api/v1/namespaces/"));
        assert_non_null(memmem(e.name.at, e.name.len, "/pods/", 6));
        assert_null(memmem(e.name.at, e.name.len, "target", 6));
    }
    assert_int_equal(count, (sizeof(pod_json) - 1 + 2) / 3 + 3);
    assert_null(memmem(list.at, list.len, "falcon", 6));
    assert_null(memmem(bytes.at, bytes.len, "oakhurst", 8));
    buffer_free(&list);
    arena_free(&a);
}

static void test_life(void **state)
{
    struct buffer life = {0};
    struct names *n = names_new();
    (void)state;
    make_life(&life);
    assert_true(life_take(n, buffer_str(&life)));
    names_draw(n, SEED);
    size_t len = life.len;
    assert_true(life_take(n, buffer_str(&life)));
    assert_true(life_write(buffer_str(&life), put, NULL));
    assert_int_equal(written.len, len);
    check_life(buffer_str(&written));
    assert_int_equal(names_left(n, buffer_str(&written)).len, 0);
    buffer_reset(&written);
    life.at[len - 2] = 'x'; /* no entry of ours */
    assert_false(life_write((struct str){life.at, (uint32_t)len}, put, NULL));
    assert_false(life_take(n, STR_LITERAL("no journal")));
    buffer_free(&written);
    buffer_free(&life);
    names_free(&n);
}

/* A message is a stranger's: however it is cut, nothing behind its end is looked at. */
static void test_broken_messages(void **state)
{
    struct buffer body = {0};
    struct message m = {.type = MSG_bind};
    struct names *n = names_new();
    (void)state;
    m.bind.name = STR_LITERAL("falcon-1");
    m.bind.node_name = STR_LITERAL("oakhurst");
    codec_encode(message_info[MSG_bind].record, message_body(&m), &body);
    for (uint32_t len = 0; len <= body.len; len++) {
        char *own = memory_copy(body.at, len);
        messages_take(n, message_info[MSG_bind].record, (struct str){own, len});
        memory_free(own);
    }
    static const char deep[] =
        "\x81\x01\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91"
        "\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\xdb\xff\xff\xff\xff";
    messages_take(n, message_info[MSG_bind].record, (struct str){deep, sizeof(deep) - 1});
    messages_take(n, message_info[MSG_bind].record, STR_LITERAL("\xdf\xff\xff\xff\xff\x01"));
    buffer_free(&body);
    names_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),     cmocka_unit_test(test_few_words_keep_nothing),
        cmocka_unit_test(test_addresses), cmocka_unit_test(test_what_stays),
        cmocka_unit_test(test_parts),     cmocka_unit_test(test_left),
        cmocka_unit_test(test_json),      cmocka_unit_test(test_cut),
        cmocka_unit_test(test_yaml),      cmocka_unit_test(test_protobuf),
        cmocka_unit_test(test_life),      cmocka_unit_test(test_broken_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
