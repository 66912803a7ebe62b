/* statuses: what all processes of an instance have answered, and what is made of it: a verdict, a
 * page for people, everything as JSON. All pure. */
#ifndef CTL_STATUS_STATUSES_H
#define CTL_STATUS_STATUSES_H

#include "ctl/ended.h"
#include "ctl/json_out.h"
#include "proto/messages.h"

struct process_status {
    const char *endpoint;
    bool answered;
    const struct status *said; /* then */
};

/* Everything is borrowed. */
struct statuses {
    size_t count;
    const struct process_status *at; /* in the order in which they are shown */
    bool whole; /* they should be a whole instance, and not a part, as in containers */
    const struct ended *ended; /* who has ended lately, and is started again */
    size_t ended_count;
    const struct pending_pods *pending; /* what waits, as the queue says; NULL: it did not */
};

/* The value of a key, and a field of it (NULL: the value itself, up to its first field); empty when
 * it is not said. */
struct str said_value(const struct status *s, const char *key, const char *field);
int64_t said_number(const struct status *s, const char *key, const char *field);
/* The next field of a value: name=text, where text goes up to the next field, or to the end for the
 * field error. What stands before the first one has an empty name. False: no more. */
bool said_field(struct str *rest, struct str *name, struct str *text);

enum verdict_state {
    VERDICT_deciding,
    VERDICT_standby,   /* another instance leads, and this one could */
    VERDICT_waiting,   /* it should decide, and does not */
    VERDICT_no_answer, /* of a process, or one is missing */
    VERDICT_answers    /* no scheduler is among them, and that is all that can be said */
};

struct verdict_said {
    enum verdict_state state;
    bool well;           /* deciding, or ready to */
    struct buffer text;  /* one line, without its end */
    struct buffer waits; /* the next: what is waiting, and why */
};

/* Zero-initialise; the buffers are the caller's to free. */
void verdict_say(const struct statuses *all, struct verdict_said *v);
const char *verdict_name(enum verdict_state state);
/* A line about each process, and what is wrong with it. */
void status_page(const struct statuses *all, struct buffer *out);
/* Every counter, those of the bus as well. */
void status_counters(const struct statuses *all, struct buffer *out);
/* One document: verdict, then each process with every counter, by its type. */
void status_json(const struct statuses *all, const struct verdict_said *v, struct json_out *j);

#endif
