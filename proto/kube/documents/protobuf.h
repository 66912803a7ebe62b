/* protobuf: the API server's answers in application/vnd.kubernetes.protobuf as the tree that their
 * JSON gives, less what nobody reads.
 *
 * What is read stands in protobuf.def. Lengths are checked before they are trusted, nesting is
 * bounded by the table; memory is a fixed multiple of the body. */
#ifndef KUBE_DOCUMENTS_PROTOBUF_H
#define KUBE_DOCUMENTS_PROTOBUF_H

#include "proto/kube/documents/json.h"

#define KUBE_TYPE_PROTOBUF "application/vnd.kubernetes.protobuf"
#define KUBE_TYPE_JSON     "application/json"
/* Accept header of requests whose answers are read by kube_answer_parse: a server that does not
 * know protobuf, or not for this kind, answers in JSON. */
#define KUBE_ACCEPT_BOTH KUBE_TYPE_PROTOBUF "," KUBE_TYPE_JSON ";q=0.9"

/* True for bodies in protobuf: they begin with four bytes that no JSON begins with. */
bool kube_protobuf_is(struct str body);
/* What a body in protobuf says that it is, such as Pod; empty when that is malformed. */
struct str kube_protobuf_kind(struct str body);
/* True for kinds, such as Pod, of which protobuf is read. */
bool kube_protobuf_knows(struct str kind);

/* One answer: an object, a list of objects, or a Status. The tree is freed by kube_json_free, and
 * borrows the body until then. NULL when malformed or of a kind that is not known; error (may be
 * NULL) then says where, in memory of the arena. */
struct kube_json *kube_protobuf_parse(struct str body, struct str *error, struct arena *a);
/* One event of a watch, without the length in front of it: an object with "type" and "object". */
struct kube_json *kube_protobuf_parse_event(struct str frame, struct str *error, struct arena *a);
/* The object of such an event as a body of its own, borrowed from the frame; false: malformed. */
bool kube_protobuf_event_object(struct str frame, struct str *body);

/* One object of that kind, without an envelope, as it stands in a list. */
struct kube_json *kube_protobuf_parse_item(struct str kind, struct str message, struct str *error,
                                           struct arena *a);

/* An answer of either type, told apart by its first bytes; of JSON without managedFields. What is
 * opaque to the API (a driver's parameters) is a string in both: the bytes as they came. */
struct kube_json *kube_answer_parse(struct str body, struct str *error, struct arena *a);

#endif
