/* explain: what is known of one pod, and what is decided about it now; for explain.c, which finds
 * it out, and text.c and json.c, which say it. */
#ifndef CTL_EXPLAIN_H
#define CTL_EXPLAIN_H

#include "ctl/explain/live.h"
#include "ctl/record/past.h"
#include "ctl/report.h"

struct explanation {
    const struct live *live;
    struct pod pod;
    bool there;                        /* the watcher has the pod */
    const struct pending_pod *waiting; /* as the queue has it; NULL: it is not there */
    const struct framework *framework; /* NULL: no profile of ours places it */
    struct pod tried;                  /* as if it had no node */
    struct report now;                 /* that, decided now, or then */
    int64_t at_us;                     /* out of a recording: the time; 0: now */
    int64_t then_us;                   /* and of the decision that was decided again; 0: none was */
    const struct past_decision *told;  /* as that was made; NULL: it is not kept */
    bool agrees;                       /* it comes out so again */
    const struct past *past;           /* with then_us: what extenders were asked for it */
    bool answers_used;                 /* and what they said is in it, and in the report's nodes */
    struct strs members;               /* of its group that wait, without this one; names */
    int64_t members_bound;
    struct gang group; /* with a name: the pod's */
    /* what is to be said */
    struct str node; /* one node in full; empty: none */
    bool names;      /* of the nodes behind each reason */
    int64_t top;     /* how many of the best nodes */
};

/* The command: see commands.h. */
int command_explain(int argc, char **argv);

/* Which events may wake a pod that these plugins have turned away, a line each, from the arena. */
struct strs explain_wakes(const struct strs *plugins, int64_t release, struct arena *a);
/* Who has a say in what is decided now (or, of a recording, then) and was not asked, and whose
 * answers of then are used instead, as sentences from the arena; empty: the rules alone decide.
 * group: of what is decided with the pod's group, to which no answers are known. */
struct str explain_note(const struct explanation *e, bool group, struct arena *a);
void explain_text(const struct explanation *e, struct buffer *out, struct arena *a);
/* Members of an object that is open. */
void explain_json(const struct explanation *e, struct json_out *out, struct arena *a);

#endif
