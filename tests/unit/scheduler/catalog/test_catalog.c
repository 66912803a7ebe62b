/* catalog: objects come, change and go with the stream, and a snapshot forgets the rest. */
#include "tests/unit/scheduler/cluster.h"

#define TEXT(s) str_of(s)

/* "claim_set claim={...}", as messages are printed. */
static void take(struct catalog *c, const char *text)
{
    struct arena a = {0};
    struct str all = str_of(text), error;
    int64_t blank = str_find(all, ' ');
    struct message m = {.type = message_type_of((struct str){all.at, (uint32_t)blank})};
    struct str rest = {all.at + blank + 1, all.len - (uint32_t)blank - 1};
    if (!codec_parse(message_info[m.type].record, message_body(&m), rest, &a, &error))
        fail_msg("%s: %.*s", text, STR_ARG(error));
    catalog_take(c, &m);
    arena_free(&a);
}

static void objects_are_found_by_name_and_namespace(void **state)
{
    (void)state;
    struct catalog *c = catalog_new();
    take(c, "claim_set claim={namespace_name=\"a\" name=\"x\" volume_name=\"v1\"}");
    take(c, "claim_set claim={namespace_name=\"b\" name=\"x\"}");
    take(c, "volume_set volume={name=\"v1\" capacity=5}");
    take(c, "owner_set owner={kind=\"Service\" namespace_name=\"a\" name=\"x\"}");
    take(c, "owner_set owner={kind=\"ReplicaSet\" namespace_name=\"a\" name=\"x\"}");
    take(c, "namespace_set name=\"a\" labels=[{key=\"k\" value=\"v\"}]");
    assert_str(catalog_claim(c, TEXT("a"), TEXT("x"))->volume_name, "v1");
    assert_int_equal(catalog_claim(c, TEXT("b"), TEXT("x"))->volume_name.len, 0);
    assert_null(catalog_claim(c, TEXT("c"), TEXT("x")));
    assert_int_equal(catalog_volume(c, TEXT("v1"))->capacity, 5);
    assert_non_null(catalog_owner(c, CATALOG_service, TEXT("a"), TEXT("x")));
    assert_null(catalog_owner(c, CATALOG_stateful_set, TEXT("a"), TEXT("x")));
    assert_int_equal(catalog_namespace(c, TEXT("a"))->labels.count, 1);
    take(c, "claim_set claim={namespace_name=\"a\" name=\"x\" volume_name=\"v2\"}");
    assert_str(catalog_claim(c, TEXT("a"), TEXT("x"))->volume_name, "v2");
    take(c, "object_gone kind=\"PersistentVolumeClaim\" namespace_name=\"a\" name=\"x\"");
    take(c, "object_gone kind=\"Service\" namespace_name=\"a\" name=\"x\"");
    take(c, "object_gone name=\"x\"");
    take(c, "namespace_gone name=\"a\"");
    assert_null(catalog_claim(c, TEXT("a"), TEXT("x")));
    assert_non_null(catalog_claim(c, TEXT("b"), TEXT("x")));
    assert_null(catalog_owner(c, CATALOG_service, TEXT("a"), TEXT("x")));
    assert_non_null(catalog_owner(c, CATALOG_replica_set, TEXT("a"), TEXT("x")));
    assert_null(catalog_namespace(c, TEXT("a")));
    catalog_free(&c);
}

static void a_snapshot_forgets_what_it_does_not_show(void **state)
{
    (void)state;
    struct catalog *c = catalog_new();
    take(c, "budget_set budget={namespace_name=\"a\" name=\"kept\"}");
    take(c, "budget_set budget={namespace_name=\"a\" name=\"lost\"}");
    take(c, "owner_set owner={name=\"x\"}");
    catalog_snapshot_begin(c);
    take(c, "budget_set budget={namespace_name=\"a\" name=\"kept\" allowed=2}");
    take(c, "budget_set budget={namespace_name=\"a\" name=\"fresh\"}");
    catalog_snapshot_end(c);
    assert_int_equal(catalog_count(c, CATALOG_budget), 2);
    size_t at = 0;
    const struct budget *b;
    int64_t allowed = 0;
    while ((b = catalog_next(c, CATALOG_budget, &at)) != NULL) {
        assert_false(str_is(b->name, "lost"));
        allowed += b->allowed;
    }
    assert_int_equal(allowed, 2);
    catalog_free(&c);
}

/* Their names in no order, each with a blank behind it. */
static uint32_t services_of(const struct catalog *c, const char *space, const char *expected)
{
    size_t at = 0;
    uint32_t count = 0;
    const struct owner *o;
    while ((o = catalog_next_service(c, str_of(space), &at)) != NULL) {
        char *name = str_copy(o->name);
        assert_non_null(strstr(expected, name));
        memory_free(name);
        count++;
    }
    return count;
}

static void services_are_walked_by_namespace(void **state)
{
    (void)state;
    struct catalog *c = catalog_new();
    take(c, "owner_set owner={kind=\"Service\" namespace_name=\"a\" name=\"x\"}");
    take(c, "owner_set owner={kind=\"Service\" namespace_name=\"a\" name=\"y\"}");
    take(c, "owner_set owner={kind=\"Service\" namespace_name=\"b\" name=\"z\"}");
    take(c, "owner_set owner={kind=\"ReplicaSet\" namespace_name=\"a\" name=\"r\"}");
    take(c, "owner_set owner={kind=\"Service\" namespace_name=\"a\" name=\"x\"}");
    assert_int_equal(services_of(c, "a", "x y "), 2);
    assert_int_equal(services_of(c, "b", "z "), 1);
    assert_int_equal(services_of(c, "c", ""), 0);
    take(c, "object_gone kind=\"Service\" namespace_name=\"a\" name=\"x\"");
    take(c, "object_gone kind=\"Service\" namespace_name=\"b\" name=\"z\"");
    assert_int_equal(services_of(c, "a", "y "), 1);
    assert_int_equal(services_of(c, "b", ""), 0);
    catalog_snapshot_begin(c);
    take(c, "owner_set owner={kind=\"Service\" namespace_name=\"b\" name=\"z\"}");
    catalog_snapshot_end(c);
    assert_int_equal(services_of(c, "a", ""), 0);
    assert_int_equal(services_of(c, "b", "z "), 1);
    /* names that a peer makes up so that two keys look alike */
    take(c, "owner_set owner={kind=\"Service\" namespace_name=\"b\" name=\"u/v\"}");
    take(c, "owner_set owner={kind=\"Service\" namespace_name=\"b/u\" name=\"v\"}");
    assert_int_equal(services_of(c, "b", "z "), 1);
    catalog_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_found_by_name_and_namespace),
        cmocka_unit_test(a_snapshot_forgets_what_it_does_not_show),
        cmocka_unit_test(services_are_walked_by_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
