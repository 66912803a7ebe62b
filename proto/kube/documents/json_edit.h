/* json_edit: changes of a JSON text in a few places. All other bytes stay as they are: blanks,
 * escapes, the spelling of numbers, members that nobody knows.
 *
 * A text must be an object that kube_json_parse reads. A path is a list of member names that ends
 * with NULL; the names are plain ASCII. Of several members of one name the last one counts. */
#ifndef KUBE_DOCUMENTS_JSON_EDIT_H
#define KUBE_DOCUMENTS_JSON_EDIT_H

#include "proto/base/buffer.h"

/* Puts a value (JSON) there; objects on the way are made where there are none. */
void json_edit_set(struct buffer *json, const char *const *path, struct str value);
/* Adds an item to a list, which is made where there is none. */
void json_edit_append(struct buffer *json, const char *const *path, struct str item);
/* Takes the member out, all that have its name. */
void json_edit_remove(struct buffer *json, const char *const *path);
/* Takes out of a list the items that are to go. */
void json_edit_filter(struct buffer *json, const char *const *path,
                      bool (*goes)(struct str item, const void *context), const void *context);
/* The text of the value of that member, borrowed; empty: there is none. */
struct str json_edit_member(struct str json, const char *name);
/* Whether the text is one whole value, so that it cannot leave the place that it is put into. */
bool json_edit_is_value(struct str text);

#endif
