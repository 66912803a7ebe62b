/* queue: `berth queue`, which pods wait, in the columns of kubectl's tables. What must stay true:
 * what is not shown is counted. */
#include "ctl/asking.h"
#include "ctl/commands.h"
#include "ctl/tables/columns.h"
#include "proto/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct shown {
    struct columns_flags flags; /* first: see COLUMNS_OPTIONS */
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
    return options_number(value, 1, 1000, &((struct shown *)state)->request.pending_request.limit);
}

static const struct own_option queue_options[] = {
    {"node", "NODE", "only pods that have a claim on this node", take_node},
    {"n", "NAMESPACE", "only pods of this namespace", take_namespace},
    {"limit", "N", "show at most so many, of 1000 (default 1000)", take_limit},
    COLUMNS_OPTIONS,
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

static void fill_row(const struct pending_pod *p, bool wide, struct columns *t)
{
    columns_text(t, p->namespace_name);
    columns_text(t, p->name);
    columns_text(t, words_text(&pending_place_words, p->place));
    columns_i64(t, p->priority);
    columns_i64(t, p->attempts);
    columns_span(t, p->waiting_ms);
    columns_text(t, p->nominated_node);
    if (wide) {
        columns_next_try(t, p->backoff_ms);
        columns_text(t, p->uid);
    }
    columns_strs(t, &p->rejected_by);
}

static void fill_heads(bool wide, struct columns *t)
{
    static const char *const heads[] = {"NAMESPACE", "NAME", "PLACE",         "PRIORITY",
                                        "ATTEMPTS",  "AGE",  "NOMINATED NODE"};
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        columns_head(t, heads[i]);
    columns_head(t, wide ? "NEXT TRY" : NULL);
    columns_head(t, wide ? "UID" : NULL);
    columns_head(t, "REJECTED BY");
}

static bool print_table(const struct shown *s)
{
    const struct pending_pods *p = &s->pending;
    bool wide = s->flags.form == COLUMNS_wide;
    struct columns t = {.columns = 0};
    fill_heads(wide, &t);
    for (uint32_t k = 0; k < p->pods.count; k++)
        fill_row(&p->pods.at[k], wide, &t);
    bool shown = columns_show(&t, &s->flags, "berth queue", "");
    columns_free(&t);
    if (shown && p->total > p->pods.count)
        fprintf(stderr, "and %" PRId64 " more\n", p->total - p->pods.count);
    return shown;
}

static bool print_json(const struct shown *s)
{
    struct columns t = {.columns = 0};
    struct buffer out = {0};
    fill_heads(true, &t);
    bool can = columns_can_sort(&t, &s->flags, "berth queue");
    columns_free(&t);
    if (!can)
        return false;
    codec_print_json(message_info[MSG_pending_pods].record, &s->pending, &out);
    printf("%.*s\n", (int)out.len, out.at);
    buffer_free(&out);
    return true;
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
    asking_init(&s->asking, table.program, ASKING_WAIT_S);
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
        else if (!(s->flags.form == COLUMNS_json ? print_json : print_table)(s))
            status = 1;
    }
    arena_free(&s->arena);
    memory_free(s);
    return status;
}
