/* contrast: the model twice, once with each configuration, and pod by pod what differs. What must
 * stay true: both runs see the same day, so that what differs between them is the configuration's
 * doing; how far the model is from what was recorded is said beside it. */
#include "ctl/record/contrast.h"
#include "ctl/record/contrast_inside.h"
#include "proto/base/memory.h"
#include "proto/kube/config/config_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- with which configuration it was recorded ---- */

struct search {
    struct queue_config found; /* the last one before the first attempt */
    bool any;
    struct arena memory;
};

static bool find_config(void *context, const struct journal_entry *e, int64_t wall_us)
{
    struct search *s = context;
    struct arena memory = {0};
    struct queue_config said;
    (void)wall_us;
    if (e->kind == JOURNAL_delivery && (e->type == MSG_attempt || e->type == MSG_gang_attempt))
        return !s->any;
    if (e->kind != JOURNAL_message || e->type != MSG_queue_config || e->body.len == 0)
        return true;
    const uint8_t *at = (const uint8_t *)e->body.at;
    struct byte_cursor in = {at, at + e->body.len};
    if (codec_decode(message_info[MSG_queue_config].record, &said, &in, &memory)) {
        arena_reset(&s->memory);
        codec_copy(message_info[MSG_queue_config].record, &s->found, &said, &s->memory);
        s->any = true;
    }
    arena_free(&memory);
    return true;
}

/* ---- the day ---- */

static bool take(void *context, const struct journal_entry *e, int64_t wall_us)
{
    model_take(context, e, wall_us);
    return true;
}

static bool foresee(void *context, const struct journal_entry *e, int64_t wall_us)
{
    (void)wall_us;
    model_foresee(context, e);
    return true;
}

static struct model *play(const struct contrast *c, const struct model_options *options)
{
    struct model *m = model_new(options);
    for (size_t i = 0; i < c->count; i++)
        member_each(&c->lives[i], foresee, m);
    for (size_t i = 0; i < c->count; i++)
        member_each(&c->lives[i], take, m);
    model_end(m);
    return m;
}

/* ---- what differs ---- */

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Seconds of the wait that so many in a hundred do not exceed. */
static double percentile(const int64_t *us, size_t count, size_t percent)
{
    size_t place = (count - 1) * percent / 100;
    return (double)us[place] / 1e6;
}

static void fill_waits(struct waits *w, int64_t *us, size_t count)
{
    if (count == 0)
        return;
    qsort(us, count, sizeof(*us), by_value);
    w->p50 = percentile(us, count, 50);
    w->p90 = percentile(us, count, 90);
    w->p99 = percentile(us, count, 99);
}

static void count_fate(struct day *d, const struct fate *f, bool then)
{
    struct str node = then ? f->recorded : f->node;
    d->evicted += then ? f->spared : f->evicted;
    if (!f->ours || (f->skipped && !then))
        return;
    d->pods++;
    d->placed += node.len > 0;
    d->left += node.len == 0 && !f->gone;
}

static void sum_day(const struct model *m, struct day *d, bool then)
{
    size_t at = 0, count = 0;
    void *value;
    int64_t *us = memory_take_array(map_count(model_fates(m)) + 1, sizeof(*us));
    while (map_next(model_fates(m), &at, NULL, &value)) {
        const struct fate *f = value;
        struct str node = then ? f->recorded : f->node;
        count_fate(d, f, then);
        if (f->ours && node.len > 0 && (then || !f->skipped))
            us[count++] = (then ? f->recorded_us : f->placed_us) - f->seen_us;
    }
    fill_waits(&d->waits, us, count);
    if (!then)
        d->room = model_room(m);
    memory_free(us);
}

static int by_name(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int spaces = str_compare(x->now->space, y->now->space);
    return spaces != 0 ? spaces : str_compare(x->now->name, y->now->name);
}

static bool waits_longer(const struct fate *before, const struct fate *now)
{
    if (now->node.len == 0)
        return before->node.len > 0;
    return before->node.len > 0 && now->placed_us - before->placed_us > CONTRAST_LONGER_US;
}

static void compare(struct compared *c)
{
    size_t at = 0;
    void *value;
    c->pairs = memory_take_array(map_count(model_fates(c->after)) + 1, sizeof(*c->pairs));
    while (map_next(model_fates(c->after), &at, NULL, &value)) {
        const struct fate *now = value, *before = map_get(model_fates(c->before), now->uid);
        if (before == NULL)
            continue;
        c->as_recorded += before->ours && str_equal(before->node, before->recorded);
        c->ours += before->ours;
        struct pair p = {.before = before, .now = now};
        p.elsewhere = now->ours && before->node.len > 0 && now->node.len > 0 &&
                      !str_equal(before->node, now->node);
        p.longer = now->ours && !now->skipped && waits_longer(before, now);
        p.sooner = now->ours && !before->skipped && waits_longer(now, before);
        p.evicted = now->evicted && !before->evicted;
        p.kept = !now->evicted && before->evicted;
        c->elsewhere += p.elsewhere;
        c->longer += p.longer;
        c->sooner += p.sooner;
        c->evicted += p.evicted;
        c->kept += p.kept;
        if (p.elsewhere || p.longer || p.sooner || p.evicted || p.kept)
            c->pairs[c->count++] = p;
    }
    if (c->count > 0)
        qsort(c->pairs, c->count, sizeof(*c->pairs), by_name);
    sum_day(c->before, &c->recorded, true);
    sum_day(c->before, &c->own, false);
    sum_day(c->after, &c->other, false);
}

static struct model_options options_of(const struct queue_config *config, bool ties_first)
{
    int64_t first = config->backoff_initial_s, most = config->backoff_max_s;
    return (struct model_options){.profiles = config->profiles.at,
                                  .profile_count = config->profiles.count,
                                  .backoff_initial_s = first > 0 ? first : 1,
                                  .backoff_max_s = most > 0 ? most : 10,
                                  .ties_first = ties_first};
}

bool contrast_show(const struct contrast *c)
{
    struct search s = {.any = false};
    struct arena memory = {0};
    struct scheduler_config config;
    struct str why = {0};
    for (size_t i = 0; i < c->count && !s.any; i++)
        member_each(&c->lives[i], find_config, &s);
    bool good = s.any && s.found.profiles.count > 0;
    if (!good)
        fprintf(stderr, "berth replay: --config: the recording has no scheduler that decides\n");
    const char *path = c->config[0] != 0 ? c->config : NULL;
    if (good &&
        !scheduler_config_load(path, s.found.profiles.at[0].features, &config, &memory, &why)) {
        fprintf(stderr, "berth replay: --config: %.*s\n", STR_ARG(why));
        good = false;
    }
    if (good) {
        struct model_options own = options_of(&s.found, c->lives[0].ties_first);
        own.series = c->svg;
        struct model_options other = own;
        other.profiles = config.profiles.at;
        other.profile_count = config.profiles.count;
        other.backoff_initial_s = config.pod_initial_backoff_s;
        other.backoff_max_s = config.pod_max_backoff_s;
        struct compared result = {.before = play(c, &own), .after = play(c, &other)};
        compare(&result);
        contrast_print(c, &result);
        memory_free(result.pairs);
        model_free(&result.before);
        model_free(&result.after);
    }
    arena_free(&s.memory);
    arena_free(&memory);
    return good;
}
