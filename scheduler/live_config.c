/* live_config: a file becomes the coordinator's next configuration. The one idea: it is loaded as
 * at the start, so that what is refused then is refused now, and handed over as a whole between two
 * steps of the coordinator. What must stay true: a file that is wrong changes nothing. */
#include "scheduler/live_config.h"

#include "proto/base/log.h"

void live_config_init(struct live_config *l, const char *path, const struct config_flags *flags,
                      const struct scheduler_config *config)
{
    *l = (struct live_config){
        .flags = flags, .watch = {.path = path}, .hash = scheduler_config_hash(config)};
    config_sort_note(config, l->sort);
    config_watch_changed(&l->watch, (struct moment){0}, false);
}

static void load(struct live_config *l, struct moment now, struct coordinator *coordinator,
                 struct outbox *out)
{
    struct arena memory = {0};
    struct scheduler_config config;
    struct str why = {0};
    if (!scheduler_config_load(l->watch.path, &config, &memory, &why) ||
        !config_flags_apply(l->flags, &config, &memory, &why) ||
        !config_sort_kept(&config, l->sort, &memory, &why)) {
        coordinator_config_refused(coordinator);
        log_error("configuration refused, the former one stays| error=\"%.*s\"", STR_ARG(why));
        arena_free(&memory);
        return;
    }
    for (uint32_t i = 0; i < config.notes.count; i++)
        log_warn("configuration| note=\"%.*s\"", STR_ARG(config.notes.at[i]));
    struct coordinator_config next = {.profiles = config.profiles.at,
                                      .profile_count = config.profiles.count,
                                      .hash = scheduler_config_hash(&config),
                                      .backoff_initial_s = config.pod_initial_backoff_s,
                                      .backoff_max_s = config.pod_max_backoff_s,
                                      .extenders = config.extenders.at,
                                      .extender_count = config.extenders.count,
                                      .extenders_hash = scheduler_config_extenders_hash(&config)};
    if (next.hash == l->hash) {
        log_info("the configuration file says the same as before");
        arena_free(&memory);
        return;
    }
    int64_t former = coordinator_extenders_hash(coordinator);
    coordinator_reconfigure(coordinator, now, &next, out);
    l->hash = next.hash;
    if (next.extenders_hash != former) { /* borrowed from now on */
        arena_free(&l->extenders);
        l->extenders = memory;
    } else {
        arena_free(&memory);
    }
}

void live_config_free(struct live_config *l)
{
    arena_free(&l->extenders);
}

struct moment live_config_look(struct live_config *l, struct moment now, bool asked,
                               struct coordinator *coordinator, struct outbox *out)
{
    if (config_watch_changed(&l->watch, now, asked))
        load(l, now, coordinator, out);
    return l->watch.path != NULL ? l->watch.next : MOMENT_NEVER;
}

/* ---- for the actor loop ---- */

static void live_handle(void *state, struct moment now, const struct delivery *in,
                        struct outbox *out)
{
    coordinator_handle(((struct live *)state)->coordinator, now, in, out);
}

static struct moment live_tick(void *state, struct moment now, struct outbox *out)
{
    struct live *l = state;
    struct moment look = live_config_look(&l->config, now, actor_hangup(), l->coordinator, out);
    return moment_earlier(look, coordinator_tick(l->coordinator, now, out));
}

static void live_status(void *state, struct buffer *lines)
{
    coordinator_status(((struct live *)state)->coordinator, lines);
}

static void live_observe(void *state)
{
    coordinator_observe(((struct live *)state)->coordinator);
}

static void live_dump(void *state)
{
    coordinator_dump(((struct live *)state)->coordinator);
}

static int64_t live_term(const void *state)
{
    return coordinator_term(((const struct live *)state)->coordinator);
}

struct actor live_actor(struct live *live)
{
    return (struct actor){.state = live,
                          .handle = live_handle,
                          .tick = live_tick,
                          .fd = -1,
                          .status = live_status,
                          .observe = live_observe,
                          .dump = live_dump,
                          .term = live_term};
}
