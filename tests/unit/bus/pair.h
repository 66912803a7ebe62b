/* pair: buses with real sockets in a private directory, and bounded ways to wait for what they do;
 * for the bus tests. Time is the real clock, but nothing is asserted about how long things take. */
#ifndef PAIR_H
#define PAIR_H

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/bus/bus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_MS  30000
#define HEARTBEAT_MS 100

struct scene {
    char dir[64];
    char error[512];
};

/* What a bus handed out last, copied. */
struct seen {
    struct delivery in;
    struct message message;
    struct arena arena;
    char reason[32], instance[65];
};

static inline int scene_open(void **state)
{
    struct scene *scene = memory_take(sizeof(*scene));
    snprintf(scene->dir, sizeof(scene->dir), "/tmp/berth-test-XXXXXX");
    assert_non_null(mkdtemp(scene->dir));
    log_open("test", LOG_LEVEL_error);
    *state = scene;
    return 0;
}

static inline int scene_close(void **state)
{
    struct scene *scene = *state;
    char command[128];
    snprintf(command, sizeof(command), "rm -r '%s'", scene->dir);
    assert_int_equal(system(command), 0);
    memory_free(scene);
    return 0;
}

static inline struct bus_options options_for(const struct scene *scene, enum process process)
{
    return (struct bus_options){.process = process,
                                .run_dir = scene->dir,
                                .generation = 1,
                                .heartbeat = span_of_ms(HEARTBEAT_MS)};
}

static inline void add_peer(struct bus_options *o, enum process process)
{
    o->peers[o->peer_count++].process = process;
}

static inline struct bus *open_bus(struct scene *scene, const struct bus_options *o)
{
    struct bus *bus = bus_open(o, scene->error, sizeof(scene->error));
    if (bus == NULL)
        fail_msg("%s", scene->error);
    return bus;
}

static inline struct bus *open_door(struct scene *scene, enum process process)
{
    struct bus_options o = options_for(scene, process);
    return open_bus(scene, &o);
}

static inline struct bus *open_caller(struct scene *scene, enum process process, enum process peer)
{
    struct bus_options o = options_for(scene, process);
    add_peer(&o, peer);
    return open_bus(scene, &o);
}

static inline void keep(struct seen *seen, const struct delivery *in)
{
    arena_reset(&seen->arena);
    seen->in = *in;
    seen->message = *in->message;
    codec_copy(message_info[in->message->type].record, message_body(&seen->message),
               message_body_const(in->message), &seen->arena);
    snprintf(seen->instance, sizeof(seen->instance), "%.*s", STR_ARG(in->instance));
    seen->reason[0] = 0;
    if (in->message->type == MSG_peer_down)
        snprintf(seen->reason, sizeof(seen->reason), "%.*s",
                 STR_ARG(words_text(&down_reason_words, in->message->peer_down.reason)));
}

/* Runs both (other may be NULL) until bus hands out a message of this type; what else comes out of
 * either is thrown away. False when patience ends. */
static inline bool await(struct bus *bus, struct bus *other, enum message_type type,
                         struct seen *seen)
{
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    for (struct moment now = moment_now(); !moment_reached(now, end); now = moment_now()) {
        struct delivery in;
        while (other && bus_receive(other, now, &in))
            continue;
        if (other)
            bus_tick(other, now);
        while (bus_receive(bus, now, &in))
            if (in.message->type == type) {
                if (seen)
                    keep(seen, &in);
                return true;
            }
        bus_tick(bus, now);
        bus_wait(bus, -1, moment_now(), moment_after(moment_now(), span_of_ms(5)));
    }
    return false;
}

/* Runs both until cond(bus) holds. */
static inline bool run_until(struct bus *bus, struct bus *other,
                             bool (*cond)(struct bus *bus, void *arg), void *arg)
{
    struct moment end = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    for (struct moment now = moment_now(); !moment_reached(now, end); now = moment_now()) {
        struct delivery in;
        while (bus_receive(bus, now, &in))
            continue;
        bus_tick(bus, now);
        while (other && bus_receive(other, now, &in))
            continue;
        if (other)
            bus_tick(other, now);
        if (cond(bus, arg))
            return true;
        bus_wait(bus, -1, moment_now(), moment_after(moment_now(), span_of_ms(5)));
    }
    return false;
}

/* Both know each other. */
static inline void meet(struct bus *door, struct bus *caller)
{
    assert_true(await(caller, door, MSG_peer_up, NULL));
}

static inline void send_message(struct bus *bus, struct address to, const struct message *m)
{
    struct outbox out = {0};
    outbox_put(&out, to, m);
    bus_send(bus, &out);
    outbox_free(&out);
}

/* An argv of literals; nobody writes to it. */
static inline char **arguments(const char *const *argv)
{
    return (char **)(uintptr_t)argv;
}

static inline void seen_free(struct seen *seen)
{
    arena_free(&seen->arena);
}

#endif
