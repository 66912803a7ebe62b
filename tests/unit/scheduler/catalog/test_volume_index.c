/* volume_index, through the catalog: what a claim is shown of the volumes is, whatever came before,
 * what going through all of them finds. */
#include "proto/base/random.h"
#include "tests/unit/scheduler/cluster.h"

#define NAMES    6
#define SPACES   2
#define PROFILES 2
#define STEPS    4000

/* Some so that "namespace/name" is the same of two claims. */
static const char *const spaces[SPACES] = {"a", "a/b"};
static const char *const claims[] = {"x", "y", "b/x"};
static const char *const classes[] = {"", "fast", "slow"};
static const char *const profiles[PROFILES] = {"one", "other"};

struct scene {
    struct catalog *catalog;
    struct random random;
    struct arena arena;
    int64_t version;
};

static const char *one_of(struct scene *s, const char *const *from, size_t count)
{
    return from[random_below(&s->random, count)];
}
#define ONE_OF(s, from) str_of(one_of(s, from, sizeof(from) / sizeof((from)[0])))

static struct str volume_name(struct scene *s)
{
    return arena_print(&s->arena, "v%u", (unsigned)random_below(&s->random, NAMES));
}

static struct claim any_claim(struct scene *s)
{
    return (struct claim){.namespace_name = ONE_OF(s, spaces),
                          .name = ONE_OF(s, claims),
                          .uid =
                              random_below(&s->random, 2) ? STR_LITERAL("u1") : STR_LITERAL("u2"),
                          .class_name = ONE_OF(s, classes)};
}

/* Sometimes with the version that it has: then what is assumed stays. */
static void set_volume(struct scene *s)
{
    struct message m = {.type = MSG_volume_set};
    struct volume *v = &m.volume_set.volume;
    *v = (struct volume){.name = volume_name(s), .class_name = ONE_OF(s, classes)};
    const struct volume *now = catalog_volume(s->catalog, v->name);
    bool again = now != NULL && random_below(&s->random, 4) == 0;
    v->resource_version = again ? now->resource_version : ++s->version;
    if (random_below(&s->random, 2)) {
        v->has_claim_ref = true;
        v->claim_namespace = ONE_OF(s, spaces);
        v->claim_name = ONE_OF(s, claims);
        if (random_below(&s->random, 2))
            v->claim_uid = STR_LITERAL("u1");
    }
    catalog_take(s->catalog, &m);
}

static void volume_gone(struct scene *s)
{
    struct message m = {.type = MSG_object_gone,
                        .object_gone = {.kind = OBJECT_volume, .name = volume_name(s)}};
    catalog_take(s->catalog, &m);
}

static void snapshot(struct scene *s)
{
    catalog_snapshot_begin(s->catalog);
    for (uint64_t i = random_below(&s->random, NAMES); i > 0; i--)
        set_volume(s);
    catalog_snapshot_end(s->catalog);
}

static void assume(struct scene *s)
{
    struct str name = volume_name(s), profile = ONE_OF(s, profiles);
    const struct volume *seen = catalog_volume_seen(s->catalog, profile, name);
    struct claim claim = any_claim(s);
    if (seen != NULL)
        catalog_assume_volume(s->catalog, profile, name, &claim);
}

static void give_back(struct scene *s)
{
    struct str name = volume_name(s), profile = ONE_OF(s, profiles);
    const struct volume *seen = catalog_volume_seen(s->catalog, profile, name);
    if (seen != NULL)
        catalog_restore_volume(s->catalog, profile, name, seen->claim_uid);
}

/* ---- both ways ---- */

static bool could_be(const struct volume *v, const struct claim *claim)
{
    if (!str_equal(v->class_name, claim->class_name))
        return false;
    return !v->has_claim_ref || (str_equal(v->claim_namespace, claim->namespace_name) &&
                                 str_equal(v->claim_name, claim->name));
}

/* As bits by name; a volume that is shown twice fails. */
static unsigned shown(struct scene *s, struct str profile, const struct claim *claim)
{
    struct volume_search at = {0};
    const struct volume *v;
    unsigned bits = 0;
    while ((v = catalog_next_volume_for(s->catalog, profile, claim, &at)) != NULL) {
        unsigned bit = 1U << (v->name.at[1] - '0');
        assert_ptr_equal(v, catalog_volume_seen(s->catalog, profile, v->name));
        assert_int_equal(bits & bit, 0);
        if (could_be(v, claim))
            bits |= bit;
    }
    assert_null(catalog_next_volume_for(s->catalog, profile, claim, &at)); /* and stays there */
    return bits;
}

static unsigned there(struct scene *s, struct str profile, const struct claim *claim)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < NAMES; i++) {
        struct str name = arena_print(&s->arena, "v%u", i);
        const struct volume *v = catalog_volume_seen(s->catalog, profile, name);
        if (v != NULL && could_be(v, claim))
            bits |= 1U << i;
    }
    return bits;
}

static void a_claim_is_shown_what_could_be_its_own(void **state)
{
    (void)state;
    static void (*const steps[])(struct scene *) = {set_volume, set_volume, set_volume, assume,
                                                    assume,     give_back,  volume_gone};
    struct scene s = {.catalog = catalog_new(), .random = {1}};
    unsigned found = 0;
    for (int i = 0; i < STEPS; i++) {
        if (random_below(&s.random, 50) == 0)
            snapshot(&s);
        else
            steps[random_below(&s.random, sizeof(steps) / sizeof(steps[0]))](&s);
        struct claim claim = any_claim(&s);
        struct str profile = ONE_OF(&s, profiles);
        unsigned bits = there(&s, profile, &claim);
        assert_int_equal(shown(&s, profile, &claim), bits);
        found += bits != 0;
        arena_reset(&s.arena);
    }
    assert_true(found > STEPS / 3);
    catalog_free(&s.catalog);
    arena_free(&s.arena);
}

static void the_volumes_of_others_are_not_gone_through(void **state)
{
    (void)state;
    struct scene s = {.catalog = catalog_new()};
    struct message m = {.type = MSG_volume_set};
    for (unsigned i = 0; i < 100; i++) {
        m.volume_set.volume = (struct volume){.name = arena_print(&s.arena, "v%u", i),
                                              .class_name = STR_LITERAL("fast"),
                                              .has_claim_ref = true,
                                              .claim_namespace = STR_LITERAL("a"),
                                              .claim_name = arena_print(&s.arena, "c%u", i)};
        catalog_take(s.catalog, &m);
    }
    m.volume_set.volume =
        (struct volume){.name = STR_LITERAL("free"), .class_name = STR_LITERAL("fast")};
    catalog_take(s.catalog, &m);
    const struct claim claim = {.namespace_name = STR_LITERAL("a"),
                                .name = STR_LITERAL("c7"),
                                .class_name = STR_LITERAL("fast")};
    struct volume_search at = {0};
    assert_str(catalog_next_volume_for(s.catalog, STR_LITERAL("p"), &claim, &at)->name, "v7");
    assert_str(catalog_next_volume_for(s.catalog, STR_LITERAL("p"), &claim, &at)->name, "free");
    assert_null(catalog_next_volume_for(s.catalog, STR_LITERAL("p"), &claim, &at));
    catalog_free(&s.catalog);
    arena_free(&s.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_is_shown_what_could_be_its_own),
        cmocka_unit_test(the_volumes_of_others_are_not_gone_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
