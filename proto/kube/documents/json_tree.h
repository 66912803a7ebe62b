/* json_tree: how a document lies in memory, for the readers that make one (json.c from text,
 * protobuf.c from protobuf). Everybody else asks through json.h.
 *
 * Values lie in few large blocks, in the order in which they are made. A value is made as the last
 * child of a container, and never changed once its reader has gone on. */
#ifndef KUBE_DOCUMENTS_JSON_TREE_H
#define KUBE_DOCUMENTS_JSON_TREE_H

#include "proto/kube/documents/json.h"

enum json_kind {
    JSON_null,
    JSON_false,
    JSON_true,
    JSON_number,
    JSON_string,
    JSON_array,
    JSON_object
};

struct kube_json {
    const struct kube_json *next;
    struct str name; /* in an object; ended by a zero byte */
    union {
        struct str text;
        struct {
            double number;
            int64_t whole; /* the same, where count says that it is one */
        };
        struct {
            struct kube_json *child, *last;
        };
    };
    uint32_t count; /* children; of a number 1: it is the integer in whole */
    enum json_kind kind;
};

struct json_block {
    struct json_block *next;
    size_t used, room;
    struct kube_json at[];
};

/* The root comes first: whoever has the root has the document. */
struct json_document {
    struct kube_json root;
    struct json_block *blocks; /* newest first */
    struct json_notes *notes;  /* newest first */
    char *text;                /* what strings point into; NULL: they are borrowed */
    size_t likely;             /* how many values there may be */
};

/* An empty document, for about so many values; freed by kube_json_free(&root). */
struct json_document *json_document_new(size_t likely);
/* Makes room for values; for json_add alone. */
void json_document_grow(struct json_document *d);
/* len bytes that live as long as the document. */
char *json_document_take(struct json_document *d, size_t len);

/* Appends a null to the container; the name, which ends in a zero byte, is borrowed. */
static inline struct kube_json *json_add(struct json_document *d, struct kube_json *container,
                                         struct str name)
{
    if (d->blocks == NULL || d->blocks->used == d->blocks->room)
        json_document_grow(d);
    struct kube_json *child = &d->blocks->at[d->blocks->used++];
    *child = (struct kube_json){.name = name};
    if (container->child != NULL)
        container->last->next = child;
    else
        container->child = child;
    container->last = child;
    container->count++;
    return child;
}

/* Makes the value an integer. */
static inline void json_put_whole(struct kube_json *value, int64_t whole)
{
    value->kind = JSON_number;
    value->number = (double)whole;
    value->whole = whole;
    value->count = 1;
}

#endif
