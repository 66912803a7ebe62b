/* status: `berth status`, which asks every process of a run directory how it is, all at once and
 * within a bounded time, and says whether it is well.
 *
 * What must stay true: a process whose door is there but does not answer is named; the exit status
 * is the verdict's. */
#include "ctl/asking.h"
#include "ctl/commands.h"
#include "ctl/status/counters.h"
#include "ctl/status/statuses.h"
#include "proto/base/memory.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AGAIN_S 2

struct asked {
    struct asking asking;
    bool verbose, print_counters;
    double again_s;                  /* 0: once */
    struct status status[DOORS_MAX]; /* by door */
    struct pending_pods pending;
    bool has_pending;
    struct arena arena;
};

/* ---- options ---- */

static bool take_verbose(void *state, const char *value)
{
    (void)value;
    ((struct asked *)state)->verbose = true;
    return true;
}

static bool take_again(void *state, const char *value)
{
    double *again = &((struct asked *)state)->again_s;
    *again = AGAIN_S;
    return *value == 0 || options_decimal(value, 0.1, 3600, again);
}

static bool take_print_counters(void *state, const char *value)
{
    (void)value;
    ((struct asked *)state)->print_counters = true;
    return true;
}

static const struct own_option status_options[] = {
    {"v", NULL, "every counter, too; berth-counters(7) says what each means", take_verbose},
    {"w", "[SECONDS]", "again and again, every 2 seconds or as said, until it is interrupted",
     take_again},
    {"print-counters", NULL, "print the man page of all counters and end", take_print_counters},
    {NULL, NULL, NULL, NULL},
};

/* ---- asking ---- */

static void take(void *state, size_t door, const struct message *answer)
{
    struct asked *a = state;
    codec_copy(message_info[MSG_status].record, &a->status[door], &answer->status, &a->arena);
}

static void take_pending(void *state, size_t door, const struct message *answer)
{
    struct asked *a = state;
    (void)door;
    a->has_pending = true;
    codec_copy(message_info[MSG_pending_pods].record, &a->pending, &answer->pending_pods,
               &a->arena);
}

/* Why pods wait, if any do; without it only that is not said. */
static void ask_queue(struct asked *a)
{
    static const struct message request = {.type = MSG_pending_request};
    struct asking again = a->asking;
    again.request = &request;
    again.whom = QUEUE;
    again.answer = MSG_pending_pods;
    again.take = take_pending;
    again.count = 0;
    for (size_t i = 0; i < a->asking.count; i++)
        if (a->asking.doors[i].answered && str_is(a->status[i].process, "queue") &&
            said_number(&a->status[i], "pending", NULL) > 0) {
            again.doors[again.count] = a->asking.doors[i];
            again.doors[again.count].asked = again.doors[again.count].answered = false;
            again.count++;
        }
    if (again.count > 0)
        (void)asking_ask(&again);
}

static int rank(const struct process_status *p)
{
    static const char *const order[] = {"watcher", "queue",    "scheduler", "worker",
                                        "binder",  "extender", "tool"};
    int i = 0;
    while (p->answered && i < 7 && !str_is(p->said->process, order[i]))
        i++;
    return p->answered ? i : 8;
}

static int in_order(const void *one, const void *other)
{
    const struct process_status *a = one, *b = other;
    int difference = rank(a) - rank(b);
    if (difference != 0)
        return difference;
    return a->answered ? str_compare(a->said->instance, b->said->instance)
                       : strcmp(a->endpoint, b->endpoint);
}

/* ---- saying ---- */

static void say(const struct asked *a, const struct statuses *all, const struct verdict_said *v)
{
    struct buffer out = {0};
    if (a->asking.json) {
        struct json_out json = {.out = &out};
        status_json(all, v, &json);
    } else {
        buffer_print(&out, "%.*s\n", STR_ARG(buffer_str(&v->text)));
        if (v->waits.len > 0)
            buffer_print(&out, "%.*s\n", STR_ARG(buffer_str(&v->waits)));
        buffer_add_text(&out, "\n");
        status_page(all, &out);
        if (a->verbose) {
            buffer_add_text(&out, "\n");
            status_counters(all, &out);
        }
    }
    fwrite(out.at, 1, out.len, stdout);
    fflush(stdout);
    buffer_free(&out);
}

/* berth run keeps all processes in its run directory. */
static bool is_supervised(const struct asked *a)
{
    char path[256];
    int length = a->asking.named || a->asking.run_dir == NULL
                     ? 0
                     : snprintf(path, sizeof(path), "%s/berth.pid", a->asking.run_dir);
    return length > 0 && length < (int)sizeof(path) && access(path, F_OK) == 0;
}

/* Returns the exit status. */
static int look(struct asked *a)
{
    struct process_status at[DOORS_MAX];
    struct verdict_said v = {0};
    struct ended ended[DOORS_MAX];
    if (!asking_ask(&a->asking))
        return 1;
    ask_queue(a);
    for (size_t i = 0; i < a->asking.count; i++)
        at[i] = (struct process_status){.endpoint = a->asking.doors[i].endpoint,
                                        .answered = a->asking.doors[i].answered,
                                        .said = &a->status[i]};
    if (a->asking.count > 0)
        qsort(at, a->asking.count, sizeof(*at), in_order);
    bool whole = is_supervised(a);
    const struct statuses all = {.count = a->asking.count,
                                 .at = at,
                                 .whole = whole,
                                 .ended = ended,
                                 .ended_count =
                                     whole ? ended_read(a->asking.run_dir, ended, DOORS_MAX) : 0,
                                 .pending = a->has_pending ? &a->pending : NULL};
    verdict_say(&all, &v);
    say(a, &all, &v);
    buffer_free(&v.text);
    buffer_free(&v.waits);
    return v.well ? 0 : 1;
}

/* Doors come and go: they are looked for anew, unless they were named. */
static void look_again(struct asked *a)
{
    const struct asking first = a->asking;
    bool on_screen = isatty(STDOUT_FILENO) && !a->asking.json;
    for (;;) {
        if (on_screen)
            fputs("\033[H\033[2J", stdout);
        (void)look(a);
        a->asking = first;
        a->has_pending = false;
        arena_reset(&a->arena);
        if (ferror(stdout))
            return;
        (void)poll(NULL, 0, (int)(a->again_s * 1000));
    }
}

int command_status(int argc, char **argv)
{
    static const struct message request = {.type = MSG_status_request};
    struct asked *a = memory_take(sizeof(*a));
    struct options_table table = {.program = "berth status",
                                  .usage = "say whether an instance is well, and ask its processes "
                                           "how they are",
                                  .options = status_options,
                                  .state = a,
                                  .more = asking_options,
                                  .more_state = &a->asking};
    int status = 0;
    asking_init(&a->asking, table.program, ASKING_WAIT_S);
    a->asking.request = &request;
    a->asking.answer = MSG_status;
    a->asking.take = take;
    a->asking.state = a;
    options_read(&table, argc, argv);
    if (a->print_counters) {
        struct buffer page = {0};
        counters_print(&page);
        fwrite(page.at, 1, page.len, stdout);
        buffer_free(&page);
    } else if (a->again_s > 0) {
        look_again(a);
    } else {
        status = look(a);
    }
    arena_free(&a->arena);
    memory_free(a);
    return status;
}
