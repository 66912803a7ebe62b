/* status: `berth status`, which asks every process of a run directory how it is, all at once and
 * within a bounded time. What must stay true: a process whose door is there but does not answer is
 * named and makes the exit status 1. */
#include "ctl/asking.h"
#include "ctl/commands.h"
#include "proto/base/json_string.h"
#include "proto/base/memory.h"

#include <stdio.h>
#include <string.h>

struct asked {
    struct asking asking;
    bool verbose;
    struct status status[DOORS_MAX]; /* by door */
    struct arena arena;
};

/* ---- options ---- */

static bool take_verbose(void *state, const char *value)
{
    (void)value;
    ((struct asked *)state)->verbose = true;
    return true;
}

static const struct own_option status_options[] = {
    {"v", NULL, "the bus's counters too: messages, refusals, peers", take_verbose},
    {NULL, NULL, NULL, NULL},
};

static void take(void *state, size_t door, const struct message *answer)
{
    struct asked *a = state;
    codec_copy(message_info[MSG_status].record, &a->status[door], &answer->status, &a->arena);
}

/* ---- printing ---- */

static void print_uptime(int64_t ms)
{
    long long s = ms / 1000;
    if (s < 60)
        printf("%lld.%llds", s, (long long)(ms / 100 % 10));
    else if (s < 3600)
        printf("%lldm%02llds", s / 60, s % 60);
    else
        printf("%lldh%02lldm", s / 3600, s / 60 % 60);
}

static void print_labels(const struct label *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        printf("    %-28.*s %.*s\n", STR_ARG(at[i].key), STR_ARG(at[i].value));
}

static void print_text(const struct asked *a)
{
    for (size_t i = 0; i < a->asking.count; i++) {
        const struct door *door = &a->asking.doors[i];
        const struct status *s = &a->status[i];
        if (!door->answered) {
            printf("%s  no answer\n", door->endpoint);
            continue;
        }
        printf("%.*s (%.*s)  pid %lld  up ", STR_ARG(s->instance), STR_ARG(s->process),
               (long long)s->pid);
        print_uptime(s->uptime_ms);
        printf("  term %lld  generation %lld\n", (long long)s->term, (long long)s->generation);
        print_labels(s->lines.at, s->lines.count);
        if (a->verbose)
            print_labels(s->counters.at, s->counters.count);
    }
}

static void print_json(const struct asked *a)
{
    struct buffer out = {0};
    for (size_t i = 0; i < a->asking.count; i++) {
        const struct door *door = &a->asking.doors[i];
        buffer_add_text(&out, "{\"endpoint\":");
        json_string(&out, str_of(door->endpoint));
        buffer_add_text(&out, door->answered ? ",\"answered\":true" : ",\"answered\":false");
        if (door->answered) {
            buffer_add_text(&out, ",\"status\":");
            codec_print_json(message_info[MSG_status].record, &a->status[i], &out);
        }
        buffer_add_text(&out, "}\n");
    }
    fwrite(out.at, 1, out.len, stdout);
    buffer_free(&out);
}

int command_status(int argc, char **argv)
{
    static const struct message request = {.type = MSG_status_request};
    struct asked *a = memory_take(sizeof(*a));
    struct options_table table = {.program = "berth status",
                                  .usage = "ask the processes of an instance how they are",
                                  .options = status_options,
                                  .state = a,
                                  .more = asking_options,
                                  .more_state = &a->asking};
    asking_init(&a->asking, table.program);
    a->asking.request = &request;
    a->asking.answer = MSG_status;
    a->asking.take = take;
    a->asking.state = a;
    options_read(&table, argc, argv);
    bool asked = asking_ask(&a->asking);
    if (asked && a->asking.json)
        print_json(a);
    else if (asked)
        print_text(a);
    int status = asked && asking_complete(&a->asking) ? 0 : 1;
    arena_free(&a->arena);
    memory_free(a);
    return status;
}
