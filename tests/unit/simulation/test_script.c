/* test_script: scripts of the simulation: what is printed is read as the same plan, whatever else
 * is written in one is refused with its line and word, and a note says what was asked for. */
#include "proto/base/memory.h"
#include "proto/base/random.h"
#include "tests/simulation/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_same(struct plan *a, struct plan *b)
{
    assert_int_equal(a->seed, b->seed);
#define TRAIT_SAME_NUMBER(field)                     assert_int_equal(a->traits.field, b->traits.field);
#define TRAIT_SAME_LONG(field)                       assert_int_equal(a->traits.field, b->traits.field);
#define TRAIT_SAME_FLAG(field)                       assert_int_equal(a->traits.field, b->traits.field);
#define TRAIT_SAME_TIME(field)                       assert_int_equal(a->traits.field, b->traits.field);
#define TRAIT_SAME_TIE_BREAK(field)                  assert_string_equal(a->traits.field, b->traits.field);
#define TRAIT(kind, field, word, plain, least, most) TRAIT_SAME_##kind(field)
#include "tests/simulation/traits.def"
#undef TRAIT
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++) {
        assert_int_equal(a->at[i].at, b->at[i].at);
        assert_int_equal(a->at[i].kind, b->at[i].kind);
        assert_int_equal(a->at[i].a, b->at[i].a);
        assert_int_equal(a->at[i].b, b->at[i].b);
        assert_int_equal(a->at[i].c, b->at[i].c);
    }
}

static void reads(const char *text, struct script *script)
{
    struct buffer error = {0};
    if (!script_parse(str_of(text), script, &error))
        fail_msg("%s: %s", text, error.at);
    assert_int_equal(error.len, 0);
}

static void what_is_printed_is_read_as_the_same_plan(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct buffer text = {0};
        struct script again;
        struct plan plan;
        plan_make(&plan, seed * seed * 7919, 100, "");
        script_print(&text, &plan, "all is done in time");
        reads(text.at, &again);
        assert_same(&plan, &again.plan);
        assert_string_equal(again.expect, "all is done in time");
        plan_free(&plan);
        plan_free(&again.plan);
        buffer_free(&text);
    }
}

static void times_and_numbers_are_kept_to_the_last_digit(void **state)
{
    (void)state;
    struct action actions[] = {{.at = 0, .a = UINT32_MAX},
                               {.at = 1, .b = 1},
                               {.at = 999999999, .c = 7},
                               {.at = 1000000000, .a = 1},
                               {.at = INT64_C(999999998999999990), .a = 1}};
    struct plan plan = {.seed = UINT64_MAX,
                        .count = 5,
                        .at = actions,
                        .traits = {.groups = 1,
                                   .nodes = 1,
                                   .minor = 37,
                                   .workers = 1,
                                   .page_size = 1,
                                   .history = 1,
                                   .page = 123456789,
                                   .page_most = INT64_C(1234567890),
                                   .tie_break = "round-robin"}};
    struct buffer text = {0};
    struct script again;
    script_print(&text, &plan, EXPECT_QUIET);
    reads(text.at, &again);
    assert_same(&plan, &again.plan);
    plan_free(&again.plan);
    buffer_free(&text);
}

static void what_is_left_out_is_plain(void **state)
{
    (void)state;
    struct script script;
    reads("# a story\n\n  start\tnodes=3 # three\nat 1.5s calm # and\nat 1500ms kill_process b=2\n"
          "expect one binding # twice",
          &script);
    assert_int_equal(script.plan.traits.nodes, 3);
    assert_int_equal(script.plan.traits.groups, 1);
    assert_int_equal(script.plan.traits.page, 30 * MS);
    assert_string_equal(script.plan.traits.tie_break, "first");
    assert_int_equal(script.plan.count, 2);
    assert_int_equal(script.plan.at[0].at, script.plan.at[1].at);
    assert_int_equal(script.plan.at[1].a, 0);
    assert_int_equal(script.plan.at[1].b, 2);
    assert_string_equal(script.expect, "one binding");
    for (uint32_t i = 0; i < script_words(); i++)
        assert_false(script_plainer(&script.plan, i, false) && i != 3);
    plan_free(&script.plan);
}

static void what_is_no_script_is_refused_with_line_and_word(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"", "line 0: a script begins with start"},
        {"# nothing\n", "line 2: a script begins with start"},
        {"at 1s calm\n", "line 1: a script begins with start: at"},
        {"start\nstart\nexpect quiet\n", "line 2: started twice"},
        {"start nodes\n", "line 1: want key=value: nodes"},
        {"start =3\n", "line 1: want key=value: =3"},
        {"start nodes=\n", "line 1: no such value: nodes="},
        {"start nodes=0\n", "line 1: no such value: nodes=0"},
        {"start nodes=4294967297\n", "line 1: no such value: nodes=4294967297"},
        {"start nodes=3 nodes=3\n", "line 1: given twice: nodes=3"},
        {"start dice=9223372036854775808\n", "line 1: no such value: dice=9223372036854775808"},
        {"start lease=true\n", "line 1: no such value: lease=true"},
        {"start tie_break=last\n", "line 1: no such value: tie_break=last"},
        {"start page=30\n", "line 1: no such value: page=30"},
        {"start page=3.s\n", "line 1: no such value: page=3.s"},
        {"start colour=red\n", "line 1: unknown word: colour=red"},
        {"start instances=2\n", "line 1: two instances need a lease"},
        {"start\nat 1 calm\n", "line 2: this is no time: 1"},
        {"start\nat -1s calm\n", "line 2: this is no time: -1s"},
        {"start\nat 1.0000000001s calm\n", "line 2: this is no time: 1.0000000001s"},
        {"start\nat 1.0000001ms calm\n", "line 2: this is no time: 1.0000001ms"},
        {"start\nat 9999999999s calm\n", "line 2: this is no time: 9999999999s"},
        {"start\nat\n", "line 2: this is no time"},
        {"start\nat 2s calm\nat 1s calm\n", "line 3: time goes backwards: 1s"},
        {"start\nat 2s calmer\n", "line 2: no such action: calmer"},
        {"start\nat 2s\n", "line 2: no such action"},
        {"start\nat 2s calm d=1\n", "line 2: want a=, b= or c=: d=1"},
        {"start\nat 2s calm a\n", "line 2: want a=, b= or c=: a"},
        {"start\nat 2s calm a=-1\n", "line 2: no such number: a=-1"},
        {"start\nat 2s calm a=4294967296\n", "line 2: no such number: a=4294967296"},
        {"start\nexpect\n", "line 2: expect what?"},
        {"start\nexpect # quiet\n", "line 2: expect what?"},
        {"start\nat 2s calm\n", "line 3: expect what?"},
        {"start\nexpect a name that is longer than any other\n", "line 2: too long: other"},
        {"start\nexpect quiet\nat 2s calm\n", "line 3: nothing stands behind expect: at"},
        {"start\nplay\n", "line 2: want at or expect: play"},
        {"start \x01\x1b[2J\xff\n", "line 1: want key=value: ??[2J?"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct buffer error = {0};
        struct script script;
        if (script_parse(str_of(wrong[i][0]), &script, &error))
            fail_msg("is read: %s", wrong[i][0]);
        assert_string_equal(error.at, wrong[i][1]);
        buffer_free(&error);
    }
}

/* Bytes of a script changed, lost and doubled: it is refused, or it is a plan like any other. */
static void torn_scripts_are_read_or_refused(void **state)
{
    (void)state;
    struct random r = {11};
    uint32_t read = 0;
    struct buffer whole = {0};
    struct plan plan;
    plan_make(&plan, 3, 12, "");
    script_print(&whole, &plan, "fence");
    plan_free(&plan);
    for (int i = 0; i < 20000; i++) {
        char *torn = memory_copy(whole.at, whole.len);
        uint32_t len = (uint32_t)whole.len - (uint32_t)random_below(&r, 3) * 40;
        for (uint64_t k = random_below(&r, 4); k > 0; k--) {
            char *at = &torn[random_below(&r, len)];
            *at = (char)random_next(&r);
            if (random_below(&r, 2) == 0)
                *at = whole.at[random_below(&r, whole.len)];
        }
        struct buffer error = {0}, text = {0};
        struct script script, again;
        if (script_parse((struct str){torn, len}, &script, &error)) {
            script_print(&text, &script.plan, script.expect);
            reads(text.at, &again);
            assert_same(&script.plan, &again.plan);
            plan_free(&script.plan);
            plan_free(&again.plan);
            read++;
        } else {
            assert_true(strncmp(error.at, "line ", 5) == 0);
        }
        buffer_free(&error);
        buffer_free(&text);
        memory_free(torn);
    }
    assert_in_range(read, 100, 19900);
    buffer_free(&whole);
}

static void notes_say_what_was_asked_for(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"users: POST /api/v1/namespaces/default/pods {\"kind\":\"Pod\",\"apiVersion\":\"v1\","
         "\"metadata\":{\"name\":\"p1\"},\"spec\":{\"nodeSelector\":{"
         "\"topology.kubernetes.io/zone\":\"z1\"},\"containers\":[{\"name\":\"c0\","
         "\"resources\":{\"requests\":{\"cpu\":\"100m\"}}}]}} -> 201",
         "creates pods name=p1 zone=z1 cpu=100m"},
        {"users: DELETE /api/v1/nodes/n1  -> 404", "deletes nodes/n1 -> 404"},
        {"users: PATCH /api/v1/nodes/n1 {\"spec\":{\"unschedulable\":null}} -> 200",
         "changes nodes/n1 unschedulable=null"},
        {"users: PATCH /api/v1/nodes/n1 {\"spec\":{\"unsched", "PATCH /api/v1/nodes/n1 {\"spec\":{"
                                                               "\"unsched"},
        {"users: p1 is resized to 100m", "users: p1 is resized to 100m"},
        {"a\x01 b\nc", "a  b"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct note note = {""};
        note_into(&note);
        note_add(lines[i][0]);
        assert_string_equal(note.text, lines[i][1]);
        note_add("x");
        assert_string_equal(note.text + strlen(note.text) - 3, "; x");
        for (int k = 0; k < 200; k++)
            note_add(lines[i][0]);
        assert_int_equal(strlen(note.text), sizeof(note.text) - 1);
    }
    note_into(NULL);
    note_add("nobody hears this");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_is_read_as_the_same_plan),
        cmocka_unit_test(times_and_numbers_are_kept_to_the_last_digit),
        cmocka_unit_test(what_is_left_out_is_plain),
        cmocka_unit_test(what_is_no_script_is_refused_with_line_and_word),
        cmocka_unit_test(torn_scripts_are_read_or_refused),
        cmocka_unit_test(notes_say_what_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
