/* json_out: commas, indentation and escapes in one place. What must stay true: brackets are closed
 * in the order in which they were opened, and every byte string becomes valid JSON. */
#include "ctl/json_out.h"

#include "proto/base/json_string.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <inttypes.h>

static void new_line(struct json_out *j)
{
    if (!j->indented)
        return;
    buffer_add(j->out, "\n", 1);
    for (int i = 0; i < j->depth; i++)
        buffer_add(j->out, "  ", 2);
}

static void begin_member(struct json_out *j, const char *key)
{
    if (j->filled)
        buffer_add(j->out, ",", 1);
    if (j->depth > 0)
        new_line(j);
    j->filled = true;
    if (key == NULL)
        return;
    json_string(j->out, str_of(key));
    buffer_add_text(j->out, j->indented ? ": " : ":");
}

void json_open(struct json_out *j, const char *key, char bracket)
{
    begin_member(j, key);
    buffer_add(j->out, &bracket, 1);
    j->depth++;
    j->filled = false;
}

void json_close(struct json_out *j, char bracket)
{
    must(j->depth > 0);
    j->depth--;
    if (j->filled)
        new_line(j);
    buffer_add(j->out, &bracket, 1);
    j->filled = true;
}

void json_str(struct json_out *j, const char *key, struct str value)
{
    begin_member(j, key);
    json_string(j->out, value);
}

void json_str_if(struct json_out *j, const char *key, struct str value)
{
    if (value.len > 0)
        json_str(j, key, value);
}

void json_i64(struct json_out *j, const char *key, int64_t value)
{
    begin_member(j, key);
    buffer_print(j->out, "%" PRId64, value);
}

void json_bool(struct json_out *j, const char *key, bool value)
{
    begin_member(j, key);
    buffer_add_text(j->out, value ? "true" : "false");
}

void json_raw(struct json_out *j, const char *key, struct str value)
{
    begin_member(j, key);
    buffer_add_str(j->out, value);
}

void json_strs(struct json_out *j, const char *key, struct strs values)
{
    json_open(j, key, '[');
    for (uint32_t i = 0; i < values.count; i++)
        json_str(j, NULL, values.at[i]);
    json_close(j, ']');
}

void json_strs_if(struct json_out *j, const char *key, struct strs values)
{
    if (values.count > 0)
        json_strs(j, key, values);
}

void json_value(struct json_out *j, const struct kube_json *value)
{
    struct buffer text = {0};
    struct str name = kube_json_name(value);
    char *key = name.at != NULL ? str_copy(name) : NULL;
    kube_json_write(value, &text);
    json_raw(j, key, buffer_str(&text));
    memory_free(key);
    buffer_free(&text);
}
