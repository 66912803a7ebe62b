/* rules: what a member of an API object is, by its name, whether it comes in JSON or protobuf. */
#ifndef CTL_REDACT_RULES_H
#define CTL_REDACT_RULES_H

#include "ctl/redact/names.h"

enum rule_form {
    RULE_plain,    /* a text, a list of texts, or an object whose members count by their names */
    RULE_labels,   /* an object of names by keys */
    RULE_selector, /* the same, or a label selector */
    RULE_notes,    /* annotations: the same, of which those that nobody reads go */
    RULE_amounts,  /* an object of what stays, by keys */
    RULE_by_key,   /* an object of objects by keys */
    RULE_nested    /* a text that is JSON itself */
};

struct rule {
    enum rule_form form;
    enum text_class text; /* what its texts are */
};

struct rule rules_member(struct str name);
/* What an annotation's text is. */
enum text_class rules_note(struct str key, struct str text);

#endif
