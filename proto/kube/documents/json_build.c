/* json_build: cJSON's own functions, with texts that have a length, integers that keep all of their
 * digits, and must() where cJSON gives NULL. */
#include "proto/kube/documents/json_build.h"

#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/base/must.h"
#include "proto/messages.h"

#include <inttypes.h>
#include <stdio.h>

static cJSON *made(cJSON *value)
{
    must(value != NULL);
    return value;
}

cJSON *json_build(void)
{
    return made(cJSON_CreateObject());
}

void json_add_text(cJSON *object, const char *key, struct str value)
{
    char *copy = str_copy(value);
    made(cJSON_AddStringToObject(object, key, copy));
    memory_free(copy);
}

void json_add_text_if(cJSON *object, const char *key, struct str value)
{
    if (value.len > 0)
        json_add_text(object, key, value);
}

void json_add_texts(cJSON *object, const char *key, const struct strs *texts)
{
    cJSON *list = json_add_list(object, key);
    for (uint32_t i = 0; i < texts->count; i++)
        json_add_text_item(list, texts->at[i]);
}

void json_add_texts_if(cJSON *object, const char *key, const struct strs *texts)
{
    if (texts->count > 0)
        json_add_texts(object, key, texts);
}

void json_add_whole(cJSON *object, const char *key, int64_t value)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRId64, value);
    json_add_raw(object, key, digits);
}

void json_add_bool(cJSON *object, const char *key, bool value)
{
    made(cJSON_AddBoolToObject(object, key, value));
}

cJSON *json_add_null(cJSON *object, const char *key)
{
    return made(cJSON_AddNullToObject(object, key));
}

void json_add_seconds(cJSON *object, const char *key, int64_t wall_us)
{
    char text[40];
    moment_print_seconds(wall_us, text, sizeof(text));
    made(cJSON_AddStringToObject(object, key, text));
}

void json_add_micros(cJSON *object, const char *key, int64_t wall_us)
{
    char text[40];
    moment_print_micros(wall_us, text, sizeof(text));
    made(cJSON_AddStringToObject(object, key, text));
}

void json_add_raw(cJSON *object, const char *key, const char *json)
{
    made(cJSON_AddRawToObject(object, key, json));
}

cJSON *json_add_object(cJSON *object, const char *key)
{
    return made(cJSON_AddObjectToObject(object, key));
}

cJSON *json_add_list(cJSON *object, const char *key)
{
    return made(cJSON_AddArrayToObject(object, key));
}

cJSON *json_add_item(cJSON *list)
{
    cJSON *item = json_build();
    must(cJSON_AddItemToArray(list, item));
    return item;
}

void json_add_text_item(cJSON *list, struct str value)
{
    char *copy = str_copy(value);
    must(cJSON_AddItemToArray(list, made(cJSON_CreateString(copy))));
    memory_free(copy);
}

void json_build_print(struct buffer *out, cJSON *root)
{
    char *text = cJSON_PrintUnformatted(root);
    must(text != NULL);
    buffer_add_text(out, text);
    cJSON_free(text);
    cJSON_Delete(root);
}
