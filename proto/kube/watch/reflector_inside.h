/* reflector_inside: the state of a reflector, shared by its files; nobody else includes it. */
#ifndef PROTO_KUBE_WATCH_REFLECTOR_INSIDE_H
#define PROTO_KUBE_WATCH_REFLECTOR_INSIDE_H

#include "proto/kube/access/backoff.h"
#include "proto/kube/watch/frames.h"
#include "proto/kube/watch/lines.h"
#include "proto/kube/watch/page.h"
#include "proto/kube/watch/reflector.h"

#define EVENT_MAX_BYTES  ((size_t)64 << 20) /* so a frame's first byte is at most 4 */
#define OBJECT_MAX_BYTES EVENT_MAX_BYTES    /* of a list */
#define PAGE_TIMEOUT_S   60

enum phase {
    WANT_list,
    LISTING,
    WANT_watch,
    WATCHING,
    WANT_discovery,
    DISCOVERING,
    WANT_version, /* of the list that reflector_catch_up asks for */
    ASKING_VERSION
};
enum form { FORM_unknown, FORM_lines, FORM_frames }; /* of a watch's stream */

struct reflector {
    struct reflector_options o;
    struct moment not_before; /* of the next request; 0: at once */
    uint64_t number;          /* of the request under way or made last */
    struct buffer path, next_page;
    const char *at;         /* the path that is asked: o.path or one of o.others */
    size_t missed;          /* paths in a row at which it is not served (404) */
    size_t searches;        /* of all paths, one after the other, without success or interruption */
    struct backoff backoff; /* requests that failed */
    struct backoff again;   /* watches that only a list could mend; not reset by the list, so that
                             * a watch that fails after each list makes no storm of lists */
    enum form form;
    struct lines lines;
    struct frames frames;
    struct page page;      /* the one under way */
    uint32_t limit;        /* objects that a page is asked for: fewer where pages fail, more where
                              lists expire */
    uint32_t limit_worked; /* pages in a row */
    bool page_begun;       /* list_begin was told, or the page is a later one */
    bool page_came;        /* some of it */
    bool asked_again;      /* it was, on another connection */
    struct str told;       /* an item of a list or an event of a watch, as it came, while its object
                              is told; borrowed */
    struct buffer found;   /* what has come of discovery's answer, or of the newest version's */
    struct arena arena;
    uint64_t lists_begun, lists_ended; /* numbers; a catch-up is a list, too */
    uint64_t lists, catch_ups;         /* that ended well */
    uint64_t objects;                  /* that there are, about: told twice they count twice */
    int64_t target;                    /* version that the watch has to reach; 0: none */
    int64_t list_version;              /* of the list under way */
    int64_t version;                   /* reached */
    struct moment opened, heard, bytes_at;
    unsigned watch_s;       /* after which the server ends this watch */
    uint64_t events_before; /* this watch */
    struct moment error_said;
    uint64_t watches, events, bookmarks, failures, malformed, stale;
    enum phase phase;
    uint32_t backwards;    /* lists in a row that were older than what we know */
    uint32_t missing;      /* lists in a row of what was served that are not any more (404) */
    bool distrust;         /* the next request's */
    bool unreachable;      /* the last request got no answer at all */
    bool relist;           /* a new list was asked for while one was under way */
    bool whole;            /* and must be told from the first to the last object */
    bool no_catch_up;      /* the server's watches do not tell how far they are */
    bool first_page;       /* the page under way is the first of its list */
    bool quiet;            /* what failed last is told by others, too */
    bool json_only;        /* protobuf was asked for and did not work */
    bool protobuf;         /* what came last */
    bool degraded, warned; /* done without; and the warning was given */
    bool absent;           /* not served, by the last list */
    bool served;           /* degraded, but there */
    bool looking;          /* absent, and somebody has spoken of it since */
    bool look_again;       /* has done so since the list under way began */
    struct moment asked;   /* when the last list was begun */
    char error[512];
};

/* ---- reflector_steps.c ---- */

/* How many paths there are, and the one of that number. */
size_t reflector_path_count(const struct reflector *r);
const char *reflector_path(const struct reflector *r, size_t number);

/* Tells of trouble once in a while; severe: nothing is known of this kind any more. */
void reflector_say(struct reflector *r, struct moment now, const char *text, bool severe);
/* A request has: what failed before is over. */
void reflector_worked(struct reflector *r, struct moment now);
bool reflector_asks_protobuf(const struct reflector *r);
void reflector_give_up_protobuf(struct reflector *r, const char *why);
/* The next phase, and when it may begin; 0: at once. */
void reflector_go(struct reflector *r, enum phase phase, struct moment not_before);
/* The phase is tried again after a pause. */
void reflector_fail(struct reflector *r, struct moment now, enum phase phase, int retry_after_s);
void reflector_not_served(struct reflector *r, struct moment now);
void reflector_do_without(struct reflector *r, struct moment now, enum phase phase);
/* What to do after a refusal (4xx), or any other answer that is no good. */
void reflector_refused(struct reflector *r, struct moment now, enum phase phase,
                       const struct kube_response *response);
void reflector_failed(struct reflector *r, struct moment now, enum phase phase,
                      const struct kube_response *response);
/* Nothing else mends it. */
void reflector_list_again(struct reflector *r, struct moment now, const char *why);
int64_t reflector_version_of(const struct kube_json *object);
struct kube_json *reflector_parse(struct reflector *r, struct str text, struct str *error);

/* ---- reflector_list.c ---- */

void reflector_page_data(struct reflector *r, struct moment now, struct str piece);
void reflector_list_response(struct reflector *r, struct moment now,
                             const struct kube_response *response);

/* ---- reflector_catch_up.c ---- */

/* How all is read that is true by now: WANT_list or WANT_version. */
enum phase reflector_how_to_read(const struct reflector *r);
void reflector_ask_version(struct reflector *r);
/* A piece of a short answer. It comes in pieces, or as a whole in the end; what is too long is cut
 * off, and then no JSON. */
void reflector_gather(struct reflector *r, struct str piece);
void reflector_version_response(struct reflector *r, struct moment now,
                                const struct kube_response *response);
/* The server ends a watch that is to catch up after so long. */
unsigned reflector_catch_up_s(void);
/* When a watch should have caught up and has not; never where it need not. */
struct moment reflector_late_at(const struct reflector *r);
/* The version has moved. */
void reflector_moved(struct reflector *r, struct moment now);
/* The watch did not come up to the target: the whole list is read. */
void reflector_not_caught_up(struct reflector *r, struct moment now, const char *why);

/* ---- reflector_watch.c ---- */

void reflector_read_event(struct reflector *r, struct moment now, struct str text_or_frame);
bool reflector_next_event(struct reflector *r, struct str *event, bool *too_long);
void reflector_watch_data(struct reflector *r, struct str piece);
void reflector_forget_stream(struct reflector *r);
void reflector_watch_response(struct reflector *r, struct moment now,
                              const struct kube_response *response);

#endif
