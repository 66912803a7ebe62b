/* groups: one entry for each PodGroup whose status is to be written, holding the newest counts and
 * the newest condition until the patch is built. The one idea: both go out in one patch, made of
 * what the scheduler saw and what it says, at the moment of sending. What must stay true: at most
 * one patch of a group is on the wire, and what came meanwhile goes out behind it. */
#include "binder/groups.h"
#include "binder/pause.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/writes/writes.h"

#include <string.h>

/* A message with what it borrows. */
struct news {
    struct arena memory;
    struct message message;
    bool there;
};

struct entry {
    struct job job; /* first */
    struct groups *groups;
    char *key;
    struct news status, failed;
    int tries;
    bool whole;  /* the kind has no /status: the object itself is patched */
    bool behind; /* something came while a patch was on the wire */
};

struct groups {
    struct groups_options options;
    struct lanes *lanes;
    struct map *entries; /* api/namespace/name/uid -> entry */
    struct random random;
    struct groups_stats stats;
};

struct groups *groups_new(const struct groups_options *options, struct lanes *lanes)
{
    struct groups *g = memory_take(sizeof(*g));
    g->options = *options;
    g->lanes = lanes;
    g->entries = map_new();
    g->random.state = options->seed;
    return g;
}

/* ---- what is to be written ---- */

static void keep(struct news *news, enum message_type type, const void *body)
{
    arena_reset(&news->memory);
    news->message = (struct message){.type = type};
    codec_copy(message_info[type].record, message_body(&news->message), body, &news->memory);
    news->there = true;
}

static const struct group_status *status_of(const struct entry *e)
{
    return e->status.there ? &e->status.message.group_status : NULL;
}

static const struct group_failed *failed_of(const struct entry *e)
{
    return e->failed.there ? &e->failed.message.group_failed : NULL;
}

static bool differs(const struct group_status *status, const struct group_failed *failed)
{
    struct buffer body = {0};
    bool something = writes_group(&body, status, failed, 0);
    buffer_free(&body);
    return something;
}

/* ---- entries ---- */

static void entry_end(struct entry *e)
{
    struct groups *g = e->groups;
    if (e->job.place != JOB_idle)
        lanes_remove(g->lanes, &e->job);
    must(map_remove(g->entries, str_of(e->key)) == e);
    arena_free(&e->status.memory);
    arena_free(&e->failed.memory);
    memory_free(e->key);
    memory_free(e);
}

static const struct gang *group_of(const struct entry *e)
{
    return e->status.there ? &status_of(e)->group : &failed_of(e)->group;
}

static void prepare(struct job *job, struct instant at, struct draft *draft)
{
    struct entry *e = (struct entry *)job;
    draft->method = KUBE_PATCH;
    draft->unread = true;
    draft->content_type = writes_group_path(&draft->path, group_of(e), !e->whole);
    must(writes_group(&draft->body, status_of(e), failed_of(e), at.wall_us));
    e->behind = false;
}

static void answered(struct job *job, struct instant at, const struct kube_response *response);

static const struct job_type group_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare, .answered = answered};

static void enqueue(struct entry *e, struct instant at)
{
    e->job.type = &group_job;
    e->tries = 0;
    if (lanes_add(e->groups->lanes, LANE_status, &e->job, at.now))
        return;
    e->groups->stats.dropped++;
    entry_end(e);
}

/* What came while the patch was on the wire goes out now, if it still says something. */
static void settle(struct entry *e, struct instant at)
{
    if (e->behind && differs(status_of(e), failed_of(e)))
        enqueue(e, at);
    else
        entry_end(e);
}

/* Custom resources of old definitions have no status of their own. A 404 for both is a group that
 * is gone, and needs none. */
static bool has_no_subresource(struct entry *e, const struct kube_response *r)
{
    bool other = r->status == 404 && !e->whole && !str_is(group_of(e)->api, KUBE_GANG_BUILT_IN);
    e->whole = e->whole || other;
    return other;
}

/* What came while the patch was on the wire may have left nothing to say. */
static void settle_elsewhere(struct entry *e, struct instant at)
{
    if (differs(status_of(e), failed_of(e)))
        lanes_again(e->groups->lanes, e->job.lane, &e->job, at.now);
    else
        entry_end(e);
}

/* That a group is not scheduled is said of the group as it was seen. Where it has changed, that may
 * be over; the scheduler says it again when it has looked again. */
static bool is_outdated(const struct entry *e, const struct kube_response *r)
{
    return r->status == 409 && e->failed.there && writes_group_is_guarded(failed_of(e));
}

static void answered(struct job *job, struct instant at, const struct kube_response *r)
{
    struct entry *e = (struct entry *)job;
    struct groups *g = e->groups;
    bool good = r->status >= 200 && r->status < 300;
    bool passing = r->status == 0 || (r->status == 409 && !is_outdated(e, r)) || r->status == 429 ||
                   r->status >= 500;
    if (has_no_subresource(e, r)) {
        settle_elsewhere(e, at);
        return;
    }
    if (passing && !e->behind && ++e->tries < PAUSE_TRIES_MAX) {
        lanes_again(g->lanes, job->lane, job,
                    pause_short(&g->random, at.now, e->tries, r->retry_after_s));
        return;
    }
    if (r->status == 403 && g->options.forbidden != NULL)
        g->options.forbidden(g->options.owner, "patch", e->whole ? "podgroups" : "podgroups/status",
                             group_of(e)->namespace_name, r);
    g->stats.written += good;
    g->stats.dropped += !good && r->status != 404;
    settle(e, at);
}

/* ---- from the scheduler ---- */

/* The group's entry, a new one if there is none. */
static struct entry *entry_of(struct groups *g, const struct gang *group)
{
    struct buffer key = {0};
    buffer_print(&key, "%.*s/%.*s/%.*s/%.*s", STR_ARG(group->api), STR_ARG(group->namespace_name),
                 STR_ARG(group->name), STR_ARG(group->uid));
    struct entry *e = map_get(g->entries, buffer_str(&key));
    if (e == NULL) {
        e = memory_take(sizeof(*e));
        e->groups = g;
        e->key = str_copy(buffer_str(&key));
        map_set(g->entries, buffer_str(&key), e);
    }
    buffer_free(&key);
    return e;
}

static void take(struct entry *e, struct instant at, struct news *news, enum message_type type,
                 const void *body)
{
    struct groups *g = e->groups;
    g->stats.replaced += news->there && e->job.place != JOB_sent;
    keep(news, type, body);
    bool something = differs(status_of(e), failed_of(e));
    g->stats.unchanged += !something;
    if (e->job.place == JOB_sent)
        e->behind = true;
    else if (!something)
        entry_end(e);
    else if (e->job.place == JOB_idle)
        enqueue(e, at);
}

void groups_failed(struct groups *g, struct instant at, const struct group_failed *failed)
{
    struct entry *e = entry_of(g, &failed->group);
    take(e, at, &e->failed, MSG_group_failed, failed);
}

void groups_status(struct groups *g, struct instant at, const struct group_status *status)
{
    struct entry *e = entry_of(g, &status->group);
    take(e, at, &e->status, MSG_group_status, status);
}

void groups_clear(struct groups *g)
{
    size_t place = 0;
    struct str key;
    void *value;
    while (map_next(g->entries, &place, &key, &value)) {
        g->stats.dropped++;
        entry_end(value);
    }
}

void groups_free(struct groups **groups)
{
    struct groups *g = *groups;
    if (g == NULL)
        return;
    groups_clear(g);
    map_free(&g->entries);
    memory_free(g);
    *groups = NULL;
}

struct groups_stats groups_stats(const struct groups *g)
{
    struct groups_stats stats = g->stats;
    stats.groups = (uint32_t)map_count(g->entries);
    return stats;
}
