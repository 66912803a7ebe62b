/* label_syntax: what the API accepts as a label's key and value. */
#ifndef SCHEDULER_LABEL_SYNTAX_H
#define SCHEDULER_LABEL_SYNTAX_H

#include "proto/base/str.h"

/* Upstream's IsQualifiedName: an optional DNS subdomain and a slash, then a name. */
bool label_key_valid(struct str key);
/* Upstream's IsValidLabelValue: empty, or like the name of a key. */
bool label_value_valid(struct str value);

#endif
