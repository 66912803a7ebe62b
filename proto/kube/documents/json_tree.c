/* json_tree: the memory of documents. The one idea: values and the few texts that are made for them
 * come out of blocks that grow with the document, so that a document is a handful of allocations.
 * What must stay true: memory is a fixed multiple of what was made. */
#include "proto/kube/documents/json_tree.h"

#include "proto/base/memory.h"

#define BLOCK_LEAST 16
#define BLOCK_MOST  65536
#define NOTES_LEAST 1024 /* bytes */
#define NOTES_MOST  262144

/* Bytes of texts. */
struct json_notes {
    struct json_notes *next;
    size_t used, room;
    char at[];
};

struct json_document *json_document_new(size_t likely)
{
    struct json_document *d = memory_resize(NULL, sizeof(*d));
    *d = (struct json_document){.likely = likely};
    return d;
}

void json_document_grow(struct json_document *d)
{
    size_t room = d->blocks != NULL ? d->blocks->room * 2 : d->likely;
    room = room < BLOCK_LEAST ? BLOCK_LEAST : room > BLOCK_MOST ? BLOCK_MOST : room;
    struct json_block *b = memory_resize(NULL, sizeof(*b) + room * sizeof(b->at[0]));
    *b = (struct json_block){.next = d->blocks, .room = room};
    d->blocks = b;
}

char *json_document_take(struct json_document *d, size_t len)
{
    struct json_notes *n = d->notes;
    if (n == NULL || n->room - n->used < len) {
        size_t room = n != NULL && n->room < NOTES_MOST ? n->room * 2 : NOTES_LEAST;
        room = n != NULL && n->room >= NOTES_MOST ? NOTES_MOST : room;
        room = room < len ? len : room;
        n = memory_resize(NULL, sizeof(*n) + room);
        *n = (struct json_notes){.next = d->notes, .room = room};
        d->notes = n;
    }
    n->used += len;
    return n->at + n->used - len;
}

void kube_json_free(struct kube_json **json)
{
    struct json_document *d = (struct json_document *)*json;
    if (d == NULL)
        return;
    while (d->blocks != NULL) {
        struct json_block *older = d->blocks->next;
        memory_free(d->blocks);
        d->blocks = older;
    }
    while (d->notes != NULL) {
        struct json_notes *older = d->notes->next;
        memory_free(d->notes);
        d->notes = older;
    }
    memory_free(d->text);
    memory_free(d);
    *json = NULL;
}
