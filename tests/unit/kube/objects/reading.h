/* reading: objects from YAML for the tests of this folder, and their records as text to look for
 * fragments in. */
#ifndef TEST_READING_H
#define TEST_READING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "proto/kube/objects/objects.h"

static struct arena arena;
static struct buffer printed;

static int reset(void **state)
{
    (void)state;
    arena_reset(&arena);
    buffer_reset(&printed);
    return 0;
}

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    buffer_free(&printed);
    return 0;
}

static const struct kube_resource *resource_of(const char *kind)
{
    for (size_t i = 0; i < kube_resource_count; i++)
        if (strcmp(kube_resources[i].kind, kind) == 0)
            return &kube_resources[i];
    fail_msg("no resource of kind %s", kind);
    return NULL;
}

/* Reads an object; its stream message as text goes to printed, or the error. */
static bool read_object(const char *kind, const char *yaml, struct message *m, struct str *key)
{
    struct str error = {0};
    struct kube_json *json = kube_json_parse_yaml(str_of(yaml), &error, &arena);
    if (json == NULL)
        fail_msg("the test's YAML is malformed: %.*s", STR_ARG(error));
    bool good = resource_of(kind)->set(json, m, key, &arena, &error);
    kube_json_free(&json); /* before looking: nothing may point into it */
    buffer_reset(&printed);
    if (good)
        codec_print(message_info[m->type].record, message_body(m), &printed);
    else
        buffer_add_str(&printed, error);
    return good;
}

static void expect_parts(const char *kind, const char *yaml, const char *const *parts)
{
    struct message m;
    struct str key;
    if (!read_object(kind, yaml, &m, &key))
        fail_msg("refused: %s", printed.at);
    for (size_t i = 0; parts[i] != NULL; i++)
        if (strstr(printed.at, parts[i]) == NULL)
            fail_msg("no %s in %s", parts[i], printed.at);
}

#define EXPECT(kind, yaml, ...) expect_parts(kind, yaml, (const char *const[]){__VA_ARGS__, NULL})

static void expect_absent(const char *part)
{
    if (strstr(printed.at, part) != NULL)
        fail_msg("unexpected %s in %s", part, printed.at);
}

#endif
