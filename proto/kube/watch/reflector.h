/* reflector: keeps up with one kind of object: a paged consistent list, then a watch from there,
 * again and again; a pure state machine.
 *
 * Who must know all that is true by now may ask for it: a whole list tells, or, where there are
 * many objects, the newest version, and a watch that has come up to it.
 *
 * It says which request it wants (reflector_next) and is told what came of it. Objects go to the
 * owner's functions. A request that was replaced by a newer one may still answer: that is ignored.
 * The list is a quorum read, so a list begun after an instant shows all that was true then. */
#ifndef KUBE_WATCH_REFLECTOR_H
#define KUBE_WATCH_REFLECTOR_H

#include "proto/base/moment.h"
#include "proto/base/str.h"
#include "proto/kube/access/client.h"
#include "proto/kube/documents/json.h"

/* What a reflector is about and whom it tells. Strings and context are borrowed. */
struct reflector_options {
    const char *name;          /* pods */
    const char *kind;          /* Pod */
    const char *path;          /* /api/v1/pods */
    const char *const *others; /* NULL, or where it may be instead, NULL last: other versions of the
                                * API, looked at in this order where the former is not served */
    const char *field_selector; /* "" or not yet escaped */
    bool required;              /* else: a missing right degrades with one warning */
    const char *label_selector; /* NULL, or not yet escaped */
    bool may_be_absent;         /* not served (404) is no fault: there are no objects then */
    bool discover;              /* and refused (403) it is asked for whether it is served at all */
    bool managers;              /* metadata.managedFields is wanted; JSON alone has it */
    bool protobuf;              /* ask for protobuf; answers in JSON are read as well */
    uint32_t page_size;         /* at most; less is asked for after failures. 0: 500 */
    uint32_t catch_up_from;     /* so many objects are not listed anew by reflector_catch_up; 0:
                                 * 50,000; UINT32_MAX: never */
    struct span stale_after;    /* a watch silent for this long is half-dead; 0: 90 s */
    uint64_t seed;              /* of the jitter */
    void *context;
    /* A list begins: what is not told until list_end does not exist. */
    void (*list_begin)(void *context);
    /* An object is there (listed: from a list, else a watch event). */
    void (*object)(void *context, const struct kube_json *object, bool listed);
    void (*deleted)(void *context, const struct kube_json *object);
    void (*list_end)(void *context);
};

struct reflector;

struct reflector *reflector_new(const struct reflector_options *options);
void reflector_free(struct reflector **r);

struct reflector_request {
    uint64_t number;     /* given back with what came of it */
    bool watch;          /* else a page of a list, which may be streamed as well */
    bool distrust;       /* the connection of the former one is to be given up */
    struct str path;     /* borrowed until the next call */
    const char *accept;  /* the types that are asked for; static */
    struct span timeout; /* 0: none */
};
/* True when it wants a request now; the former one, if any, is then to be cancelled. */
bool reflector_next(struct reflector *r, struct moment now, struct reflector_request *request);
/* A piece of the answer. */
void reflector_data(struct reflector *r, struct moment now, uint64_t number, struct str piece);
/* The end of a request; the body of a page that was not streamed comes with it. */
void reflector_response(struct reflector *r, struct moment now, uint64_t number,
                        const struct kube_response *response);
/* While object() is told: appends that object as a body of its own, as GET would have answered it
 * (JSON or protobuf, as it came). False: how it came is not known, or the body is not to be had, as
 * in pages that come whole. */
bool reflector_document(const struct reflector *r, struct buffer *out);
/* When reflector_next must be asked even if nothing came. */
struct moment reflector_deadline(const struct reflector *r);

/* Asks for a new list; returns the number of the list that answers it: reached when
 * reflector_lists_ended() is at least that. A list that is under way does not count. */
uint64_t reflector_relist(struct reflector *r);
/* Asks for all that is true by now: as reflector_relist, but the list may be one of which its
 * version alone is read, and which has ended when a watch has told everything up to that. What the
 * owner has missed or lost it does not hear again. */
uint64_t reflector_catch_up(struct reflector *r);
uint64_t reflector_lists_ended(const struct reflector *r);
/* The connection is known to be dead: a watch resumes with a new request; a page of which nothing
 * has come is asked for again, once. Nothing when neither is under way. */
void reflector_reconnect(struct reflector *r, struct moment now, const char *why);
/* Somebody speaks of such an object, though by the last list the kind is not served: it is looked
 * for again soon; one that is not listed yet, when its first list says so. Nothing when it is
 * served. */
void reflector_look(struct reflector *r, struct moment now);
/* Another request on the same connections was just answered: an open watch that is not stale itself
 * is thereby known to be alive; one that waits because the server could not be reached waits no
 * longer. */
void reflector_alive(struct reflector *r, struct moment now);

enum reflector_state {
    REFLECTOR_listing,
    REFLECTOR_watching,
    REFLECTOR_waiting,  /* after a failure */
    REFLECTOR_degraded, /* waiting long: not allowed, or not served */
    REFLECTOR_absent    /* not served, and need not be; looked for again */
};
struct reflector_status {
    enum reflector_state state;
    bool listed;         /* at least once */
    const char *path;    /* where it is listed; one of those that were given */
    bool served;         /* degraded: all the same it is there, says the server; else not known */
    bool looking;        /* absent: since reflector_look it was not looked for to the end */
    int64_t version;     /* resourceVersion reached */
    struct moment heard; /* known to be alive; 0: never */
    uint64_t lists, catch_ups; /* that ended well */
    uint64_t watches, events, bookmarks, failures, malformed, stale;
    bool protobuf;     /* what came last from a list or a watch was protobuf */
    const char *error; /* the last failure, "" after a success */
};
struct reflector_status reflector_status(const struct reflector *r);
const char *reflector_state_name(enum reflector_state state);

#endif
