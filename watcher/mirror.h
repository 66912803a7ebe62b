/* mirror: what the API server holds of one kind, as far as the stream needs it.
 *
 * Turns objects into messages and gives them to the publisher; remembers of each object only its
 * identity and its version. */
#ifndef WATCHER_MIRROR_H
#define WATCHER_MIRROR_H

#include "proto/bus/stream.h"
#include "proto/kube/objects/objects.h"

struct mirror;

/* Both are borrowed; the publisher is freed first. */
struct mirror *mirror_new(const struct kube_resource *kind, struct publisher *publisher);
void mirror_free(struct mirror **m);
/* told hears what the stream is told, with the object behind it; of one that is gone NULL. */
void mirror_tell(struct mirror *m, void *context,
                 void (*told)(void *context, const struct message *what,
                              const struct kube_json *object));

/* Of pods and nodes also those annotations are told whose keys begin with one of these; borrowed.
 */
void mirror_annotate(struct mirror *m, const struct strs *prefixes);

/* amend may change what the stream is to be told of an object, with memory of the arena's. */
void mirror_amend(struct mirror *m, void *context,
                  void (*amend)(void *context, struct message *set, struct arena *a));
/* Amends anew what was told of the object with this id (namespace and name, or name), if it is
 * there. */
void mirror_again(struct mirror *m, struct str id);

/* What is known is read anew from the next list, changed or not. */
void mirror_doubt(struct mirror *m);
/* A list begins: what is not seen until mirror_list_end is then removed. */
void mirror_list_begin(struct mirror *m);
void mirror_list_end(struct mirror *m);
/* The object exists; listed: a list says so, which is the truth whatever the version. */
void mirror_object(struct mirror *m, const struct kube_json *object, bool listed);
void mirror_deleted(struct mirror *m, const struct kube_json *object);

/* Calls visit with what the stream was told last of each object. */
void mirror_each(const struct mirror *m, void (*visit)(void *context, const struct message *last),
                 void *context);
/* One object, as it was listed; strings are borrowed for the call. */
struct mirrored {
    struct str id, uid; /* id: namespace/name, or name */
    int64_t version;
    const struct stored *told; /* what the stream says of it; NULL: nothing */
};
/* Calls visit with each, whether it was understood or not. */
void mirror_visit(const struct mirror *m, void (*visit)(void *context, const struct mirrored *what),
                  void *context);
size_t mirror_count(const struct mirror *m);
/* Objects that cannot be understood as they are now. */
size_t mirror_unreadable(const struct mirror *m);
/* Objects that could not be understood, counted once a version. */
uint64_t mirror_malformed(const struct mirror *m);
/* Events that were older than what was known. */
/* Changes published so far that nobody waits for: of pods that were known and are on a node. */
uint64_t mirror_calm(const struct mirror *m);
uint64_t mirror_outdated(const struct mirror *m);

#endif
