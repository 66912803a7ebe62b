/* json: a parsed JSON or YAML document, read-only, for code that must not know how.
 *
 * Integers are exact in the whole range of 64 bits; all other numbers are IEEE doubles, and
 * kube_json_i64 refuses what is none exactly instead of rounding it. A member that occurs twice in
 * JSON counts with its last value, as in Go; in YAML it is refused. A member that is null counts as
 * missing. Half of a surrogate pair is read as U+FFFD, as in Go. */
#ifndef KUBE_DOCUMENTS_JSON_H
#define KUBE_DOCUMENTS_JSON_H

#include "proto/base/arena.h"
#include "proto/base/buffer.h"
#include "proto/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A document, or any value inside one. */
struct kube_json;

/* Deepest nesting that is read; Go's encoding/json, which every JSON of the API server's has gone
 * through, reads no deeper. */
#define KUBE_JSON_DEPTH_MAX 10000

/* One JSON document; the text need not end in a zero byte and is not kept. NULL when malformed;
 * error (may be NULL) then says where, as `line 3, column 7: …`, in memory of the arena. */
struct kube_json *kube_json_parse(struct str text, struct str *error, struct arena *a);
/* What is not read as a value; an empty name: nothing. */
struct kube_json_unread {
    struct str lists;    /* members of this name that are lists are left out */
    struct str verbatim; /* members of this name that are objects are strings: their very text */
};
/* The same, but nothing is read of such members but where they end. */
struct kube_json *kube_json_parse_without(struct str text, const struct kube_json_unread *unread,
                                          struct str *error, struct arena *a);
/* YAML or JSON; several documents give an array of them (empty ones left out), none gives null.
 * Scalars mean what they mean to Kubernetes (yes, on, 0x10 and 017 included); anchors, aliases and
 * merge keys work, within bounds. */
struct kube_json *kube_json_parse_yaml(struct str text, struct str *error, struct arena *a);
/* Writes a value as JSON without blanks, members in their order; strings as json_string.h says,
 * numbers that are no int64_t as short as they can be without becoming others. */
void kube_json_write(const struct kube_json *value, struct buffer *out);
/* Writes it as YAML in the way of Kubernetes' tools: members sorted, lists not indented, texts
 * quoted only where they must be. */
void kube_json_write_yaml(const struct kube_json *value, struct buffer *out);
/* Writes it as CBOR in the way of Kubernetes' programs: cbor_write.c says what that is. A number
 * that is no int64_t is a double. */
void kube_json_write_cbor(const struct kube_json *value, struct buffer *out);
/* False unless the text is JSON, with the reason in Go's words. */
bool kube_json_explain(struct str text, struct buffer *why);
/* As Kubernetes' tools read a configuration: what begins with { is JSON, all else is YAML, of which
 * the first document alone counts. Errors in the words of Go's libraries. */
struct kube_json *kube_json_parse_config(struct str text, struct str *error, struct arena *a);
/* Frees a document (never a value inside one) and nulls the caller's pointer. */
void kube_json_free(struct kube_json **json);

/* Reading. NULL is allowed as the value everywhere and gives NULL, 0, false or an empty string.
 * kube_json_get: the member of an object; NULL when missing or null. */
const struct kube_json *kube_json_get(const struct kube_json *object, const char *member);
/* A dotted path, such as "metadata.name". */
const struct kube_json *kube_json_path(const struct kube_json *object, const char *path);
struct str kube_json_text(const struct kube_json *value); /* strings; else empty */
bool kube_json_number(const struct kube_json *value, double *number);
bool kube_json_i64(const struct kube_json *value, int64_t *number); /* exact integers only */
bool kube_json_true(const struct kube_json *value);
bool kube_json_is_object(const struct kube_json *value);
bool kube_json_is_array(const struct kube_json *value);
bool kube_json_is_string(const struct kube_json *value);
bool kube_json_is_bool(const struct kube_json *value);
bool kube_json_is_null(const struct kube_json *value); /* a null that is there, such as in a list */
/* "an object", "a list", "a string", "a number", "a boolean" or "null", for error texts. */
const char *kube_json_kind(const struct kube_json *value);
/* What Go's decoder calls it: string, number, bool, object, array or null. */
const char *kube_json_go_kind(const struct kube_json *value);
size_t kube_json_count(const struct kube_json *array_or_object);
/* First child, then the next one; name is the member's name in an object. Members that are null
 * and all of several members of one name are seen here. */
const struct kube_json *kube_json_first(const struct kube_json *array_or_object);
const struct kube_json *kube_json_next(const struct kube_json *child);
struct str kube_json_name(const struct kube_json *child);

#endif
