/* ear: one subscribing socket for each tap, found by their files in a run directory or named. The
 * one idea: a tap is its address, so a process that comes back is heard again without a word. What
 * must stay true: it only ever receives. */
#include "proto/bus/ear.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/bus/wire.h"

#include <czmq.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define TAPS_MAX 1024

struct ear {
    const char *run_dir;
    struct wires wires;
    struct wire *taps;
    size_t count, turn;
    zpoller_t *poller;
    zmq_msg_t message;
};

static bool listen_to(struct ear *ear, const char *endpoint)
{
    for (size_t i = 0; i < ear->count; i++)
        if (strcmp(ear->taps[i].endpoint, endpoint) == 0)
            return true;
    if (ear->count == TAPS_MAX) {
        snprintf(ear->wires.error, sizeof(ear->wires.error), "%.200s: already listening to %d taps",
                 endpoint, TAPS_MAX);
        return false;
    }
    if (!wire_open(&ear->wires, &ear->taps[ear->count], WIRE_ear, endpoint))
        return false;
    must(zpoller_add(ear->poller, ear->taps[ear->count].socket) == 0);
    ear->count++;
    return true;
}

struct ear *ear_open(const struct ear_options *o, char *error, size_t room)
{
    struct ear *ear = memory_take(sizeof(*ear));
    ear->run_dir = o->run_dir;
    ear->taps = memory_take_array(TAPS_MAX, sizeof(*ear->taps));
    zmq_msg_init(&ear->message);
    ear->poller = zpoller_new(NULL);
    must(ear->poller != NULL);
    zpoller_set_nonstop(ear->poller, true); /* signals are the owner's business */
    bool opened = wires_open(&ear->wires, o->curve_dir, TOOL, o->allow_plain_tcp);
    for (size_t i = 0; opened && i < o->endpoint_count; i++)
        opened = listen_to(ear, o->endpoints[i]);
    if (opened) {
        ear_discover(ear);
        return ear;
    }
    snprintf(error, room, "%s", ear->wires.error);
    ear_close(&ear);
    return NULL;
}

void ear_close(struct ear **closing)
{
    struct ear *ear = *closing;
    if (ear == NULL)
        return;
    zpoller_destroy(&ear->poller);
    zmq_msg_close(&ear->message);
    for (size_t i = 0; i < ear->count; i++)
        wire_close(&ear->taps[i]);
    wires_close(&ear->wires);
    memory_free(ear->taps);
    memory_free(ear);
    *closing = NULL;
}

void ear_discover(struct ear *ear)
{
    DIR *entries = ear->run_dir ? opendir(ear->run_dir) : NULL;
    if (entries == NULL)
        return;
    for (struct dirent *e = readdir(entries); e; e = readdir(entries)) {
        size_t len = strlen(e->d_name);
        char name[ENDPOINT_MAX], endpoint[ENDPOINT_MAX];
        if (len <= 4 || len >= sizeof(name) || strcmp(e->d_name + len - 4, ".tap") != 0)
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(len - 4), e->d_name);
        if (!endpoint_in_dir(endpoint, ear->run_dir, name, "tap") || !listen_to(ear, endpoint))
            log_debug("tap left out|path=%s/%s", ear->run_dir, e->d_name);
    }
    closedir(entries);
}

size_t ear_count(const struct ear *ear)
{
    return ear->count;
}

bool ear_next(struct ear *ear, struct str *tapped)
{
    for (size_t i = 0; i < ear->count; i++) {
        struct wire *wire = &ear->taps[ear->turn++ % ear->count];
        if (!wire_receive(wire, NULL, &ear->message))
            continue;
        *tapped = (struct str){zmq_msg_data(&ear->message), (uint32_t)zmq_msg_size(&ear->message)};
        return true;
    }
    return false;
}

void ear_wait(struct ear *ear, struct moment now, struct moment deadline)
{
    int64_t wait_ms = moment_reached(now, deadline) ? 0 : span_ms(moment_since(deadline, now)) + 1;
    zpoller_wait(ear->poller, wait_ms < INT_MAX ? (int)wait_ms : INT_MAX);
}
