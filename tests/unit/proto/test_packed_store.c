/* test_packed_store: whatever record is put on a store comes out with the same values, both decoded
 * and encoded, and records that share values share the memory for them. */
#include "proto/packed_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define UUID "01234567-89ab-cdef-0123-456789abcdef"

static struct arena arena;

static void check_one(struct packed_store *store, const struct record *r, const void *object)
{
    static union {
        struct pod pod;
        struct node node;
    } got, sent;
    struct buffer bytes = {0};
    struct stored *s = store_put(store, object);
    store_get(store, s, &got, &arena);
    assert_true(codec_equal(r, &got, object));
    store_encoded(store, s, &bytes);
    struct byte_cursor in = {(const uint8_t *)bytes.at, (const uint8_t *)bytes.at + bytes.len};
    assert_true(codec_decode(r, &sent, &in, &arena) && in.at == in.end);
    assert_true(codec_equal(r, &sent, object));
    store_drop(store, s);
    buffer_free(&bytes);
}

static void any_record_comes_out_as_it_went_in(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    struct packed_store *pods = store_new(&store_pods), *nodes = store_new(&store_nodes);
    for (int i = 0; i < 300; i++) {
        struct pod pod;
        struct node node;
        codec_fill(&pod_record, &pod, &seed, &arena);
        codec_fill(&node_record, &node, &seed, &arena);
        if (i % 5 == 0 && node.images.count > 0) /* equal ones, and one that says nothing */
            node.images.at[0] = (struct image){.size = 0};
        if (i % 2 == 0)
            pod.uid = node.uid = STR_LITERAL(UUID);
        if (i % 3 == 0 && node.labels.count > 0)
            node.labels.at[0].value = node.name;
        if (i % 7 == 0 && node.labels.count > 1)
            node.labels.at[1].key = STR_LITERAL("\1"); /* what stands for the name */
        check_one(pods, &pod_record, &pod);
        check_one(nodes, &node_record, &node);
        arena_reset(&arena);
    }
    struct pod nothing = {0};
    check_one(pods, &pod_record, &nothing);
    store_free(&pods);
    store_free(&nodes);
    assert_null(pods);
}

static struct pod named(const char *uid, const char *name, struct label *labels)
{
    return (struct pod){.uid = str_of(uid),
                        .namespace_name = STR_LITERAL("default"),
                        .name = str_of(name),
                        .labels = {1, labels}};
}

static void what_is_alike_is_kept_once(void **state)
{
    (void)state;
    struct label web = {STR_LITERAL("app"), STR_LITERAL("web")};
    struct label db = {STR_LITERAL("app"), STR_LITERAL("db")};
    struct pod one = named("u1", "one", &web), two = named("u2", "two", &web);
    struct pod other = named("u3", "three", &db);
    struct packed_store *store = store_new(&store_pods);
    struct stored *a = store_put(store, &one), *b = store_put(store, &two);
    struct stored *c = store_put(store, &other);
    assert_non_null(a->parts[0]);
    assert_ptr_equal(a->parts[0], b->parts[0]);
    assert_ptr_not_equal(a->parts[0], c->parts[0]);
    assert_null(a->parts[1]);
    assert_true(store_size(store, a) > sizeof(struct stored) + a->len - 8);
    store_drop(store, a);
    store_drop(store, c);
    struct pod got;
    store_get(store, b, &got, &arena); /* what others shared with it is still there */
    assert_true(codec_equal(&pod_record, &got, &two));
    store_drop(store, b);
    store_drop(store, NULL);
    store_free(&store); /* checks that no part is left */
}

static void sameness_is_that_of_all_values(void **state)
{
    (void)state;
    struct label web = {STR_LITERAL("app"), STR_LITERAL("web")};
    struct pod pod = named(UUID, "one", &web), again = pod, later = pod, relabelled = pod;
    struct label db = {STR_LITERAL("app"), STR_LITERAL("db")};
    later.started = 5;
    relabelled.labels.at = &db;
    struct packed_store *store = store_new(&store_pods);
    struct stored *a = store_put(store, &pod), *b = store_put(store, &again);
    struct stored *c = store_put(store, &later), *d = store_put(store, &relabelled);
    assert_true(store_same(a, b));
    assert_false(store_same(a, c));
    assert_false(store_same(a, d));
    assert_ptr_equal(store_share(a), a);
    store_drop(store, a);
    store_drop(store, a);
    store_drop(store, b);
    store_drop(store, c);
    store_drop(store, d);
    store_free(&store);
}

/* Nothing of their own is kept of them: the smallest blocks there are. */
static void records_without_values_are_the_same(void **state)
{
    (void)state;
    const struct store_rule whole = {.record = &attachment_record};
    const struct attachment empty = {0};
    struct packed_store *store = store_new(&whole);
    struct stored *a = store_put(store, &empty), *b = store_put(store, &empty);
    assert_true(store_same(a, b));
    assert_int_equal(a->len, 0);
    store_drop(store, a);
    store_drop(store, b);
    store_free(&store);
}

static void a_text_is_found_without_decoding(void **state)
{
    (void)state;
    struct label web = {STR_LITERAL("app"), STR_LITERAL("web")};
    const char *const uids[] = {UUID, "not-a-uuid", "01234567-89AB-cdef-0123-456789abcdef"};
    struct packed_store *store = store_new(&store_pods);
    for (int i = 0; i < 3; i++) {
        struct pod pod = named(uids[i], "one", &web);
        struct stored *s = store_put(store, &pod);
        assert_int_equal(s->uuid, i == 0);
        assert_true(str_is(store_str(s, TAG_pod_namespace_name), "default"));
        assert_true(str_is(store_str(s, TAG_pod_name), "one"));
        assert_int_equal(store_str(s, TAG_pod_node_name).len, 0);
        assert_true(store_has(s, TAG_pod_name) && store_has(s, TAG_pod_labels));
        assert_false(store_has(s, TAG_pod_node_name) || store_has(s, TAG_pod_ports));
        char room[UUID_TEXT];
        assert_true(str_is(store_uuid(s, TAG_pod_uid, room), uids[i]));
        for (int k = 0; k < 3; k++)
            assert_int_equal(store_uuid_is(s, TAG_pod_uid, str_of(uids[k])), i == k);
        store_drop(store, s);
    }
    store_free(&store);
}

static void what_echoes_the_name_is_alike(void **state)
{
    (void)state;
    struct packed_store *store = store_new(&store_nodes);
    struct stored *kept[3];
    const char *const names[] = {"n1", "n2", "n3"};
    for (int i = 0; i < 3; i++) {
        struct label labels[] = {{STR_LITERAL("host"), str_of(names[i])},
                                 {STR_LITERAL("zone"), STR_LITERAL("a")},
                                 {STR_LITERAL("odd"), STR_LITERAL("\1")}};
        struct node node = {.name = str_of(names[i]), .labels = {i < 2 ? 2 : 3, labels}};
        kept[i] = store_put(store, &node);
        check_one(store, &node_record, &node);
        assert_int_equal(kept[i]->echoes, i < 2); /* not where that would be ambiguous */
    }
    assert_ptr_equal(kept[0]->parts[0], kept[1]->parts[0]);
    assert_ptr_not_equal(kept[0]->parts[0], kept[2]->parts[0]);
    for (int i = 0; i < 3; i++)
        store_drop(store, kept[i]);
    store_free(&store);
}

static void one_field_more_goes_out_with_the_rest(void **state)
{
    (void)state;
    uint64_t seed = 362436069;
    struct packed_store *store = store_new(&store_pods);
    for (int i = 0; i < 100; i++) {
        struct pod pod, got;
        struct buffer bytes = {0};
        codec_fill(&pod_record, &pod, &seed, &arena);
        struct str node = pod.node_name = STR_LITERAL("node-with-a-name-of-more-than-32-letters");
        pod.node_name = (struct str){NULL, 0};
        struct stored *s = store_put(store, &pod);
        store_encoded_with(store, s, TAG_pod_node_name, node, &bytes);
        struct byte_cursor in = {(const uint8_t *)bytes.at, (const uint8_t *)bytes.at + bytes.len};
        assert_true(codec_decode(&pod_record, &got, &in, &arena) && in.at == in.end);
        pod.node_name = node;
        assert_true(codec_equal(&pod_record, &got, &pod));
        store_drop(store, s);
        buffer_free(&bytes);
        arena_reset(&arena);
    }
    store_free(&store);
}

static struct node with_images(const char *name, struct image *images, uint32_t count)
{
    return (struct node){.name = str_of(name), .images = {count, images}};
}

static void images_of_many_nodes_are_kept_once(void **state)
{
    (void)state;
    struct str a = STR_LITERAL("registry.example.com/a-rather-long-name@sha256:0123456789abcdef");
    struct str b = STR_LITERAL("registry.example.com/another-rather-long-name:v1");
    struct image ab[] = {{{1, &a}, 5}, {{1, &b}, 6}}, ba[] = {{{1, &b}, 6}, {{1, &a}, 5}};
    struct image bigger[] = {{{1, &a}, 5}, {{1, &b}, 7}}, twice[] = {{{1, &a}, 5}, {{1, &a}, 5}};
    struct node nodes[] = {with_images("n", ab, 2), with_images("n", ba, 2),
                           with_images("n", bigger, 2), with_images("n", twice, 2),
                           with_images("n", ab, 2)};
    struct packed_store *store = store_new(&store_nodes);
    struct stored *kept[5];
    for (int round = 0; round < 3; round++) { /* numbers that became free are given again */
        for (int i = 0; i < 5; i++)
            kept[i] = store_put(store, &nodes[i]);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(kept[i]->elements, 2);
            assert_true(kept[i]->len < 16 && store_size(store, kept[i]) > a.len);
            assert_int_equal(store_same(kept[0], kept[i]), i == 0 || i == 4);
            check_one(store, &node_record, &nodes[i]);
        }
        for (int i = 0; i < 4; i++)
            store_drop(store, kept[(i + round) % 4]);
        check_one(store, &node_record, &nodes[3]);
        struct node got;
        store_get(store, kept[4], &got, &arena); /* what others shared with it is still there */
        store_drop(store, kept[4]);
        assert_true(codec_equal(&node_record, &got, &nodes[4])); /* and it is a copy */
    }
    store_free(&store); /* checks that no image is left */
}

static void more_images_than_can_be_numbered_are_kept_as_they_are(void **state)
{
    (void)state;
    struct packed_store *store = store_new(&store_nodes);
    uint32_t count = 20000;
    struct image *images = arena_take(&arena, count * sizeof(*images));
    for (uint32_t i = 0; i < count; i++)
        images[i].size = i % 100;
    struct node few = with_images("n", images, 16383), many = with_images("n", images, 16384);
    struct stored *s = store_put(store, &few), *t = store_put(store, &many);
    assert_int_equal(s->elements, 16383);
    assert_int_equal(t->elements, 0);
    store_drop(store, s);
    store_drop(store, t);
    check_one(store, &node_record, &few);
    check_one(store, &node_record, &many);
    store_free(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_record_comes_out_as_it_went_in),
        cmocka_unit_test(what_is_alike_is_kept_once),
        cmocka_unit_test(sameness_is_that_of_all_values),
        cmocka_unit_test(records_without_values_are_the_same),
        cmocka_unit_test(a_text_is_found_without_decoding),
        cmocka_unit_test(what_echoes_the_name_is_alike),
        cmocka_unit_test(one_field_more_goes_out_with_the_rest),
        cmocka_unit_test(images_of_many_nodes_are_kept_once),
        cmocka_unit_test(more_images_than_can_be_numbered_are_kept_as_they_are),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
