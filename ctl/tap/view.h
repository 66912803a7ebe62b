/* view: one mirrored frame as a line of text or JSON, the filters before it, and the count of
 * what was missed; pure, so that live taps, recordings and tests go through the same code. */
#ifndef CTL_TAP_VIEW_H
#define CTL_TAP_VIEW_H

#include "ctl/tap/attempts.h"
#include "ctl/tap/query.h"
#include "proto/base/map.h"
#include "proto/messages.h"

#define TAP_PROCESSES_MAX 8
#define TAP_UIDS_MAX      32

struct tap_filter {
    struct str processes[TAP_PROCESSES_MAX]; /* kinds or names, on either side; none = all */
    size_t process_count;
    bool types[MSG_COUNT]; /* wanted messages, if any_type */
    bool any_type;         /* false: all but heartbeats */
    struct str pod_uid;    /* empty = any pod */
    struct str pod_namespace, pod_name;
    /* of a pod that was asked for by name: its UIDs, as messages tell them; the newest ones */
    struct str learned[TAP_UIDS_MAX];
    size_t learned_count;
    bool both;                 /* show a message where it was sent and where it was received */
    const struct query *query; /* NULL: none */
    bool query_marks;          /* what does not fulfil the query passes, too: view->fulfils says */
};

/* What one tapped process has mirrored so far. */
struct tap_source {
    int64_t last;
    uint64_t missed;
};

/* The last one of a sender that was shown where it arrived. */
struct tap_arrived {
    int64_t sent_us, link; /* of the envelope */
};

struct tap_view {
    struct tap_filter filter;
    struct map *sources; /* name → struct tap_source */
    struct map *lives;   /* name/incarnation → int64_t: when it sent the first that it mirrored */
    struct map *arrived; /* of a sender that was not tapped yet: name/incarnation>receiver → struct
                          * tap_arrived */
    uint64_t missed, undecodable;
    uint64_t missed_asked; /* of missed, what tap_view_missed_before has told */
    bool told; /* from a recording that says itself what was missed: jumps mean nothing */
    struct tap_answers *answers;
    struct tap_attempts *attempts;
    /* of the frame looked at last */
    struct arena arena, body_arena;
    struct tapped tapped;
    struct envelope envelope;
    struct message message;
    const char *refusal; /* why it cannot be decoded; NULL when it can */
    bool of_pod;         /* it belongs to the pod that was asked for, and no other tap shows it */
    bool fulfils;        /* the query, if there is one */
};

void tap_view_init(struct tap_view *view);
void tap_view_free(struct tap_view *view);
/* "KIND", "NAME"; "TYPE" or "TYPE,TYPE"; "NAMESPACE/NAME" or "UID", 36 characters: false when it
 * makes no sense. The text must outlive the filter. */
bool tap_filter_process(struct tap_filter *filter, const char *text);
bool tap_filter_message(struct tap_filter *filter, const char *text);
bool tap_filter_pod(struct tap_filter *filter, const char *text);
/* Decodes the record, counts what is missing before it, and tells whether it is to be shown. */
bool tap_view_take(struct tap_view *view, struct str tapped);
/* A frame that was let pass belongs to the pod that was asked for, as the one taken last has shown:
 * it is looked at in place of that one. False: there is none (more). The bytes are valid until the
 * next frame is taken. */
bool tap_view_recall(struct tap_view *view, struct str *tapped);
/* Looks at a frame that was taken already, without counting it. */
void tap_view_again(struct tap_view *view, struct str tapped);
/* How many frames were missed, of all processes, since this was asked. */
uint32_t tap_view_missed_before(struct tap_view *view);
/* So many frames were missed, as a recording says. */
void tap_view_count_missed(struct tap_view *view, uint32_t missed);
/* Learns who is tapped from a record, and the UIDs of the pod that was asked for, without anything
 * else: for a first pass over a recording. True when view->tapped says who that was. */
bool tap_view_learn(struct tap_view *view, struct str tapped);
/* Appends the line of the frame taken last, with its line end. */
void tap_view_print(const struct tap_view *view, bool json, struct buffer *out);
/* True when the record, or one inside it, speaks of the filter's pod. Learns its UID. */
bool tap_mentions_pod(const struct record *r, const void *object, struct tap_filter *filter);

#endif
