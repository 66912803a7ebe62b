/* question: what is known of one `extend` while its extenders are called; pure. */
#ifndef SCHEDULER_EXTENDER_QUESTION_H
#define SCHEDULER_EXTENDER_QUESTION_H

#include "proto/base/moment.h"
#include "proto/bus/outbox.h"
#include "proto/kube/extenders/extender_wire.h"
#include "proto/kube/extenders/extenders.h"

enum question_stage { STAGE_filters, STAGE_scores, STAGE_victims };

/* A request that is on its way. */
struct question_call {
    uint64_t id;     /* ours */
    uint64_t number; /* the port's */
    uint32_t extender;
    struct str verb;
    const struct victim *victim; /* of get_pod: NULL: the pod itself */
    struct str *object;          /* where its JSON goes */
};

struct question {
    struct question *next;
    struct arena arena; /* of everything here */
    struct address from;
    struct extend ask;
    struct str pod;      /* its JSON */
    struct str *victims; /* JSON of all candidates' victims, in order; NULL: not needed */
    enum question_stage stage;
    uint32_t filter, scorer;           /* places in ask.extenders: whose turn it is */
    struct strs left;                  /* nodes that passed so far, sorted; part of ask.nodes */
    struct extender_refusal **refused; /* by place in ask.nodes; NULL: no reason was given */
    int64_t *score;                    /* likewise */
    bool bare;
    bool waits; /* for a node to become known */
    struct moment patience;
    struct str unknown;
    struct question_call *calls;
    uint32_t call_count, call_room;
    /* the answer */
    struct str error;
    bool gone, ignored;
    struct {
        uint32_t count;
        struct candidate *at;
    } chosen;
};

/* A copy of the message. */
struct question *question_new(const struct extend *ask, struct address from);
void question_free(struct question *q);
/* A new call of that id, otherwise empty; valid until the next. */
struct question_call *question_call(struct question *q, uint64_t id);
/* Takes the call of that id out; false when there is none. */
bool question_take_call(struct question *q, uint64_t id, struct question_call *call);
/* What an extender's filter leaves. Empty, or why the answer is no good; then nothing has changed.
 */
struct str question_filter(struct question *q, const struct wire_filtered *said,
                           const struct extender_config *e);
/* Adds an extender's scores; nodes that were not asked about are left alone, as upstream does. */
void question_score(struct question *q, const struct wire_scores *said, int64_t weight);
/* The answer; borrowed from the question. */
void question_tell(struct question *q, struct extended *out);
/* A pod's JSON with no more than its names. */
void question_bare_pod(const struct victim *v, struct buffer *out);

#endif
