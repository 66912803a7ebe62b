/* schema_rows: a schema_1_NN.def as a struct schema_table. For the one file of each release that
 * includes it, with SCHEMA_FILE (the table) and SCHEMA_NAME (what it is called) defined. */
#include "ctl/schema_table.h"

/* Types by number. */
enum {
    TYPE_before = VALUE_types - 1,
#define SCHEMA_KIND(version, kind, type)
#define SCHEMA_TYPE(type) TYPE_##type,
#define SCHEMA_FIELD(name, form, value)
#define SCHEMA_END
#include SCHEMA_FILE
    TYPE_end,
};

#undef SCHEMA_TYPE
#undef SCHEMA_FIELD
#undef SCHEMA_END

/* clang-format off */
#define SCHEMA_TYPE(type)               static const struct schema_field fields_of_##type[] = {
#define SCHEMA_FIELD(name, form, value) {name, FORM_##form, value},
#define SCHEMA_END                      {NULL, FORM_one, VALUE_any}};
/* clang-format on */
#include SCHEMA_FILE
#undef SCHEMA_TYPE
#undef SCHEMA_FIELD
#undef SCHEMA_END

static const struct schema_field *const fields_of[TYPE_end - VALUE_types] = {
#define SCHEMA_TYPE(type) [TYPE_##type - VALUE_types] = fields_of_##type,
#define SCHEMA_FIELD(name, form, value)
#define SCHEMA_END
#include SCHEMA_FILE
};
#undef SCHEMA_KIND
#undef SCHEMA_TYPE
#undef SCHEMA_FIELD

static const struct schema_kind kinds[] = {
#define SCHEMA_KIND(version, kind, type) {version, kind, type},
#define SCHEMA_TYPE(type)
#define SCHEMA_FIELD(name, form, value)
#include SCHEMA_FILE
};

const struct schema_table SCHEMA_NAME = {fields_of, kinds, sizeof(kinds) / sizeof(kinds[0])};
