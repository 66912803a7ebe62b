/* yaml_scalar: what an unquoted YAML scalar means. */
#ifndef KUBE_DOCUMENTS_YAML_SCALAR_H
#define KUBE_DOCUMENTS_YAML_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

enum yaml_kind { YAML_text, YAML_null, YAML_bool, YAML_integer, YAML_float, YAML_not_finite };

struct yaml_value {
    enum yaml_kind kind;
    bool truth;      /* YAML_bool */
    int64_t integer; /* YAML_integer */
    double number;   /* YAML_integer and YAML_float */
};

/* Resolves as the YAML library of Kubernetes does: YAML 1.1 booleans (y, yes, on, …), base
 * prefixes and leading zeros, underscores between digits; all else is text. */
struct yaml_value yaml_value_of(const char *text);

#endif
