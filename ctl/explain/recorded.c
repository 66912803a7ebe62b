/* recorded: the lives of a recording that were there at a time. What must stay true: what is said
 * of that time is said by the cores themselves, or by the rules on what they had been told. */
#include "ctl/explain/recorded.h"
#include "ctl/record/recall.h"

#include <stdio.h>

bool recorded_take_time(struct recorded *r, const char *value)
{
    return recall_time(value, &r->at_us);
}

static bool complain(const struct recorded *r, const char *what)
{
    return lives_complain(&r->lives, what);
}

/* What is decided behind the end is not known. */
static bool is_within(const struct recorded *r)
{
    char when[32], text[128];
    int64_t end = 0;
    for (size_t i = 0; i < r->lives.count; i++)
        end = r->lives.at[i].ended_us > end ? r->lives.at[i].ended_us : end;
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

static bool ask_scheduler(const struct recorded *r, const char *folder, struct live *l)
{
    struct message explained;
    const struct message question = {
        .type = MSG_explain_request,
        .explain_request = {.namespace_name = l->namespace_name, .name = l->name}};
    if (!ask(&(struct recall){r->past.life, r->at_us, folder, &question, MSG_explained}, &explained,
             l))
        return false;
    l->explained = explained.explained;
    l->has_explained = true;
    return true;
}

/* Of what was imported there is none. */
static bool ask_queue(const struct recorded *r, const char *folder, struct live *l)
{
    struct message pending = {.type = MSG_pending_pods};
    const struct member *queue = lives_then(&r->lives, QUEUE, r->at_us);
    const struct message question = {
        .type = MSG_pending_request,
        .pending_request = {.namespace_name = l->namespace_name, .name = l->name}};
    if (queue != NULL &&
        !ask(&(struct recall){queue, r->at_us, folder, &question, MSG_pending_pods}, &pending, l))
        return false;
    l->pending = pending.pending_pods;
    l->has_pending = true;
    return true;
}

bool recorded_load(struct recorded *r, struct live *l)
{
    char folder[400] = "";
    r->lives.command = r->command;
    r->lives.path = r->path;
    if (!lives_unpack(&r->lives))
        return false;
    if (r->at_us == 0)
        r->at_us = r->lives.ended_us;
    r->past.life = lives_then(&r->lives, SCHEDULER, r->at_us);
    if (r->past.life == NULL)
        return complain(r, "has no scheduler of that time");
    if (!is_within(r) || !member_programs(r->command, folder, sizeof(folder)) ||
        !ask_scheduler(r, folder, l) || !ask_queue(r, folder, l))
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
    lives_free(&r->lives);
    world_free(&r->later);
    past_free(&r->past);
}
