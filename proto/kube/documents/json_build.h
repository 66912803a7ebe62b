/* json_build: objects made with cJSON, for what is written rarely enough that the making of a tree
 * does not count. Nothing here fails: what cJSON cannot do for want of memory ends the process, as
 * everywhere. A zero byte ends a text, as cJSON knows no others. */
#ifndef KUBE_DOCUMENTS_JSON_BUILD_H
#define KUBE_DOCUMENTS_JSON_BUILD_H

#include "proto/base/buffer.h"

#include <cjson/cJSON.h>

struct strs;

/* Something of its own, to be given to json_build_print or cJSON_Delete. */
cJSON *json_build(void);
/* Members. An empty text or list is left out by …_if, as by Go's omitempty; whole is exact, where
 * cJSON's numbers are doubles. */
void json_add_text(cJSON *object, const char *key, struct str value);
void json_add_text_if(cJSON *object, const char *key, struct str value);
void json_add_texts(cJSON *object, const char *key, const struct strs *texts);
void json_add_texts_if(cJSON *object, const char *key, const struct strs *texts);
void json_add_whole(cJSON *object, const char *key, int64_t value);
void json_add_bool(cJSON *object, const char *key, bool value);
cJSON *json_add_null(cJSON *object, const char *key);
/* Times in UTC, without fractions of a second and with six digits of them. */
void json_add_seconds(cJSON *object, const char *key, int64_t wall_us);
void json_add_micros(cJSON *object, const char *key, int64_t wall_us);
/* A value that is written already. */
void json_add_raw(cJSON *object, const char *key, const char *json);
cJSON *json_add_object(cJSON *object, const char *key);
cJSON *json_add_list(cJSON *object, const char *key);
/* At a list's end: an object, a text. */
cJSON *json_add_item(cJSON *list);
void json_add_text_item(cJSON *list, struct str value);
/* Appends it as text without blanks, and frees it. */
void json_build_print(struct buffer *out, cJSON *root);

#endif
