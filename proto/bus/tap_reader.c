/* tap_reader: one subscribing socket for each tap, found by their files in a run directory or
 * named. The one idea: a tap is its address, so a process that comes back is heard again without a
 * word. What must stay true: it only ever receives. */
#include "proto/bus/tap_reader.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/bus/wire.h"

#include <czmq.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define TAPS_MAX 1024

struct tap_reader {
    const char *run_dir;
    struct wires wires;
    struct wire *taps;
    size_t count, turn;
    zpoller_t *poller;
    zmq_msg_t message;
};

static bool listen_to(struct tap_reader *reader, const char *endpoint)
{
    for (size_t i = 0; i < reader->count; i++)
        if (strcmp(reader->taps[i].endpoint, endpoint) == 0)
            return true;
    if (reader->count == TAPS_MAX) {
        snprintf(reader->wires.error, sizeof(reader->wires.error),
                 "%.200s: already listening to %d taps", endpoint, TAPS_MAX);
        return false;
    }
    if (!wire_open(&reader->wires, &reader->taps[reader->count], WIRE_tap_reader, endpoint))
        return false;
    must(zpoller_add(reader->poller, reader->taps[reader->count].socket) == 0);
    reader->count++;
    return true;
}

struct tap_reader *tap_reader_open(const struct tap_reader_options *o, char *error, size_t room)
{
    struct tap_reader *reader = memory_take(sizeof(*reader));
    reader->run_dir = o->run_dir;
    reader->taps = memory_take_array(TAPS_MAX, sizeof(*reader->taps));
    zmq_msg_init(&reader->message);
    reader->poller = zpoller_new(NULL);
    must(reader->poller != NULL);
    zpoller_set_nonstop(reader->poller, true); /* signals are the owner's business */
    bool opened = wires_open(&reader->wires, o->curve_dir, TOOL, o->allow_plain_tcp);
    for (size_t i = 0; opened && i < o->endpoint_count; i++)
        opened = listen_to(reader, o->endpoints[i]);
    if (opened) {
        tap_reader_discover(reader);
        return reader;
    }
    snprintf(error, room, "%s", reader->wires.error);
    tap_reader_close(&reader);
    return NULL;
}

void tap_reader_close(struct tap_reader **closing)
{
    struct tap_reader *reader = *closing;
    if (reader == NULL)
        return;
    zpoller_destroy(&reader->poller);
    zmq_msg_close(&reader->message);
    for (size_t i = 0; i < reader->count; i++)
        wire_close(&reader->taps[i]);
    wires_close(&reader->wires);
    memory_free(reader->taps);
    memory_free(reader);
    *closing = NULL;
}

void tap_reader_discover(struct tap_reader *reader)
{
    DIR *entries = reader->run_dir ? opendir(reader->run_dir) : NULL;
    if (entries == NULL)
        return;
    for (struct dirent *e = readdir(entries); e; e = readdir(entries)) {
        size_t len = strlen(e->d_name);
        char name[ENDPOINT_MAX], endpoint[ENDPOINT_MAX];
        if (len <= 4 || len >= sizeof(name) || strcmp(e->d_name + len - 4, ".tap") != 0)
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(len - 4), e->d_name);
        if (!endpoint_in_dir(endpoint, reader->run_dir, name, "tap") ||
            !listen_to(reader, endpoint))
            log_debug("tap left out|path=%s/%s", reader->run_dir, e->d_name);
    }
    closedir(entries);
}

size_t tap_reader_count(const struct tap_reader *reader)
{
    return reader->count;
}

bool tap_reader_next(struct tap_reader *reader, struct str *tapped)
{
    for (size_t i = 0; i < reader->count; i++) {
        struct wire *wire = &reader->taps[reader->turn++ % reader->count];
        if (!wire_receive(wire, NULL, &reader->message))
            continue;
        *tapped =
            (struct str){zmq_msg_data(&reader->message), (uint32_t)zmq_msg_size(&reader->message)};
        return true;
    }
    return false;
}

void tap_reader_wait(struct tap_reader *reader, struct moment now, struct moment deadline)
{
    int64_t wait_ms = moment_reached(now, deadline) ? 0 : span_ms(moment_since(deadline, now)) + 1;
    zpoller_wait(reader->poller, wait_ms < INT_MAX ? (int)wait_ms : INT_MAX);
}
