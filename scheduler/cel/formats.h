/* formats: Kubernetes' named formats of texts, as format.dns1123Label() gives them. */
#ifndef CEL_FORMATS_H
#define CEL_FORMATS_H

#include "scheduler/cel/value.h"

/* What a text is checked against; there is one of each, so two are the same when they are one. */
struct format {
    const char *name; /* as format.named() knows it */
    uint32_t size;    /* of the pattern that upstream counts the cost by, in characters */
    /* Appends what is wrong with the text to a list of texts. */
    struct value (*check)(struct pool *p, struct str text, struct value faults);
};

/* NULL for another name. */
const struct format *format_named(struct str name);

#endif
