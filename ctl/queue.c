/* queue: `berth queue`, which pods wait, in the columns of kubectl's tables. What must stay true:
 * what is not shown is counted. */
#include "ctl/asking.h"
#include "ctl/commands.h"
#include "proto/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 8
#define CELL    256

struct shown {
    struct asking asking;
    struct message request;
    struct pending_pods pending;
    struct arena arena;
};

/* ---- options ---- */

static bool take_node(void *state, const char *value)
{
    ((struct shown *)state)->request.pending_request.node = str_of(value);
    return *value != 0;
}

static bool take_namespace(void *state, const char *value)
{
    ((struct shown *)state)->request.pending_request.namespace_name = str_of(value);
    return *value != 0;
}

static bool take_limit(void *state, const char *value)
{
    char *end;
    long limit = strtol(value, &end, 10);
    ((struct shown *)state)->request.pending_request.limit = limit;
    return end > value && *end == 0 && limit >= 1 && limit <= 1000;
}

static const struct own_option queue_options[] = {
    {"node", "NODE", "only pods that have a claim on this node", take_node},
    {"n", "NAMESPACE", "only pods of this namespace", take_namespace},
    {"limit", "N", "show at most so many, of 1000 (default 1000)", take_limit},
    {NULL, NULL, NULL, NULL},
};

static void take(void *state, size_t door, const struct message *answer)
{
    (void)door;
    struct shown *s = state;
    codec_copy(message_info[MSG_pending_pods].record, &s->pending, &answer->pending_pods,
               &s->arena);
}

/* ---- printing ---- */

static void print_span(int64_t ms, char out[CELL])
{
    int64_t s = ms / 1000;
    if (s < 120)
        snprintf(out, CELL, "%" PRId64 "s", s);
    else if (s < 7200)
        snprintf(out, CELL, "%" PRId64 "m%" PRId64 "s", s / 60, s % 60);
    else
        snprintf(out, CELL, "%" PRId64 "h%" PRId64 "m", s / 3600, s / 60 % 60);
}

static void print_plugins(const struct strs *names, char out[CELL])
{
    size_t len = 0;
    snprintf(out, CELL, "<none>");
    for (uint32_t i = 0; i < names->count && len < CELL; i++)
        len += (size_t)snprintf(out + len, CELL - len, "%s%.*s", i > 0 ? "," : "",
                                STR_ARG(names->at[i]));
}

static void fill_row(const struct pending_pod *p, char row[COLUMNS][CELL])
{
    snprintf(row[0], CELL, "%.*s", STR_ARG(p->namespace_name));
    snprintf(row[1], CELL, "%.*s", STR_ARG(p->name));
    snprintf(row[2], CELL, "%.*s", STR_ARG(words_text(&pending_place_words, p->place)));
    snprintf(row[3], CELL, "%" PRId64, p->priority);
    snprintf(row[4], CELL, "%" PRId64, p->attempts);
    print_span(p->waiting_ms, row[5]);
    snprintf(row[6], CELL, "%.*s",
             STR_ARG(p->nominated_node.len > 0 ? p->nominated_node : STR_LITERAL("<none>")));
    print_plugins(&p->rejected_by, row[7]);
}

static void print_row(char row[COLUMNS][CELL], const int width[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++)
        printf("%-*s%s", i + 1 < COLUMNS ? width[i] : 0, row[i], i + 1 < COLUMNS ? "   " : "\n");
}

static void print_table(const struct pending_pods *p)
{
    static char row[COLUMNS][CELL];
    static char head[COLUMNS][CELL] = {"NAMESPACE", "NAME", "PLACE",          "PRIORITY",
                                       "ATTEMPTS",  "AGE",  "NOMINATED NODE", "REJECTED BY"};
    int width[COLUMNS];
    if (p->total == 0) {
        puts("No pods wait.");
        return;
    }
    for (int i = 0; i < COLUMNS; i++)
        width[i] = (int)strlen(head[i]);
    for (uint32_t k = 0; k < p->pods.count; k++) {
        fill_row(&p->pods.at[k], row);
        for (int i = 0; i < COLUMNS; i++)
            width[i] = (int)strlen(row[i]) > width[i] ? (int)strlen(row[i]) : width[i];
    }
    print_row(head, width);
    for (uint32_t k = 0; k < p->pods.count; k++) {
        fill_row(&p->pods.at[k], row);
        print_row(row, width);
    }
    if (p->total > p->pods.count)
        printf("and %" PRId64 " more\n", p->total - p->pods.count);
}

static void print_json(const struct pending_pods *p)
{
    struct buffer out = {0};
    codec_print_json(message_info[MSG_pending_pods].record, p, &out);
    printf("%.*s\n", (int)out.len, out.at);
    buffer_free(&out);
}

int command_queue(int argc, char **argv)
{
    struct shown *s = memory_take(sizeof(*s));
    struct options_table table = {.program = "berth queue",
                                  .usage = "show the pods that wait, those that wait longest first",
                                  .options = queue_options,
                                  .state = s,
                                  .more = asking_options,
                                  .more_state = &s->asking};
    asking_init(&s->asking, table.program);
    s->request.type = MSG_pending_request;
    s->asking.request = &s->request;
    s->asking.whom = QUEUE;
    s->asking.answer = MSG_pending_pods;
    s->asking.take = take;
    s->asking.state = s;
    options_read(&table, argc, argv);
    int status = 1;
    if (asking_ask(&s->asking)) {
        status = asking_complete(&s->asking) ? 0 : 1;
        if (status != 0)
            fprintf(stderr, "berth queue: no queue has answered\n");
        else if (s->asking.json)
            print_json(&s->pending);
        else
            print_table(&s->pending);
    }
    arena_free(&s->arena);
    memory_free(s);
    return status;
}
