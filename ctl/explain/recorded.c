/* recorded: the lives of a recording that were there at a time. What must stay true: what is said
 * of that time is said by the cores themselves, or by the rules on what they had been told. */
#include "ctl/explain/recorded.h"
#include "ctl/record/recall.h"
#include "proto/base/memory.h"

#include <stdio.h>
#include <string.h>

#define LIVES_MAX 256

bool recorded_take_time(struct recorded *r, const char *value)
{
    const char *dot = strchr(value, '.');
    int64_t whole = 1000000;
    for (const char *at = dot != NULL ? dot + 1 : ""; *at >= '0' && *at <= '9' && whole > 1; at++)
        whole /= 10;
    if (!moment_parse_wall(value, strlen(value), &r->at_us) || r->at_us <= 0)
        return false;
    r->at_us += whole - 1;
    return true;
}

static bool complain(const struct recorded *r, const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", r->command, r->path, what);
    return false;
}

static bool unpack(struct recorded *r)
{
    char error[512];
    const char *wrong = NULL;
    struct member m;
    struct archive *a = archive_open(r->path, error, sizeof(error));
    if (a == NULL) {
        fprintf(stderr, "%s: %s\n", r->command, error);
        return false;
    }
    r->lives = memory_take_array(LIVES_MAX, sizeof(*r->lives));
    while (wrong == NULL && member_next(a, &m, &wrong))
        if (m.process != QUEUE && m.process != SCHEDULER) {
            member_free(&m);
        } else if (r->count < LIVES_MAX) {
            r->lives[r->count++] = m;
        } else {
            member_free(&m);
            wrong = "has more lives of queues and schedulers than can be looked at";
        }
    archive_free(&a);
    return wrong == NULL || complain(r, wrong);
}

/* The one that was there then. */
static const struct member *life_at(const struct recorded *r, enum process process)
{
    const struct member *found = NULL;
    for (size_t i = 0; i < r->count; i++) {
        const struct member *m = &r->lives[i];
        if (m->process == process && m->began_us != 0 && m->began_us <= r->at_us &&
            (found == NULL || m->began_us > found->began_us))
            found = m;
    }
    return found;
}

static void find_end(struct recorded *r)
{
    int64_t end = 0; /* of the last scheduler's life */
    for (size_t i = 0; i < r->count; i++)
        if (r->lives[i].process == SCHEDULER && r->lives[i].ended_us > end)
            end = r->lives[i].ended_us;
    if (r->at_us == 0)
        r->at_us = end;
}

/* What is decided behind the end is not known. */
static bool is_within(const struct recorded *r)
{
    char when[32], text[128];
    int64_t end = 0;
    for (size_t i = 0; i < r->count; i++)
        end = r->lives[i].ended_us > end ? r->lives[i].ended_us : end;
    moment_print_micros(end, when, sizeof(when));
    snprintf(text, sizeof(text), "ends at %s, and nothing is known of what came later", when);
    return r->at_us <= end || complain(r, text);
}

static bool ask(const struct recall *question, struct message *answer, struct live *l)
{
    struct str error = {0};
    if (recall_ask(question, answer, &l->memory, &error))
        return true;
    fprintf(stderr, "%s: %.*s\n", l->asking.command, STR_ARG(error));
    return false;
}

static bool ask_all(const struct recorded *r, const struct member *queue, struct live *l)
{
    char folder[400];
    struct message explained, pending;
    const struct message of_scheduler = {
        .type = MSG_explain_request,
        .explain_request = {.namespace_name = l->namespace_name, .name = l->name}};
    const struct message of_queue = {
        .type = MSG_pending_request,
        .pending_request = {.namespace_name = l->namespace_name, .name = l->name}};
    const struct recall to_scheduler = {r->past.life, r->at_us, folder, &of_scheduler,
                                        MSG_explained};
    const struct recall to_queue = {queue, r->at_us, folder, &of_queue, MSG_pending_pods};
    if (!member_programs(r->command, folder, sizeof(folder)) ||
        !ask(&to_scheduler, &explained, l) || !ask(&to_queue, &pending, l))
        return false;
    l->explained = explained.explained;
    l->pending = pending.pending_pods;
    l->has_explained = l->has_pending = true;
    return true;
}

bool recorded_load(struct recorded *r, struct live *l)
{
    if (!unpack(r))
        return false;
    find_end(r);
    const struct member *queue = life_at(r, QUEUE);
    r->past.life = life_at(r, SCHEDULER);
    if (r->past.life == NULL || queue == NULL)
        return complain(r, "has no scheduler and queue of that time");
    if (!is_within(r) || !ask_all(r, queue, l))
        return false;
    r->past.space = l->namespace_name;
    r->past.name = l->name;
    r->past.entries = recall_find(r->past.life, r->at_us).entries;
    past_find(&r->past);
    l->world = past_world(&r->past, &l->explained, false);
    l->whole = l->world != NULL;
    return l->whole || complain(r, "the scheduler had not been told the whole cluster by then");
}

bool recorded_go_back(struct recorded *r, struct live *l)
{
    struct world *before = r->past.decided ? past_world(&r->past, &l->explained, true) : NULL;
    if (before == NULL)
        return false;
    r->later = l->world;
    l->world = before;
    return true;
}

bool recorded_return(struct recorded *r, struct live *l)
{
    if (r->later == NULL)
        return false;
    world_free(&l->world);
    l->world = r->later;
    r->later = NULL;
    return true;
}

void recorded_free(struct recorded *r)
{
    for (size_t i = 0; i < r->count; i++)
        member_free(&r->lives[i]);
    memory_free(r->lives);
    world_free(&r->later);
    past_free(&r->past);
}
