/* live_config: a file becomes the coordinator's next configuration, and so does the same file when
 * the API server is another release. The one idea: it is loaded as at the start, so that what is
 * refused then is refused now, and handed over as a whole between two steps of the coordinator.
 * What must stay true: a file that is wrong changes nothing. */
#include "scheduler/live_config.h"

#include "proto/base/beat.h"
#include "proto/base/log.h"
#include "proto/kube/release/release.h"

void live_config_init(struct live_config *l, const char *path, const struct config_flags *flags,
                      const struct scheduler_config *config)
{
    *l = (struct live_config){.flags = flags,
                              .features = config->features,
                              .watch = {.path = path},
                              .hash = config_flags_hash(flags, path, config)};
    config_sort_note(config, l->sort);
    config_watch_changed(&l->watch, (struct moment){0}, false);
    config_flags_features(flags, config->features.release, l->left, sizeof(l->left));
}

/* It is refused again and again for as long as nobody changes it; that is told once. */
static void refuse(struct coordinator *coordinator, int64_t minor, struct str why)
{
    log_error("configuration refused, the former one stays| release=%s error=\"%.*s\"",
              release_of(minor)->version, STR_ARG(why));
    coordinator_config_refused(coordinator);
}

/* The memory is the configuration's. */
struct loaded {
    struct scheduler_config config;
    struct arena memory;
};

static void hand_over(struct live_config *l, struct moment now, struct loaded *loaded,
                      struct coordinator *coordinator, struct outbox *out)
{
    const struct scheduler_config *config = &loaded->config;
    struct coordinator_config next = {.profiles = config->profiles.at,
                                      .profile_count = config->profiles.count,
                                      .hash = l->hash,
                                      .backoff_initial_s = config->pod_initial_backoff_s,
                                      .backoff_max_s = config->pod_max_backoff_s,
                                      .extenders = config->extenders.at,
                                      .extender_count = config->extenders.count,
                                      .extenders_hash = scheduler_config_extenders_hash(config),
                                      .gates_left = l->left};
    int64_t former = coordinator_extenders_hash(coordinator);
    coordinator_reconfigure(coordinator, now, &next, out);
    if (next.extenders_hash != former) { /* borrowed from now on */
        arena_free(&l->extenders);
        l->extenders = loaded->memory;
        loaded->memory = (struct arena){0};
    }
}

/* True when it says something else now, or to another release. */
static bool take(struct live_config *l, const struct scheduler_config *config)
{
    int64_t hash = config_flags_hash(l->flags, l->watch.path, config);
    bool same = hash == l->hash && codec_equal(&features_record, &config->features, &l->features);
    l->hash = hash;
    l->features = config->features;
    return !same;
}

static void load(struct live_config *l, struct moment now, struct coordinator *coordinator,
                 struct outbox *out)
{
    int64_t minor = coordinator_release(coordinator);
    struct config_flags as = *l->flags;
    struct loaded loaded = {0};
    struct scheduler_config *config = &loaded.config;
    struct str why = {0};
    as.release = minor;
    if (!config_flags_load(&as, l->watch.path, config, &loaded.memory, &why) ||
        !config_sort_kept(config, l->sort, &loaded.memory, &why)) {
        refuse(coordinator, minor, why);
        arena_free(&loaded.memory);
        return;
    }
    for (uint32_t i = 0; i < config->notes.count; i++)
        log_warn("configuration| note=\"%.*s\"", STR_ARG(config->notes.at[i]));
    config_flags_features(l->flags, minor, l->left, sizeof(l->left));
    if (l->left[0] != 0)
        log_warn("feature gates without a place in the release are left out| release=%s gates=%s",
                 release_of(minor)->version, l->left);
    if (take(l, config))
        hand_over(l, now, &loaded, coordinator, out);
    else
        log_info("the configuration file says the same as before");
    arena_free(&loaded.memory);
}

void live_config_free(struct live_config *l)
{
    arena_free(&l->extenders);
}

struct moment live_config_look(struct live_config *l, struct moment now, bool asked,
                               struct coordinator *coordinator, struct outbox *out)
{
    bool changed = config_watch_changed(&l->watch, now, asked);
    if (changed || coordinator_release_changes(coordinator))
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
    beat_tell(coordinator_nodes(l->coordinator)); /* berth run has workers by that */
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
