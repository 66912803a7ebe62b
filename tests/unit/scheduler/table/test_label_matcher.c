/* Label matchers: each operator where the label is there, is another, is absent; texts nobody has
 * an atom for; what matches nothing and everything; atoms that are given back. */
#include "scheduler/table/label_matcher.h"
#include "tests/unit/scheduler/cluster.h"

#include <stdlib.h>

struct room {
    struct arena arena;
    struct atoms *atoms;
    struct node_label labels[8];
    uint32_t count;
};

static int setup(void **state)
{
    struct room *r = memory_take(sizeof(*r));
    r->atoms = atoms_new();
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    struct room *r = *state;
    atoms_free(&r->atoms);
    arena_free(&r->arena);
    memory_free(r);
    return 0;
}

static int by_key(const void *a, const void *b)
{
    const struct node_label *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void wear(struct room *r, const char *key, const char *value)
{
    struct node_label *l = &r->labels[r->count++];
    l->key = atom_take(r->atoms, str_of(key));
    l->value = atom_take(r->atoms, str_of(value));
    qsort(r->labels, r->count, sizeof(*l), by_key);
}

static void demand(struct room *r, struct selector *s, const char *key, const char *operation,
                   const char *values)
{
    s->present = true;
    *APPEND(&r->arena, s->expressions) =
        (struct requirement){str_of(key), str_of(operation), strs_of(&r->arena, values)};
}

/* Both makers have to say the same. */
static bool matches(struct room *r, const struct selector *s)
{
    const struct label_matcher *found = label_matcher_find(r->atoms, s, &r->arena);
    bool answer = label_matcher_matches(found, r->labels, r->count);
    uint32_t before = atoms_count(r->atoms);
    struct label_matcher *taken = label_matcher_take(r->atoms, s);
    assert_int_equal(label_matcher_matches(taken, r->labels, r->count), answer);
    assert_int_equal(label_matcher_is_nothing(taken), label_matcher_is_nothing(found));
    assert_int_equal(label_matcher_is_empty(taken), label_matcher_is_empty(found));
    label_matcher_free(r->atoms, &taken);
    assert_null(taken);
    assert_int_equal(atoms_count(r->atoms), before);
    return answer;
}

static void operators_match_as_upstream(void **state)
{
    struct room *r = *state;
    static const struct {
        const char *key, *operation, *values;
        bool matches;
    } table[] = {
        {"app", "In", "web", true},
        {"app", "In", "db web", true},
        {"app", "In", "db", false},
        {"app", "In", "never-seen", false},
        {"tier", "In", "web", false},
        {"never-seen", "In", "web", false},
        {"app", "NotIn", "web", false},
        {"app", "NotIn", "db", true},
        {"app", "NotIn", "never-seen", true},
        {"never-seen", "NotIn", "web", true},
        {"app", "Exists", "", true},
        {"never-seen", "Exists", "", false},
        {"app", "DoesNotExist", "", false},
        {"never-seen", "DoesNotExist", "", true},
        {"web", "Exists", "", false},
        /* malformed: upstream fails */
        {"app", "In", "", false},
        {"never-seen", "NotIn", "", false},
        {"app", "Exists", "web", false},
        {"app", "Gt", "1", false},
        {"not/a/key", "DoesNotExist", "", false},
        {"never-seen", "NotIn", "not/a/value", false},
    };
    wear(r, "app", "web");
    wear(r, "zone", "");
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct selector s = {0};
        demand(r, &s, table[i].key, table[i].operation, table[i].values);
        if (matches(r, &s) != table[i].matches)
            fail_msg("%s %s %s", table[i].key, table[i].operation, table[i].values);
    }
}

static void labels_and_expressions_all_have_to_hold(void **state)
{
    struct room *r = *state;
    struct label app = {STR_LITERAL("app"), STR_LITERAL("web")};
    struct label zone = {STR_LITERAL("zone"), STR_LITERAL("")};
    struct selector s = {.present = true, .labels = {1, &app}};
    assert_false(matches(r, &s));
    wear(r, "app", "web");
    assert_true(matches(r, &s));
    demand(r, &s, "zone", "Exists", "");
    assert_false(matches(r, &s));
    wear(r, "zone", "");
    assert_true(matches(r, &s));
    s.labels.at = &zone; /* an empty value is a value */
    assert_true(matches(r, &s));
    demand(r, &s, "app", "NotIn", "web");
    assert_false(matches(r, &s));
}

static void no_selector_matches_nothing_and_an_empty_one_everything(void **state)
{
    struct room *r = *state;
    struct selector none = {0}, empty = {.present = true}, bad = {0};
    demand(r, &bad, "app", "Near", "web");
    wear(r, "app", "web");
    assert_false(matches(r, &none));
    assert_true(matches(r, &empty));
    assert_false(matches(r, &bad));
    assert_true(label_matcher_is_nothing(label_matcher_find(r->atoms, &none, &r->arena)));
    assert_true(label_matcher_is_nothing(label_matcher_find(r->atoms, &bad, &r->arena)));
    assert_false(label_matcher_is_nothing(label_matcher_find(r->atoms, &empty, &r->arena)));
    assert_true(label_matcher_is_empty(label_matcher_find(r->atoms, &empty, &r->arena)));
    assert_false(label_matcher_is_empty(label_matcher_find(r->atoms, &none, &r->arena)));
}

static void what_is_taken_knows_texts_that_come_later(void **state)
{
    struct room *r = *state;
    struct selector s = {0};
    demand(r, &s, "app", "In", "web");
    struct label_matcher *taken = label_matcher_take(r->atoms, &s);
    assert_false(label_matcher_matches(taken, r->labels, r->count));
    wear(r, "app", "web");
    assert_true(label_matcher_matches(taken, r->labels, r->count));
    label_matcher_free(r->atoms, &taken);
    label_matcher_free(r->atoms, &taken);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(operators_match_as_upstream),
        TEST(labels_and_expressions_all_have_to_hold),
        TEST(no_selector_matches_nothing_and_an_empty_one_everything),
        TEST(what_is_taken_knows_texts_that_come_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
