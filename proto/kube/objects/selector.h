/* selector: label keys and values, node selector terms and label selectors, as upstream has them.
 *
 * Pure functions over the records. Error texts are upstream's, so that they can be shown as they
 * are. */
#ifndef KUBE_OBJECTS_SELECTOR_H
#define KUBE_OBJECTS_SELECTOR_H

#include "proto/base/buffer.h"
#include "proto/messages.h"

/* Upstream's IsQualifiedName and IsValidLabelValue. */
bool kube_label_key_valid(struct str key);
bool kube_label_value_valid(struct str value);
/* The same, adding upstream's explanation to why (joined by "; ") when it is not valid. */
bool kube_label_key_explain(struct str key, struct buffer *why);
bool kube_label_value_explain(struct str value, struct buffer *why);

/* What a requirement's operator_name says. */
enum kube_operator {
    OPERATOR_In,
    OPERATOR_NotIn,
    OPERATOR_Exists,
    OPERATOR_DoesNotExist,
    OPERATOR_Gt,
    OPERATOR_Lt,
    OPERATOR_unknown
};
enum kube_operator kube_operator_of(struct str name);

/* Whether a requirement without faults holds for a value that is there, or for none. */
bool requirement_holds(const struct requirement *r, bool there, struct str value);

/* The value of a label in a list sorted by key; false when the key is absent. */
bool kube_label_find(const struct label *labels, uint32_t count, struct str key, struct str *value);

/* False for a term in error (upstream then lets it match nothing); adds to errors, separated by
 * ", ", one `path.matchExpressions[0].values: Invalid value: …` for each fault. */
bool node_term_check(const struct node_term *term, const char *path, struct buffer *errors);
/* Whether the term holds for a node. A term without any requirement, and one in error, matches
 * nothing; why (may be NULL) then gets the error, with a path that begins at the term. */
bool node_term_matches(const struct node_term *term, const struct node *node, struct buffer *why);
/* Whether any of a volume's terms holds for the node. As in upstream's CheckNodeAffinity the node
 * has no more than its labels there: fields say nothing, unless they are in error. */
bool node_labels_match(const struct node *node, const struct node_term *terms, uint32_t count);

/* Label selectors: all labels and all expressions must hold. Expressions know In, NotIn, Exists and
 * DoesNotExist. An erroneous requirement ends the check: error (may be NULL) gets what upstream's
 * LabelSelectorAsSelector says of it, several faults in brackets. */
bool label_selector_check(const struct selector *selector, struct buffer *error);
/* labels sorted by key. An erroneous selector matches nothing. */
bool label_selector_matches(const struct selector *selector, const struct label *labels,
                            uint32_t count);

#endif
