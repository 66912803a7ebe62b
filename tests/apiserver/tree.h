/* Reading and changing JSON trees (cJSON) by dotted paths such as "spec.nodeName". */
#ifndef APISERVER_TREE_H
#define APISERVER_TREE_H

#include <cjson/cJSON.h>

#include "support.h"

/* Makes cJSON allocate through support.c; call once before anything else here. */
void tree_setup(void);

/* The member of an object by its exact name; NULL when absent or when this is no object. */
cJSON *tree_member(const cJSON *object, const char *name);
/* The item at a dotted path; NULL when a step is missing. A JSON null counts as missing. */
cJSON *tree_get(const cJSON *root, const char *path);
const char *tree_string(const cJSON *root, const char *path, const char *otherwise);
double tree_number(const cJSON *root, const char *path, double otherwise);
bool tree_bool(const cJSON *root, const char *path);
/* The same, but NULL when it is no object: for loops that use the names of the members. */
cJSON *tree_map(const cJSON *root, const char *path);
/* The object at a dotted path, made (or put in place of a null) where it is missing. */
cJSON *tree_make(cJSON *root, const char *path);
/* Sets a member, in place where it exists; takes the value. */
void tree_set(cJSON *object, const char *name, cJSON *value);
void tree_set_string(cJSON *object, const char *name, const char *value);
void tree_set_number(cJSON *object, const char *name, double value);
/* Sets a member only where it is missing or null, and only in an object; takes the value. */
void tree_default(cJSON *object, const char *name, cJSON *value);
void tree_default_string(cJSON *object, const char *name, const char *value);
void tree_remove(cJSON *object, const char *name);
/* Gives a member another name; NULL for what is no member. */
void tree_rename(cJSON *item, const char *name);
/* Exchanges item, a child of parent, for value, which is taken; item is freed. */
void tree_exchange(cJSON *parent, cJSON *item, cJSON *value);
bool tree_same(const cJSON *a, const cJSON *b);
cJSON *tree_copy(const cJSON *tree);
cJSON *tree_parse(const char *bytes, size_t size);
/* Compact JSON. */
struct blob *tree_print(const cJSON *tree);

#endif
