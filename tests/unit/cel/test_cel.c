/* test_cel: device selectors as upstream evaluates them. tests/golden/cel/corpus.jsonl holds what
 * k8s.io/dynamic-resource-allocation/cel answered (tests/fidelity/cel/differ.py --golden): verdict,
 * error and cost of each expression on each device must be the same here. */
#include "tests/fidelity/cel/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GOLDEN "tests/golden/cel/corpus.jsonl"

static const struct cel_dialect dialect_36 = {.release = 36};

static bool has_text(struct str text, const char *part)
{
    return memmem(text.at, text.len, part, strlen(part)) != NULL;
}

/* One expression on one device; false and a line when the outcome is another. */
static bool same_outcome(const struct cel_program *program, const struct cel_subject *subject,
                         const struct kube_json *want, struct str expression)
{
    struct arena scratch = {.limit = CEL_SCRATCH_BYTES};
    struct cel_report report;
    int64_t cost = 0;
    enum cel_verdict verdict = cel_match(program, subject, &scratch, &report);
    struct str error = kube_json_text(kube_json_get(want, "error"));
    kube_json_i64(kube_json_get(want, "cost"), &cost);
    bool same = str_is(kube_json_text(kube_json_get(want, "verdict")), case_verdicts[verdict]) &&
                str_equal(report.error, error) && report.cost == (uint64_t)cost;
    if (!same)
        print_message("%.*s: %s '%.*s' cost %llu, upstream '%.*s' cost %lld\n", STR_ARG(expression),
                      case_verdicts[verdict], STR_ARG(report.error),
                      (unsigned long long)report.cost, STR_ARG(error), (long long)cost);
    arena_free(&scratch);
    return same;
}

static bool same_refusal(struct str error, struct str want, struct str expression)
{
    bool syntax = str_is(want, "a syntax error");
    bool same = syntax ? has_text(error, "Syntax error") || has_text(error, "recursion")
                       : str_equal(error, want);
    if (!same)
        print_message("%.*s: '%.*s', upstream '%.*s'\n", STR_ARG(expression), STR_ARG(error),
                      STR_ARG(want));
    return same;
}

static bool same_answer(const struct cel_dialect *dialect, const struct kube_json *line,
                        const struct cel_subject *const *subjects)
{
    struct str expression = kube_json_text(kube_json_get(line, "expression"));
    const struct kube_json *answer = kube_json_get(line, "answer");
    struct buffer error = {0};
    struct cel_program *program = cel_compile(dialect, expression, &error);
    const struct kube_json *refusal = kube_json_get(answer, "compileError");
    bool same = true;
    if (program == NULL || refusal != NULL) {
        same = same_refusal(buffer_str(&error), kube_json_text(refusal), expression);
    } else {
        const struct kube_json *want = kube_json_first(kube_json_get(answer, "outcomes"));
        for (uint32_t i = 0; want != NULL; i++, want = kube_json_next(want))
            same = same_outcome(program, subjects[i], want, expression) && same;
    }
    buffer_free(&error);
    cel_free(&program);
    return same;
}

static struct kube_json *next_line(FILE *file, char **line, size_t *room, struct arena *arena)
{
    struct str error = {NULL, 0};
    ssize_t len = getline(line, room, file);
    return len <= 0 ? NULL : kube_json_parse((struct str){*line, (uint32_t)len}, &error, arena);
}

static void check_golden(const char *path, const struct cel_dialect *dialect)
{
    struct arena arena = {0}, kept = {0};
    char *line = NULL;
    size_t room = 0;
    uint32_t count = 0, different = 0, devices = 0;
    const struct cel_subject *subjects[8] = {NULL};
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    struct kube_json *json = next_line(file, &line, &room, &kept), *one = NULL;
    const struct kube_json *device = kube_json_first(json);
    for (; device != NULL && devices < 8; device = kube_json_next(device))
        subjects[devices++] = case_subject(device, &kept);
    while ((one = next_line(file, &line, &room, &arena)) != NULL) {
        different += !same_answer(dialect, one, subjects);
        count++;
        kube_json_free(&one);
        arena_reset(&arena);
    }
    kube_json_free(&json);
    arena_free(&kept);
    arena_free(&arena);
    free(line);
    fclose(file);
    assert_true(count > 50);
    assert_int_equal(different, 0);
}

static void answers_as_upstream(void **state)
{
    static const struct cel_dialect dialect_37 = {.release = 37};
    (void)state;
    check_golden(GOLDEN, &dialect_36);
    check_golden("tests/golden/cel/corpus-1.37.jsonl", &dialect_37);
}

static enum cel_verdict ask(const char *expression, const struct cel_device *device,
                            struct arena *arena, struct cel_report *report)
{
    struct buffer error = {0};
    struct cel_program *program = cel_compile(&dialect_36, str_of(expression), &error);
    if (program == NULL)
        fail_msg("%s", error.at);
    enum cel_verdict verdict = cel_match(program, cel_subject_new(arena, device), arena, report);
    buffer_free(&error);
    cel_free(&program);
    return verdict;
}

static void a_version_that_is_none_fails_every_expression(void **state)
{
    (void)state;
    struct arena arena = {.limit = CEL_SCRATCH_BYTES};
    struct cel_report report;
    const struct cel_attribute bad = {
        .name = STR_LITERAL("v"), .kind = CEL_ATTRIBUTE_version, .text = STR_LITERAL("1.2")};
    const struct cel_device device = {
        .driver = STR_LITERAL("d"), .attributes = &bad, .attribute_count = 1};
    assert_int_equal(ask("true", &device, &arena, &report), CEL_FAILED);
    assert_true(str_is(report.error,
                       "attribute v: parse semantic version: No Major.Minor.Patch elements found"));
    arena_free(&arena);
}

/* In 1.36 they are errors without DRAListTypeAttributes; 1.37 sees them in any case. */
static void lists_are_seen_with_their_gate(void **state)
{
    (void)state;
    struct arena arena = {.limit = CEL_SCRATCH_BYTES};
    struct buffer error = {0};
    const struct cel_attribute values[] = {{.kind = CEL_ATTRIBUTE_int, .number = 7},
                                           {.kind = CEL_ATTRIBUTE_int, .number = 9}};
    const struct cel_attribute list = {
        .name = STR_LITERAL("i"), .kind = CEL_ATTRIBUTE_list, .value_count = 2, .values = values};
    const struct cel_device device = {
        .driver = STR_LITERAL("d"), .attributes = &list, .attribute_count = 1};
    const struct cel_subject *subject = cel_subject_new(&arena, &device);
    for (int i = 0; i < 4; i++) {
        struct cel_dialect dialect = {.release = 36 + i / 2, .lists = i % 2};
        struct cel_report report;
        struct cel_program *program =
            cel_compile(&dialect, STR_LITERAL("9 in device.attributes['d'].i"), &error);
        assert_non_null(program);
        enum cel_verdict verdict = cel_match(program, subject, &arena, &report);
        assert_int_equal(verdict, i == 0 ? CEL_FAILED : CEL_MATCH);
        assert_true(i > 0 || str_is(report.error, "attribute i: unsupported attribute value"));
        cel_free(&program);
    }
    buffer_free(&error);
    arena_free(&arena);
}

static void memory_is_bounded(void **state)
{
    (void)state;
    struct arena arena = {.limit = 1u << 20};
    struct cel_report report;
    const struct cel_device device = {.driver = STR_LITERAL("d")};
    assert_int_equal(ask("lists.range(1000000).size() > 0", &device, &arena, &report), CEL_FAILED);
    assert_true(has_text(report.error, "more memory"));
    arena_free(&arena);
}

static void a_long_expression_is_refused(void **state)
{
    (void)state;
    struct buffer text = {0}, error = {0};
    for (uint32_t i = 0; i <= CEL_EXPRESSION_MAX; i++)
        buffer_add_text(&text, " ");
    assert_null(cel_compile(&dialect_36, buffer_str(&text), &error));
    assert_true(has_text(buffer_str(&error), "longer than 10240 bytes"));
    buffer_free(&text);
    buffer_free(&error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_upstream),
        cmocka_unit_test(a_version_that_is_none_fails_every_expression),
        cmocka_unit_test(lists_are_seen_with_their_gate),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(a_long_expression_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
