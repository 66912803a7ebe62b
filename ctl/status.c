/* status: `berth status`, which asks every process of a run directory how it is, all at once and
 * within a bounded time. What must stay true: a process whose door is there but does not answer is
 * named and makes the exit status 1. */
#include "ctl/commands.h"
#include "proto/base/json_string.h"
#include "proto/base/memory.h"
#include "proto/bus/bus.h"
#include "proto/bus/options.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOORS_MAX 256
#define WAIT_MS   2000

struct door {
    char endpoint[200];
    bool answered;
    struct status status;
};

struct asking {
    const char *run_dir;
    struct bus_options bus;
    bool json, verbose;
    struct span wait;
    struct door doors[DOORS_MAX];
    size_t count, first; /* first: of the group that is being asked */
    struct arena arena;
};

/* ---- options ---- */

static bool take_run_dir(void *state, const char *value)
{
    ((struct asking *)state)->run_dir = value;
    return *value != 0;
}

static bool add_door(struct asking *a, const char *endpoint)
{
    if (a->count == DOORS_MAX || strlen(endpoint) >= sizeof(a->doors[0].endpoint))
        return false;
    snprintf(a->doors[a->count++].endpoint, sizeof(a->doors[0].endpoint), "%s", endpoint);
    return true;
}

static bool take_endpoint(void *state, const char *value)
{
    return strstr(value, "://") != NULL && add_door(state, value);
}

static bool take_output(void *state, const char *value)
{
    struct asking *a = state;
    a->json = strcmp(value, "json") == 0;
    return a->json || strcmp(value, "text") == 0;
}

static bool take_verbose(void *state, const char *value)
{
    (void)value;
    ((struct asking *)state)->verbose = true;
    return true;
}

static bool take_wait(void *state, const char *value)
{
    char *end;
    double seconds = strtod(value, &end);
    ((struct asking *)state)->wait = span_of_seconds(seconds > 0 ? seconds : 0);
    return end > value && *end == 0 && seconds > 0 && seconds <= 3600;
}

static bool take_curve_dir(void *state, const char *value)
{
    ((struct asking *)state)->bus.curve_dir = value;
    return *value != 0;
}

static bool take_allow_plain_tcp(void *state, const char *value)
{
    (void)value;
    ((struct asking *)state)->bus.allow_plain_tcp = true;
    return true;
}

static const struct own_option status_options[] = {
    {"run-dir", "DIR", "ask every *.sock in DIR (default: as for the processes)", take_run_dir},
    {"endpoint", "URL", "ask this door instead; may be repeated", take_endpoint},
    {"o", "text|json", "output format (default text)", take_output},
    {"v", NULL, "the bus's counters too: messages, refusals, peers", take_verbose},
    {"wait", "S", "seconds to wait for answers (default 2)", take_wait},
    {"curve-dir", "DIR", "CURVE keys, for tcp:// doors", take_curve_dir},
    {"allow-plain-tcp", NULL, "permit tcp without CURVE beyond loopback", take_allow_plain_tcp},
    {NULL, NULL, NULL, NULL},
};

static int by_endpoint(const void *a, const void *b)
{
    return strcmp(((const struct door *)a)->endpoint, ((const struct door *)b)->endpoint);
}

static void find_doors(struct asking *a)
{
    DIR *entries = opendir(a->run_dir);
    if (entries == NULL)
        return;
    for (struct dirent *e = readdir(entries); e; e = readdir(entries)) {
        size_t len = strlen(e->d_name);
        char endpoint[400];
        if (len <= 5 || strcmp(e->d_name + len - 5, ".sock") != 0)
            continue;
        snprintf(endpoint, sizeof(endpoint), "ipc://%s/%s", a->run_dir, e->d_name);
        if (!add_door(a, endpoint))
            fprintf(stderr, "berth status: %s left out\n", endpoint);
    }
    closedir(entries);
    qsort(a->doors, a->count, sizeof(a->doors[0]), by_endpoint);
}

/* ---- asking ---- */

static struct door *door_of(struct asking *a, const char *endpoint)
{
    for (size_t i = 0; endpoint && i < a->count; i++)
        if (strcmp(a->doors[i].endpoint, endpoint) == 0)
            return &a->doors[i];
    return NULL;
}

static void take(struct asking *a, struct bus *bus, const struct delivery *in)
{
    struct door *door = door_of(a, bus_endpoint_of(bus, in->from));
    if (door == NULL)
        return;
    if (in->message->type == MSG_status && !door->answered) {
        door->answered = true;
        codec_copy(message_info[MSG_status].record, &door->status, &in->message->status, &a->arena);
    }
    if (in->message->type != MSG_peer_up)
        return;
    struct outbox out = {0};
    struct message request = {.type = MSG_status_request};
    outbox_put(&out, in->from, &request);
    bus_send(bus, &out);
    outbox_free(&out);
}

static bool all_answered(const struct asking *a, size_t end)
{
    for (size_t i = a->first; i < end; i++)
        if (!a->doors[i].answered)
            return false;
    return true;
}

/* Asks as many doors as one bus may connect to, from a->first on. */
static bool ask_group(struct asking *a, size_t end, struct moment deadline)
{
    char error[512];
    a->bus.peer_count = 0;
    for (size_t i = a->first; i < end; i++)
        a->bus.peers[a->bus.peer_count++] = (struct bus_peer_option){ANY, a->doors[i].endpoint};
    struct bus *bus = bus_open(&a->bus, error, sizeof(error));
    if (bus == NULL) {
        fprintf(stderr, "berth status: %s\n", error);
        return false;
    }
    struct moment now = moment_now();
    while (!moment_reached(now, deadline) && !all_answered(a, end)) {
        struct delivery in;
        while (bus_receive(bus, now, &in))
            take(a, bus, &in);
        struct moment next = moment_earlier(deadline, bus_tick(bus, now));
        if (!all_answered(a, end))
            bus_wait(bus, -1, now, next);
        now = moment_now();
    }
    bus_close(&bus);
    return true;
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

static void print_text(const struct asking *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct door *door = &a->doors[i];
        const struct status *s = &door->status;
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

static void print_json(const struct asking *a)
{
    struct buffer out = {0};
    for (size_t i = 0; i < a->count; i++) {
        const struct door *door = &a->doors[i];
        buffer_add_text(&out, "{\"endpoint\":");
        json_string(&out, str_of(door->endpoint));
        buffer_add_text(&out, door->answered ? ",\"answered\":true" : ",\"answered\":false");
        if (door->answered) {
            buffer_add_text(&out, ",\"status\":");
            codec_print_json(message_info[MSG_status].record, &door->status, &out);
        }
        buffer_add_text(&out, "}\n");
    }
    fwrite(out.at, 1, out.len, stdout);
    buffer_free(&out);
}

static int ask_and_print(struct asking *a)
{
    struct moment deadline = moment_after(moment_now(), a->wait);
    for (a->first = 0; a->first < a->count; a->first += BUS_PEERS_MAX) {
        size_t end = a->first + BUS_PEERS_MAX < a->count ? a->first + BUS_PEERS_MAX : a->count;
        if (!ask_group(a, end, deadline))
            return 1;
    }
    if (a->json)
        print_json(a);
    else
        print_text(a);
    a->first = 0;
    return all_answered(a, a->count) ? 0 : 1;
}

int command_status(int argc, char **argv)
{
    struct asking *a = memory_take(sizeof(*a));
    struct options_table table = {.program = "berth status",
                                  .usage = "ask the processes of an instance how they are",
                                  .options = status_options,
                                  .state = a};
    a->bus = (struct bus_options){.process = TOOL, .no_door = true, .generation = 1};
    a->wait = span_of_ms(WAIT_MS);
    options_read(&table, argc, argv);
    if (a->run_dir == NULL)
        a->run_dir = options_run_dir();
    if (a->count == 0)
        find_doors(a);
    int status = 1;
    if (a->count == 0)
        fprintf(stderr, "berth status: no process has a door in %s\n", a->run_dir);
    else
        status = ask_and_print(a);
    arena_free(&a->arena);
    memory_free(a);
    return status;
}
