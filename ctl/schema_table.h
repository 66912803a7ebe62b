/* schema_table: the fields of all kinds as one release of Kubernetes has them. */
#ifndef CTL_SCHEMA_TABLE_H
#define CTL_SCHEMA_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* A single value: one of these, or a type. */
enum {
    VALUE_any,
    VALUE_text,
    VALUE_truth,
    VALUE_int32,
    VALUE_int64,
    VALUE_int_or_text,
    VALUE_quantity,
    VALUE_time,
    VALUE_types, /* types begin here */
};

enum form { FORM_one, FORM_list, FORM_map };

struct schema_field {
    const char *name; /* NULL ends a type's fields */
    uint8_t form;
    uint16_t value;
};

struct schema_kind {
    const char *version, *kind;
    uint16_t type;
};

struct schema_table {
    const struct schema_field *const *fields_of; /* by type, from VALUE_types on */
    const struct schema_kind *kinds;
    size_t kind_count;
};

extern const struct schema_table schema_1_36, schema_1_37;

#endif
