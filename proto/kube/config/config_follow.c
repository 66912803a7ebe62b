/* config_follow: a look at the file and what it says now. What must stay true: a file that is wrong
 * changes nothing, and one that says the same is no change, however it was written. */
#include "proto/kube/config/config_follow.h"

#include "proto/base/log.h"

#include <inttypes.h>
#include <stdio.h>

/* All profiles have the same. */
static struct str sort_of(const struct scheduler_config *config)
{
    const struct strs *sort = &config->details[0].points[POINT_queue_sort];
    return sort->count > 0 ? sort->at[0] : (struct str){0};
}

void config_sort_note(const struct scheduler_config *config, char sort[CONFIG_SORT_ROOM])
{
    snprintf(sort, CONFIG_SORT_ROOM, "%.*s", STR_ARG(sort_of(config)));
}

bool config_sort_kept(const struct scheduler_config *config, const char *sort, struct arena *a,
                      struct str *error)
{
    struct str now = sort_of(config);
    if (str_is(now, sort))
        return true;
    *error = arena_print(a,
                         "profiles[0].plugins.queueSort: the queue has sorted by %s since it was "
                         "started, and cannot change to %.*s before it is started again",
                         sort, STR_ARG(now));
    return false;
}

void config_follow_init(struct config_follow *f, const char *path)
{
    struct arena memory = {0};
    struct scheduler_config config;
    struct str why = {0};
    *f = (struct config_follow){.watch = {.path = path}};
    config_watch_changed(&f->watch, (struct moment){0}, false);
    if (scheduler_config_load(path, release_features(RELEASE_NEWEST), &config, &memory, &why)) {
        f->hash = scheduler_config_hash(&config);
        config_sort_note(&config, f->sort);
    }
    arena_free(&memory);
}

bool config_follow_look(struct config_follow *f, struct moment now, bool asked,
                        struct scheduler_config *config, struct arena *a)
{
    struct str why = {0};
    if (!config_watch_changed(&f->watch, now, asked))
        return false;
    if (!scheduler_config_load(f->watch.path, release_features(RELEASE_NEWEST), config, a, &why) ||
        (f->sort[0] != 0 && !config_sort_kept(config, f->sort, a, &why))) {
        f->refused++;
        log_debug("configuration refused, the former one stays| error=\"%.*s\"", STR_ARG(why));
        return false;
    }
    int64_t hash = scheduler_config_hash(config);
    bool changed = hash != f->hash;
    f->hash = hash;
    f->changes += changed;
    return changed;
}

void config_follow_status(const struct config_follow *f, struct buffer *lines)
{
    buffer_print(lines,
                 "config_hash=%016" PRIx64 "\nconfig_changes=%" PRIu64 "\nconfigs_refused=%" PRIu64
                 "\n",
                 (uint64_t)f->hash, f->changes, f->refused);
}
