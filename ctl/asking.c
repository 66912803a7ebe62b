/* asking: finds the doors of a run directory, and asks who is behind them. What must stay true:
 * however many do not answer, it ends when the time is over. */
#include "ctl/asking.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    ((struct asking *)state)->named = true;
    return strstr(value, "://") != NULL && add_door(state, value);
}

static bool take_output(void *state, const char *value)
{
    struct asking *a = state;
    a->json = strcmp(value, "json") == 0;
    return a->json || strcmp(value, "text") == 0;
}

static bool take_wait(void *state, const char *value)
{
    double seconds = 0;
    bool taken = options_decimal(value, 0.001, 3600, &seconds);
    ((struct asking *)state)->wait = span_of_seconds(taken ? seconds : 0);
    return taken;
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

static char wait_doc[64]; /* as the command's asking_init has it: there is one command */

const struct own_option asking_options[] = {
    {"o", "text|json", "output format (default text)", take_output},
    {"run-dir", "DIR", "ask every *.sock in DIR (default: as for the processes)", take_run_dir},
    {"endpoint", "URL", "ask this door instead; may be repeated", take_endpoint},
    {"wait", "S", wait_doc, take_wait},
    {"curve-dir", "DIR", "CURVE keys, for tcp:// doors", take_curve_dir},
    {"allow-plain-tcp", NULL, "permit tcp without CURVE beyond loopback", take_allow_plain_tcp},
    {NULL, NULL, NULL, NULL},
};

void asking_init(struct asking *a, const char *command, unsigned wait_s)
{
    snprintf(wait_doc, sizeof(wait_doc), "seconds to wait for answers (default %u)", wait_s);
    *a = (struct asking){.command = command,
                         .bus = {.process = TOOL, .no_door = true, .generation = 1},
                         .wait = span_of_seconds(wait_s),
                         .whom = ANY};
}

/* ---- doors ---- */

static int by_endpoint(const void *a, const void *b)
{
    return strcmp(((const struct door *)a)->endpoint, ((const struct door *)b)->endpoint);
}

/* 0, or the errno that says why the folder cannot be looked into. */
static int find_doors(struct asking *a)
{
    DIR *entries = opendir(a->run_dir);
    if (entries == NULL)
        return errno;
    for (struct dirent *e = readdir(entries); e; e = readdir(entries)) {
        size_t len = strlen(e->d_name);
        char endpoint[400];
        if (len <= 5 || strcmp(e->d_name + len - 5, ".sock") != 0)
            continue;
        snprintf(endpoint, sizeof(endpoint), "ipc://%s/%s", a->run_dir, e->d_name);
        if (!add_door(a, endpoint))
            fprintf(stderr, "%s: %s left out\n", a->command, endpoint);
    }
    closedir(entries);
    qsort(a->doors, a->count, sizeof(a->doors[0]), by_endpoint);
    return 0;
}

/* ---- asking ---- */

static size_t door_of(const struct asking *a, const char *endpoint)
{
    size_t i = 0;
    while (endpoint != NULL && i < a->count && strcmp(a->doors[i].endpoint, endpoint) != 0)
        i++;
    return endpoint != NULL ? i : a->count;
}

static void ask(struct asking *a, struct bus *bus, struct door *door, struct address whom)
{
    struct outbox out = {0};
    if ((whom.process & a->whom) == 0) {
        door->answered = true; /* it has nothing to say to this */
        return;
    }
    door->asked = true;
    outbox_put(&out, whom, a->request);
    bus_send(bus, &out);
    outbox_free(&out);
}

static void take(struct asking *a, struct bus *bus, const struct delivery *in)
{
    size_t i = door_of(a, bus_endpoint_of(bus, in->from));
    if (i == a->count)
        return;
    struct door *door = &a->doors[i];
    if (in->message->type == MSG_peer_up)
        ask(a, bus, door, in->from);
    if (in->message->type != a->answer || door->answered)
        return;
    door->answered = true;
    a->take(a->state, i, in->message);
}

static bool all_answered(const struct asking *a, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (!a->doors[i].answered)
            return false;
    return true;
}

/* Asks as many doors as one bus may connect to. */
static bool ask_group(struct asking *a, size_t first, size_t end, struct moment deadline)
{
    char error[512];
    a->bus.peer_count = 0;
    for (size_t i = first; i < end; i++)
        a->bus.peers[a->bus.peer_count++] = (struct bus_peer_option){ANY, a->doors[i].endpoint};
    struct bus *bus = bus_open(&a->bus, error, sizeof(error));
    if (bus == NULL) {
        fprintf(stderr, "%s: %s\n", a->command, error);
        return false;
    }
    struct moment now = moment_now();
    while (!moment_reached(now, deadline) && !all_answered(a, first, end)) {
        struct delivery in;
        while (bus_receive(bus, now, &in))
            take(a, bus, &in);
        struct moment next = moment_earlier(deadline, bus_tick(bus, now));
        if (!all_answered(a, first, end))
            bus_wait(bus, -1, now, next);
        now = moment_now();
    }
    bus_close(&bus);
    return true;
}

bool asking_find(struct asking *a)
{
    if (a->run_dir == NULL)
        a->run_dir = options_run_dir();
    int error = a->count == 0 ? find_doors(a) : 0;
    if (error != 0)
        fprintf(stderr, "%s: %s: %s%s\n", a->command, a->run_dir, strerror(error),
                error == EACCES ? " (it is for the user of berth run, and for root)" : "");
    else if (a->count == 0)
        fprintf(stderr, "%s: no process has a door in %s\n", a->command, a->run_dir);
    return a->count > 0;
}

bool asking_ask(struct asking *a)
{
    struct moment deadline = moment_after(moment_now(), a->wait);
    if (!asking_find(a))
        return false;
    for (size_t first = 0; first < a->count; first += BUS_PEERS_MAX) {
        size_t end = first + BUS_PEERS_MAX < a->count ? first + BUS_PEERS_MAX : a->count;
        if (!ask_group(a, first, end, deadline))
            return false;
    }
    return true;
}

bool asking_complete(const struct asking *a)
{
    bool any = a->whom == ANY;
    for (size_t i = 0; i < a->count; i++) {
        const struct door *door = &a->doors[i];
        any = any || (door->asked && door->answered);
        if (!door->answered && (a->whom == ANY || door->asked))
            return false;
    }
    return any;
}
