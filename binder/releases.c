/* releases: one entry a claim, which is one release and the message it came from. What must stay
 * true: every message that is taken is answered exactly once, and no claim has two releases at a
 * time, so that none undoes what the other has decided on. */
#include "binder/releases.h"
#include "binder/answers.h"
#include "proto/base/log.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

struct entry {
    struct releases *all;
    struct claim_release order; /* strings in memory */
    struct arena memory;
    struct release *release;
};

struct releases {
    struct releases_options options;
    struct lanes *lanes;
    struct map *entries; /* UID of the claim -> entry */
    struct answers answers;
    struct random random;
    struct releases_stats stats;
};

struct releases *releases_new(const struct releases_options *options, struct lanes *lanes)
{
    struct releases *r = memory_take(sizeof(*r));
    r->options = *options;
    r->lanes = lanes;
    r->entries = map_new();
    r->random.state = options->seed;
    return r;
}

static void answer(struct releases *r, const struct claim_release *order,
                   const struct release_end *end)
{
    const struct claim_released released = {.what = order->what,
                                            .uid = order->uid,
                                            .namespace_name = order->namespace_name,
                                            .claim = order->claim,
                                            .claim_uid = order->claim_uid,
                                            .done = end->done,
                                            .code = end->code,
                                            .message = end->message,
                                            .id = order->id};
    answers_add(&r->answers, MSG_claim_released, &released);
    r->stats.done += end->done;
    r->stats.failed += !end->done;
    if (!end->done)
        log_warn("nothing was taken back of a claim|what=%.*s claim=%.*s/%.*s code=%d "
                 "reason=\"%.*s\"",
                 STR_ARG(words_text(&claim_step_words, order->what)),
                 STR_ARG(order->namespace_name), STR_ARG(order->claim), end->code,
                 STR_ARG(end->message));
}

static void entry_end(struct entry *e, const struct release_end *end)
{
    struct releases *r = e->all;
    answer(r, &e->order, end);
    must(map_remove(r->entries, e->order.claim_uid) == e);
    release_free(&e->release);
    arena_free(&e->memory);
    memory_free(e);
}

static void on_ended(void *owner, struct instant at, const struct release_end *end)
{
    (void)at;
    entry_end(owner, end);
}

void releases_refuse(struct releases *r, const struct claim_release *order, const char *why)
{
    answer(r, order, &(struct release_end){.message = str_of(why)});
}

void releases_add(struct releases *r, struct instant at, const struct claim_release *order)
{
    struct entry *e = map_get(r->entries, order->claim_uid);
    if (e != NULL) {
        r->stats.doubled++;
        if (e->order.what != order->what || !str_equal(e->order.uid, order->uid))
            releases_refuse(r, order, "something else is being taken back of this claim");
        else
            e->order.id = order->id; /* who asked before asks no more, or it is the same */
        return;
    }
    e = memory_take(sizeof(*e));
    e->all = r;
    codec_copy(message_info[MSG_claim_release].record, &e->order, order, &e->memory);
    must(map_set(r->entries, e->order.claim_uid, e) == NULL);
    e->release = release_new(&(struct release_options){.lanes = r->lanes,
                                                       .random = &r->random,
                                                       .owner = e,
                                                       .ended = on_ended,
                                                       .forbidden = r->options.forbidden,
                                                       .forbidden_owner = r->options.owner},
                             &e->order, at.now);
    if (e->release == NULL)
        entry_end(e, &(struct release_end){.message = STR_LITERAL("too many claims wait")});
}

void releases_drop(struct releases *r, const char *why)
{
    size_t place = 0;
    void *value;
    while (map_next(r->entries, &place, NULL, &value))
        entry_end(value, &(struct release_end){.message = str_of(why)});
}

uint32_t releases_count(const struct releases *r)
{
    return (uint32_t)map_count(r->entries);
}

void releases_list(const struct releases *r, struct leadership *into, struct arena *a)
{
    size_t place = 0;
    struct str uid;
    void *value;
    into->releasing.at = arena_take(a, (map_count(r->entries) + 1) * sizeof(struct str));
    into->releasing.count = 0;
    while (map_next(r->entries, &place, &uid, &value))
        into->releasing.at[into->releasing.count++] = uid;
}

void releases_flush(struct releases *r, struct outbox *out)
{
    answers_flush(&r->answers, out);
}

void releases_free(struct releases **releases)
{
    struct releases *r = *releases;
    if (r == NULL)
        return;
    releases_drop(r, "the binder ends");
    releases_flush(r, NULL);
    map_free(&r->entries);
    memory_free(r);
    *releases = NULL;
}

struct releases_stats releases_stats(const struct releases *r)
{
    return r->stats;
}
