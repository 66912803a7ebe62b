/* hooks_world: binds on the real lanes, of which a test looks at what plugins' hooks make. */
#ifndef TEST_BINDER_HOOKS_WORLD_H
#define TEST_BINDER_HOOKS_WORLD_H

#include "binder/binds.h"
#include "binder/hooks/bus_hooks.h"
#include "tests/unit/binder/world.h"

#define PODS    "/api/v1/namespaces/default/pods/"
#define BINDING "POST " PODS "p/binding"

static struct world *w;
static struct bus_hooks *bus;
static struct binds *b;
static int answers; /* binds that have ended */

static void on_ended(void *owner, struct instant at, const struct bind *bind, bool bound)
{
    (void)owner;
    (void)at;
    (void)bind;
    (void)bound;
    answers++;
}

/* plugins: those in the program, up to a NULL; NULL: as it comes. */
static void begin_binds(const struct binder_plugin *const *plugins,
                        struct span (*fence)(const void *state, struct instant at))
{
    w = world_new();
    answers = 0;
    w->lanes = lanes_new(&(struct lanes_options){.api = world_api(w), .fence = fence});
    bus = bus_hooks_new();
    b = binds_new(
        &(struct binds_options){
            .api = world_api(w), .plugins = plugins, .bus = bus, .ended = on_ended},
        w->lanes);
}

static void end_binds(void)
{
    binds_free(&b);
    bus_hooks_free(&bus);
    world_free(w);
}

/* The one bind has its one answer; message: of a hook that failed. */
static void is_over(bool bound, const char *message)
{
    struct message m;
    binds_flush(b, &w->out);
    assert_int_equal(answers, 1);
    assert_int_equal(w->out.count, 1);
    assert_true(outbox_get(&w->out, 0, &m, &w->memory));
    assert_int_equal(m.bind_result.bound, bound);
    assert_int_equal(binds_count(b), 0);
    if (bound)
        return;
    assert_int_equal(m.bind_result.plugin, BIND_PLUGIN_hook);
    if (!str_is(m.bind_result.message, message))
        fail_msg("told: %.*s", STR_ARG(m.bind_result.message));
}

#endif
