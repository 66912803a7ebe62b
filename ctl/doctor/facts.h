/* facts: what there is to know about a running berth, and what is found in it; pure. Whoever
 * gathers fills the facts in, each check looks at them and adds findings. */
#ifndef CTL_DOCTOR_FACTS_H
#define CTL_DOCTOR_FACTS_H

#include "ctl/ended.h"
#include "proto/base/arena.h"
#include "proto/messages.h"

#define ENDED_MOST    32
#define FINDINGS_MOST 10 /* of one check by name; the rest is counted */

/* A process as it said of itself, twice; all strings are borrowed. */
struct process_fact {
    struct str name; /* of its door: worker-1 */
    bool answered, answered_before;
    struct status now, before;
    const char *not_compared; /* why it could not be compared; NULL: it was */
};

struct pod_fact {
    struct str space, name, scheduler;
    int64_t age_s; /* since it was created */
    bool gated, deleting, reasoned, nominated;
    struct str gates;
};

struct facts {
    struct process_fact *processes;
    uint32_t process_count;
    struct ended ended[ENDED_MOST]; /* who has ended lately, and is started again */
    size_t ended_count;
    struct pod_fact *pods; /* without a node; with has_pods */
    uint32_t pod_count;
    bool has_pods;
    struct strs serves;  /* names of profiles; with has_serves */
    struct strs differs; /* lines: who holds something else than the others, settled */
    bool has_serves;
    int64_t between_ms; /* the two times */
    /* Thresholds. */
    int64_t for_s;   /* pods and groups may wait so long */
    int64_t gates_s; /* gates may be closed so long */
    int64_t lag_s;   /* what is to be written may lag so long, and the view be so old */
    int64_t slow_ms; /* an extender may take so long on average */
    int64_t young_s; /* a process is given that time after its start */
};

struct finding {
    const char *check;
    struct str object;  /* what it is about */
    int64_t since_s;    /* for so long; -1: not known */
    struct str text;    /* what is wrong */
    const char *advice; /* what to do */
};

/* Zero-initialise. */
struct findings_list {
    struct finding *at;
    uint32_t count, room;
    uint32_t of_check; /* of the check that is under way */
    struct arena memory;
};

struct check {
    const char *name;
    const char *looks_at;
    const char *advice;
    void (*look)(const struct facts *f, const struct check *check, struct findings_list *out);
};

extern const struct check process_checks[], pod_checks[];
extern const size_t process_check_count, pod_check_count;

/* All checks, in order. */
void doctor_look(const struct facts *f, struct findings_list *out);
void findings_free(struct findings_list *out);

/* ---- for checks ---- */

/* One more; the object is borrowed as long as the facts are. */
void find(struct findings_list *out, const struct check *check, struct str object, int64_t since_s,
          const char *format, ...) __attribute__((format(printf, 5, 6)));
/* A line of its status; empty: it is not there. */
struct str status_line(const struct status *s, const char *key);
/* A number in it, such as oldest_ms of lane_event; with an empty field the line itself. -1: none.
 */
int64_t status_number(const struct status *s, const char *key, const char *field);
/* A word in it, behind field=. */
struct str status_word(const struct status *s, const char *key, const char *field);
/* How much the number has grown between the two times; 0 when it is not known. */
int64_t grown(const struct process_fact *p, const char *key, const char *field);
bool is_kind(const struct process_fact *p, enum process kind);
/* It has answered both times, and was not started anew in between. */
bool is_same_life(const struct process_fact *p);
/* It has answered, and had time since its start. */
bool is_settled(const struct facts *f, const struct process_fact *p);

#endif
