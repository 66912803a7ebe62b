/* doors: who is there, who has answered what. What must stay true: a page never waits for longer
 * than ASK_MS, and a process that does not answer is not taken for well. */
#include "ctl/serve/doors.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/metrics.h"

#include <stdio.h>
#include <string.h>

#define POLL_MS    1000
#define ASK_MS     1500
#define CHECKS_MAX METRIC_CHECKS_MAX
#define TEXT_MAX   200

struct said {
    char name[48], reason[TEXT_MAX], note[TEXT_MAX];
};

struct door {
    const char *name;
    struct address peer; /* peer 0: not there */
    char process[16];    /* its kind; "" until it has answered */
    struct moment heard;
    int64_t asked, answered; /* numbers of questions */
    struct said checks[CHECKS_MAX];
    size_t check_count;
    int64_t release; /* that it decides as, as it said last */
};

struct doors {
    struct door *at;
    size_t count;
    struct totals *totals;
    int64_t question;
    struct moment question_asked, poll_at;
    char text[TEXT_MAX + 64]; /* of the last answer of doors_check */
};

struct doors *doors_new(const char *const *names, size_t count)
{
    struct doors *d = memory_take(sizeof(*d));
    d->at = memory_take_array(count + 1, sizeof(*d->at));
    d->count = count;
    d->totals = totals_new(count + 1);
    for (size_t i = 0; i < count; i++)
        d->at[i].name = names[i];
    return d;
}

void doors_free(struct doors **doors)
{
    if (*doors == NULL)
        return;
    totals_free(&(*doors)->totals);
    memory_free((*doors)->at);
    memory_free(*doors);
    *doors = NULL;
}

static void take_checks(struct door *door, const struct metrics *said)
{
    door->check_count = 0;
    for (uint32_t i = 0; i < said->checks.count && i < CHECKS_MAX; i++) {
        struct said *check = &door->checks[door->check_count++];
        snprintf(check->name, sizeof(check->name), "%.*s", STR_ARG(said->checks.at[i].name));
        snprintf(check->reason, sizeof(check->reason), "%.*s", STR_ARG(said->checks.at[i].reason));
        snprintf(check->note, sizeof(check->note), "%.*s", STR_ARG(said->checks.at[i].note));
    }
}

static void take_answer(struct doors *d, struct moment now, size_t i, const struct metrics *said)
{
    struct door *door = &d->at[i];
    snprintf(door->process, sizeof(door->process), "%.*s", STR_ARG(said->process));
    door->heard = now;
    take_checks(door, said);
    if (said->release != 0)
        door->release = said->release;
    if (said->id == 0) /* checks only */
        return;
    if (said->id > door->answered)
        door->answered = said->id;
    totals_take(d->totals, i, said);
}

void doors_handle(struct doors *d, struct moment now, size_t door, const struct delivery *in)
{
    must(door < d->count);
    struct door *at = &d->at[door];
    if (in->message->type == MSG_peer_up) {
        at->peer = in->from;
        d->poll_at = now;
    } else if (in->message->type == MSG_peer_down && in->from.peer == at->peer.peer) {
        at->peer.peer = 0;
        totals_set_up(d->totals, door, false);
    } else if (in->message->type == MSG_metrics) {
        take_answer(d, now, door, &in->message->metrics);
    }
}

struct moment doors_tick(struct doors *d, struct moment now, struct outbox *out)
{
    if (!moment_reached(now, d->poll_at))
        return d->poll_at;
    struct message m = {.type = MSG_metrics_request, .metrics_request = {.checks_only = true}};
    doors_tell(d, &m, out);
    d->poll_at = moment_after(now, span_of_ms(POLL_MS));
    return d->poll_at;
}

void doors_tell(const struct doors *d, const struct message *m, struct outbox *out)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->at[i].peer.peer != 0)
            outbox_put(out, d->at[i].peer, m);
}

int64_t doors_ask(struct doors *d, struct moment now, struct outbox *out)
{
    struct message m = {.type = MSG_metrics_request, .metrics_request = {.id = ++d->question}};
    for (size_t i = 0; i < d->count; i++)
        if (d->at[i].peer.peer != 0)
            d->at[i].asked = d->question;
    d->question_asked = now;
    doors_tell(d, &m, out);
    return d->question;
}

bool doors_answered(const struct doors *d, struct moment now, int64_t question)
{
    bool late = moment_reached(now, moment_after(d->question_asked, span_of_ms(ASK_MS)));
    for (size_t i = 0; i < d->count && !late; i++)
        if (d->at[i].peer.peer != 0 && d->at[i].asked >= question && d->at[i].answered < question)
            return false;
    return true;
}

struct totals *doors_totals(struct doors *d)
{
    return d->totals;
}

static const struct said *said_of(const struct door *door, const char *check)
{
    static const struct said nothing;
    for (size_t i = 0; i < door->check_count; i++)
        if (strcmp(door->checks[i].name, check) == 0)
            return &door->checks[i];
    return &nothing;
}

const char *doors_check(struct doors *d, struct moment now, const char *process, const char *check,
                        struct span patience)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct door *door = &d->at[i];
        if (strcmp(door->process, process) != 0 ||
            moment_reached(now, moment_after(door->heard, patience)))
            continue;
        const char *reason = said_of(door, check)->reason;
        if (*reason == 0)
            return "";
        snprintf(d->text, sizeof(d->text), "%s: %s", door->name, reason);
        return d->text;
    }
    snprintf(d->text, sizeof(d->text), "%s does not answer", process);
    return d->text;
}

const char *doors_note(struct doors *d, struct moment now, const char *process, const char *check,
                       struct span patience)
{
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->at[i].process, process) == 0 &&
            !moment_reached(now, moment_after(d->at[i].heard, patience)))
            return said_of(&d->at[i], check)->note;
    return "";
}

int64_t doors_release(const struct doors *d, const char *process)
{
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->at[i].process, process) == 0 && d->at[i].release != 0)
            return d->at[i].release;
    return 0;
}

/* The silence of the one of that kind that was heard last; nothing: none ever was. */
static bool heard_last(const struct doors *d, const char *process, const struct door **last)
{
    *last = NULL;
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->at[i].process, process) == 0 &&
            (*last == NULL || d->at[i].heard.ns > (*last)->heard.ns))
            *last = &d->at[i];
    return *last != NULL;
}

const char *doors_silent(struct doors *d, struct moment now, struct span patience)
{
    static const char *const kinds[] = {"watcher", "queue", "scheduler", "binder", "worker"};
    const struct door *last;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!heard_last(d, kinds[i], &last) ||
            !moment_reached(now, moment_after(last->heard, patience)))
            continue;
        snprintf(d->text, sizeof(d->text), "%s has not answered for %lld s", last->name,
                 (long long)(span_ms(moment_since(now, last->heard)) / 1000));
        return d->text;
    }
    return "";
}
