/* json_out: writes JSON into a buffer, compact or indented. */
#ifndef JSON_OUT_H
#define JSON_OUT_H

#include "proto/codec.h"
#include "proto/kube/documents/json.h"

/* Zero-initialise, then set out and indented. */
struct json_out {
    struct buffer *out;
    bool indented;
    bool filled; /* the open object or list has a member */
    int depth;
};

/* key is NULL inside lists and at the top. */
void json_open(struct json_out *j, const char *key, char bracket);
void json_close(struct json_out *j, char bracket);
void json_str(struct json_out *j, const char *key, struct str value);
/* Leaves the member out when the text is empty. */
void json_str_if(struct json_out *j, const char *key, struct str value);
void json_i64(struct json_out *j, const char *key, int64_t value);
void json_bool(struct json_out *j, const char *key, bool value);
/* A value that is JSON already, without blanks. */
void json_raw(struct json_out *j, const char *key, struct str value);
/* A member of an object, under its name, or an item of a list, as it was read. */
void json_value(struct json_out *j, const struct kube_json *value);
void json_strs(struct json_out *j, const char *key, struct strs values);
/* Leaves the member out when there are none. */
void json_strs_if(struct json_out *j, const char *key, struct strs values);

#endif
