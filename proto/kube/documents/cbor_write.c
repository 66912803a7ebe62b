/* cbor_write: a value as CBOR, in the way of Kubernetes' programs: its tag for "this is CBOR" in
 * front, texts and names as byte strings, members in the order of their names' bytes in CBOR, the
 * shorter ones first. What must stay true: one value has one encoding, so that pages can be
 * compared. */
#include "proto/kube/documents/json.h"

#include "proto/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The upper three bits of an item's first byte. */
enum major { MAJOR_positive, MAJOR_negative, MAJOR_bytes, MAJOR_list = 4, MAJOR_object };

#define SIMPLE_FALSE 0xf4
#define SIMPLE_TRUE  0xf5
#define SIMPLE_NULL  0xf6
#define DOUBLE       0xfb /* eight bytes follow */

static void add_byte(struct buffer *out, unsigned byte)
{
    buffer_add(out, &(unsigned char){(unsigned char)byte}, 1);
}

static void add_number(struct buffer *out, uint64_t number, unsigned bytes)
{
    while (bytes-- > 0)
        add_byte(out, (number >> (8 * bytes)) & 0xff);
}

/* An item's kind, and its number in as few bytes as hold it. */
static void add_head(struct buffer *out, enum major major, uint64_t number)
{
    unsigned length = 3; /* of the number, as a power of two */
    if (number < 24) {
        add_byte(out, (unsigned)major << 5 | (unsigned)number);
        return;
    }
    while (length > 0 && number >> (8U << (length - 1)) == 0)
        length--;
    add_byte(out, (unsigned)major << 5 | (24 + length));
    add_number(out, number, 1U << length);
}

static void add_text(struct buffer *out, struct str text)
{
    add_head(out, MAJOR_bytes, text.len);
    buffer_add_str(out, text);
}

static int by_encoded_name(const void *a, const void *b)
{
    struct str one = kube_json_name(*(const struct kube_json *const *)a),
               other = kube_json_name(*(const struct kube_json *const *)b);
    if (one.len != other.len)
        return one.len < other.len ? -1 : 1;
    return str_compare(one, other);
}

/* Recursion is bounded by KUBE_JSON_DEPTH_MAX, which the parser holds. */
/* NOLINTBEGIN(misc-no-recursion) */
static void add_value(struct buffer *out, const struct kube_json *value);

static void add_object(struct buffer *out, const struct kube_json *value)
{
    size_t count = kube_json_count(value), n = 0;
    const struct kube_json **members = memory_take((count + 1) * sizeof(void *));
    for (const struct kube_json *c = kube_json_first(value); c != NULL; c = kube_json_next(c))
        members[n++] = c;
    qsort(members, n, sizeof(void *), by_encoded_name);
    add_head(out, MAJOR_object, n);
    for (size_t i = 0; i < n; i++) {
        add_text(out, kube_json_name(members[i]));
        add_value(out, members[i]);
    }
    memory_free(members);
}

static void add_list(struct buffer *out, const struct kube_json *value)
{
    add_head(out, MAJOR_list, kube_json_count(value));
    for (const struct kube_json *c = kube_json_first(value); c != NULL; c = kube_json_next(c))
        add_value(out, c);
}

static void add_value(struct buffer *out, const struct kube_json *value)
{
    int64_t whole;
    double number;
    if (kube_json_is_object(value)) {
        add_object(out, value);
    } else if (kube_json_is_array(value)) {
        add_list(out, value);
    } else if (kube_json_is_string(value)) {
        add_text(out, kube_json_text(value));
    } else if (kube_json_i64(value, &whole)) {
        add_head(out, whole < 0 ? MAJOR_negative : MAJOR_positive,
                 whole < 0 ? ~(uint64_t)whole : (uint64_t)whole);
    } else if (kube_json_number(value, &number)) {
        uint64_t bits;
        memcpy(&bits, &number, sizeof(bits));
        add_byte(out, DOUBLE);
        add_number(out, bits, 8);
    } else {
        add_byte(out, kube_json_is_bool(value) ? kube_json_true(value) ? SIMPLE_TRUE : SIMPLE_FALSE
                                               : SIMPLE_NULL);
    }
}

/* NOLINTEND(misc-no-recursion) */

void kube_json_write_cbor(const struct kube_json *value, struct buffer *out)
{
    buffer_add(out, "\xd9\xd9\xf7", 3);
    add_value(out, value);
}
