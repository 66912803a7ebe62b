/* under_way: a message as the bus hands it over: encoded and decoded, and gone when it was handled,
 * with all of it that nobody kept. */
#ifndef TESTS_SCHEDULER_UNDER_WAY_H
#define TESTS_SCHEDULER_UNDER_WAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "proto/bus/delivery.h"
#include "proto/bus/frame.h"

struct under_way {
    struct outbox bytes;
    struct arena memory;
    struct message message;
    struct delivery in;
};

/* To a worker from its scheduler. */
static void under_way_begin(struct under_way *u, const struct message *m, bool may_keep)
{
    *u = (struct under_way){.memory = {0}};
    outbox_put(&u->bytes, (struct address){WORKER, 1}, m);
    struct str body = outbox_body(&u->bytes, 0);
    const uint8_t *at = (const uint8_t *)body.at;
    assert_int_equal(frame_decode(&(struct envelope){.type = m->type},
                                  (struct byte_cursor){at, at + body.len}, &u->message, &u->memory),
                     REFUSED_nothing);
    u->in = (struct delivery){.from = {SCHEDULER, 1},
                              .message = &u->message,
                              .kept = may_keep && frame_is_kept(m->type) ? &u->memory : NULL};
}

static void under_way_end(struct under_way *u)
{
    outbox_free(&u->bytes);
    arena_free(&u->memory);
}

#endif
