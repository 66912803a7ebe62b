/* JSON text to trees and back, without cJSON's own reader and printer, which were most of what the
 * server did. */
#ifndef APISERVER_TREE_TEXT_H
#define APISERVER_TREE_TEXT_H

#include <cjson/cJSON.h>

#include "support.h"

/* NULL: the text is wrong, or has something (an escape such as \u00e9, great depth) that is left to
 * cJSON's reader. */
cJSON *tree_text_read(const char *bytes, size_t size);
/* As cJSON prints it, without spaces. */
void tree_text_print(const cJSON *tree, struct buffer *out);

#endif
