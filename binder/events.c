/* events: one entry for each event that is being written or may still become a series. The one
 * idea is upstream's: the key of an event is all of it but its note and its times, the first one
 * is created, the second turns it into a series, later ones only count until the series is
 * refreshed or ends. What must stay true: an entry has at most one request under way, and the cache
 * never holds more than its bound. */
#include "binder/events.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/writes/writes.h"

#include <stdio.h>
#include <string.h>

#define KEYS_MAX     10000
#define FAILURES_MAX 10000
#define TRIES_MAX    12
#define TRY_MS       10000
#define REFRESH_MS   1800000 /* live series are written again this often */
#define FINISH_MS    360000  /* silence after which a series ends or a single event is forgotten */
#define PATH_EVENTS  "/apis/events.k8s.io/v1"
#define PATH_CORE    "/api/v1"
#define IN_MEMORY    " (in kube-scheduler memory)."

enum form { FORM_event, FORM_lease };

struct entry {
    struct job job; /* first */
    struct events *events;
    enum form form;
    struct writes_event event; /* strings in block */
    char *block;
    struct str key; /* empty: not in the cache, freed when written */
    struct entry *older, *newer;
    int64_t written_count; /* series.count as the server has it; 0 = not created yet */
    int64_t sending_count; /* in the request under way; 0 = creation */
    int tries;
    bool failure;                  /* counts against failures_max */
    bool created, closing, behind; /* behind: to be patched once the request under way ended */
};

struct events {
    struct events_options options;
    struct lanes *lanes;
    struct map *cache;             /* key -> entry */
    struct entry *oldest, *newest; /* of all entries */
    struct random random;
    struct moment finish_at, refresh_at;
    int64_t last_ns; /* of the newest event's name */
    uint32_t failures;
    struct events_stats stats;
};

struct events *events_new(const struct events_options *options, struct lanes *lanes)
{
    struct events *e = memory_take(sizeof(*e));
    e->options = *options;
    if (e->options.keys_max == 0)
        e->options.keys_max = KEYS_MAX;
    if (e->options.failures_max == 0)
        e->options.failures_max = FAILURES_MAX;
    e->lanes = lanes;
    e->cache = map_new();
    e->random.state = options->seed;
    return e;
}

/* ---- entries ---- */

static void link_newest(struct events *e, struct entry *entry)
{
    entry->older = e->newest;
    if (e->newest != NULL)
        e->newest->newer = entry;
    else
        e->oldest = entry;
    e->newest = entry;
}

static void entry_free(struct entry *entry)
{
    struct events *e = entry->events;
    if (entry->job.place != JOB_idle)
        lanes_remove(e->lanes, &entry->job);
    if (entry->key.len > 0)
        must(map_remove(e->cache, entry->key) == entry);
    if (entry->older != NULL)
        entry->older->newer = entry->newer;
    else
        e->oldest = entry->newer;
    if (entry->newer != NULL)
        entry->newer->older = entry->older;
    else
        e->newest = entry->older;
    e->failures -= entry->failure;
    memory_free(entry->block);
    memory_free(entry);
}

static struct str pack(char **at, struct str s)
{
    char *start = *at;
    if (s.len > 0)
        memcpy(start, s.at, s.len);
    *at += s.len;
    return (struct str){start, s.len};
}

/* All strings of an event, to be counted and copied alike. */
#define EVENT_STRINGS(X)                                                                           \
    X(name)                                                                                        \
    X(regarding.kind)                                                                              \
    X(regarding.api_version)                                                                       \
    X(regarding.namespace_name)                                                                    \
    X(regarding.name)                                                                              \
    X(regarding.uid)                                                                               \
    X(regarding.resource_version) X(controller) X(instance) X(type) X(reason) X(action) X(note)

static struct entry *entry_new(struct events *e, enum form form, const struct writes_event *event,
                               struct str key)
{
    struct entry *entry = memory_take(sizeof(*entry));
    size_t size = key.len + 1;
#define ADD_LENGTH(member) size += event->member.len;
    EVENT_STRINGS(ADD_LENGTH)
    entry->block = memory_take(size);
    char *at = entry->block;
    entry->event = *event;
#define ADD_BYTES(member) entry->event.member = pack(&at, event->member);
    EVENT_STRINGS(ADD_BYTES)
    entry->key = pack(&at, key);
    entry->events = e;
    entry->form = form;
    link_newest(e, entry);
    if (key.len > 0)
        map_set(e->cache, entry->key, entry);
    return entry;
}

static bool is_series(const struct entry *entry)
{
    return entry->event.series_count > 0;
}

/* ---- requests ---- */

static void prepare(struct job *job, struct instant at, struct draft *draft)
{
    struct entry *entry = (struct entry *)job;
    const struct writes_event *event = &entry->event;
    struct str ns = event->regarding.namespace_name;
    const char *prefix = entry->form == FORM_lease ? PATH_CORE : PATH_EVENTS;
    (void)at;
    if (ns.len == 0)
        ns = STR_LITERAL("default");
    entry->sending_count = event->series_count;
    draft->unread = true;
    writes_path(&draft->path, prefix, ns, "events", entry->created ? event->name : (struct str){0});
    if (entry->created) {
        draft->method = KUBE_PATCH;
        draft->content_type = WRITES_PATCH;
        writes_series(&draft->body, event->series_count, event->series_last_us);
        return;
    }
    draft->method = KUBE_POST;
    draft->content_type = WRITES_JSON;
    if (entry->form == FORM_lease) {
        writes_lease_event(&draft->body, event);
    } else if (draft->may_protobuf) {
        draft->content_type = WRITES_PROTOBUF;
        writes_event_protobuf(&draft->body, event);
    } else {
        writes_event(&draft->body, event);
    }
}

static void answered(struct job *job, struct instant at, const struct kube_response *response);

static const struct job_type event_job = {
    .fenced = true, .timeout = {10000000000}, .prepare = prepare, .answered = answered};

/* False, and the entry is gone, when there is no room. */
static bool enqueue(struct entry *entry, struct moment now)
{
    struct events *e = entry->events;
    bool full = entry->failure && e->failures > e->options.failures_max;
    entry->job.type = &event_job;
    entry->tries = 0;
    if (!full && lanes_add(e->lanes, LANE_event, &entry->job, now))
        return true;
    e->stats.dropped++;
    entry_free(entry);
    return false;
}

/* Nothing more to write for now: keep what may become or go on with a series. */
static void settle(struct entry *entry, struct moment now)
{
    bool behind = entry->behind && entry->event.series_count > entry->written_count;
    entry->behind = false;
    if (entry->failure) {
        entry->failure = false;
        entry->events->failures--;
    }
    if (entry->key.len == 0 || entry->closing)
        entry_free(entry);
    else if (behind)
        enqueue(entry, now);
}

static void try_again(struct entry *entry, struct instant at)
{
    struct events *e = entry->events;
    double factor = 1 + 0.25 * random_fraction(&e->random);
    if (++entry->tries >= TRIES_MAX) {
        e->stats.dropped++;
        settle(entry, at.now);
        return;
    }
    lanes_again(e->lanes, LANE_event, &entry->job,
                moment_after(at.now, span_of_ms((int64_t)(TRY_MS * factor))));
}

static void answered(struct job *job, struct instant at, const struct kube_response *r)
{
    struct entry *entry = (struct entry *)job;
    struct events *e = entry->events;
    bool good = r->status >= 200 && r->status < 300;
    bool again = r->status == 409 && entry->sending_count > 0; /* created in the meantime */
    if (good || again || (r->status == 409 && entry->tries > 0)) {
        entry->created = true; /* a 409 on a second try says that the first one arrived */
        if (!again)
            entry->written_count = entry->sending_count > 0 ? entry->sending_count : 1;
        entry->behind = entry->behind || again;
        settle(entry, at.now);
    } else if (r->status == 404 && entry->created) {
        entry->created = false; /* it has expired: write the whole of it */
        lanes_again(e->lanes, LANE_event, job, at.now);
    } else if (r->status == 0 || r->status == 429 || r->status == 503) {
        try_again(entry, at);
    } else {
        if (r->status == 403 && e->options.forbidden)
            e->options.forbidden(e->options.owner, entry->created ? "patch" : "create", "events",
                                 entry->event.regarding.namespace_name, r);
        e->stats.dropped++;
        settle(entry, at.now);
    }
}

/* ---- what happened ---- */

/* Names are unique as long as nanoseconds are: two events in one microsecond get different ones. */
static void name_event(struct events *e, struct instant at, struct str object, struct buffer *out)
{
    int64_t ns = at.wall_us * 1000;
    if (ns <= e->last_ns)
        ns = e->last_ns + 1;
    e->last_ns = ns;
    writes_event_name(out, object, ns);
}

static void write_single(struct events *e, struct instant at, enum form form,
                         struct writes_event *event)
{
    struct buffer name = {0};
    name_event(e, at, event->regarding.name, &name);
    event->name = buffer_str(&name);
    event->time_us = at.wall_us;
    enqueue(entry_new(e, form, event, (struct str){0}), at.now);
    buffer_free(&name);
}

void events_bound(struct events *e, struct instant at, const struct bind *bind)
{
    struct buffer note = {0}, instance = {0};
    char version[24];
    snprintf(version, sizeof(version), "%lld", (long long)bind->resource_version);
    buffer_print(&note, "Successfully assigned %.*s/%.*s to %.*s", STR_ARG(bind->namespace_name),
                 STR_ARG(bind->name), STR_ARG(bind->node_name));
    buffer_print(&instance, "%.*s-%s", STR_ARG(bind->scheduler_name), e->options.hostname);
    struct writes_event event = {.regarding = {.kind = STR_LITERAL("Pod"),
                                               .api_version = STR_LITERAL("v1"),
                                               .namespace_name = bind->namespace_name,
                                               .name = bind->name,
                                               .uid = bind->uid,
                                               .resource_version = str_of(version)},
                                 .controller = bind->scheduler_name,
                                 .instance = buffer_str(&instance),
                                 .type = STR_LITERAL("Normal"),
                                 .reason = STR_LITERAL("Scheduled"),
                                 .action = STR_LITERAL("Binding"),
                                 .note = buffer_str(&note)};
    write_single(e, at, FORM_event, &event); /* a pod is bound once: nothing to make a series of */
    buffer_free(&note);
    buffer_free(&instance);
}

void events_leader(struct events *e, struct instant at, const struct events_lease *lease,
                   struct str note)
{
    struct writes_event event = {.regarding = {.kind = STR_LITERAL("Lease"),
                                               .api_version = STR_LITERAL("coordination.k8s.io/v1"),
                                               .namespace_name = lease->namespace_name,
                                               .name = lease->name,
                                               .uid = lease->uid,
                                               .resource_version = lease->resource_version},
                                 .controller = STR_LITERAL("default-scheduler"),
                                 .type = STR_LITERAL("Normal"),
                                 .reason = STR_LITERAL("LeaderElection"),
                                 .note = note};
    write_single(e, at, FORM_lease, &event);
}

static void make_room(struct events *e)
{
    struct entry *entry = e->oldest, *newer;
    for (; entry != NULL && map_count(e->cache) >= e->options.keys_max; entry = newer) {
        newer = entry->newer;
        if (entry->key.len == 0 || entry->job.place != JOB_idle)
            continue;
        e->stats.evicted++;
        entry_free(entry);
    }
}

/* Everything but note and times; a separator that no field can hold keeps keys apart. */
static void make_key(const struct writes_event *v, struct buffer *key)
{
    const struct str parts[] = {v->type,
                                v->action,
                                v->reason,
                                v->controller,
                                v->instance,
                                v->regarding.kind,
                                v->regarding.api_version,
                                v->regarding.namespace_name,
                                v->regarding.name,
                                v->regarding.uid,
                                v->regarding.resource_version};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        buffer_add_str(key, parts[i]);
        buffer_add(key, "\0", 1);
    }
}

static void repeat(struct events *e, struct instant at, struct entry *entry)
{
    struct writes_event *event = &entry->event;
    e->stats.repeated++;
    event->series_last_us = at.wall_us;
    if (is_series(entry)) {
        event->series_count++; /* written when the series is refreshed or ends */
        return;
    }
    event->series_count = 2;
    if (entry->job.place == JOB_idle)
        enqueue(entry, at.now);
    else if (entry->job.place == JOB_sent)
        entry->behind = true; /* one that still waits takes the series along */
}

/* failure: counts against failures_max while it waits. */
static void record(struct events *e, struct instant at, struct writes_event *event, bool failure)
{
    struct buffer key = {0}, name = {0};
    make_key(event, &key);
    struct entry *entry = map_get(e->cache, buffer_str(&key));
    if (entry != NULL) {
        repeat(e, at, entry);
    } else {
        make_room(e);
        name_event(e, at, event->regarding.name, &name);
        event->name = buffer_str(&name);
        event->time_us = at.wall_us;
        bool cached = map_count(e->cache) < e->options.keys_max;
        entry = entry_new(e, FORM_event, event, cached ? buffer_str(&key) : (struct str){0});
        entry->failure = failure;
        e->failures += failure;
        enqueue(entry, at.now);
    }
    buffer_free(&key);
    buffer_free(&name);
}

static void cut_note(struct str whole, struct buffer *note)
{
    bool cut;
    struct str kept = {whole.at, writes_note_len(whole, &cut)};
    buffer_add_str(note, kept);
    if (cut)
        buffer_add_text(note, " ...");
}

void events_failed(struct events *e, struct instant at, const struct pod_failed *failed)
{
    const struct pod *pod = &failed->pod;
    struct buffer instance = {0}, note = {0};
    char version[24];
    cut_note(failed->message, &note);
    snprintf(version, sizeof(version), "%lld", (long long)pod->resource_version);
    buffer_print(&instance, "%.*s-%s", STR_ARG(pod->scheduler_name), e->options.hostname);
    struct writes_event event = {.regarding = {.kind = STR_LITERAL("Pod"),
                                               .api_version = STR_LITERAL("v1"),
                                               .namespace_name = pod->namespace_name,
                                               .name = pod->name,
                                               .uid = pod->uid,
                                               .resource_version = str_of(version)},
                                 .controller = pod->scheduler_name,
                                 .instance = buffer_str(&instance),
                                 .type = STR_LITERAL("Warning"),
                                 .reason = STR_LITERAL("FailedScheduling"),
                                 .action = STR_LITERAL("Scheduling"),
                                 .note = buffer_str(&note)};
    record(e, at, &event, true);
    buffer_free(&instance);
    buffer_free(&note);
}

void events_group(struct events *e, struct instant at, const struct events_group *what)
{
    const struct gang *group = what->group;
    struct str scheduler = what->scheduler_name;
    struct buffer instance = {0}, note = {0}, version = {0};
    char number[24];
    if (scheduler.len == 0)
        scheduler = STR_LITERAL("default-scheduler");
    cut_note(what->note, &note);
    buffer_print(&instance, "%.*s-%s", STR_ARG(scheduler), e->options.hostname);
    buffer_print(&version, "%.*s/%.*s", STR_ARG(group->api), STR_ARG(kube_gang_version(group)));
    snprintf(number, sizeof(number), "%lld", (long long)group->resource_version);
    struct writes_event event = {.regarding = {.kind = STR_LITERAL("PodGroup"),
                                               .api_version = buffer_str(&version),
                                               .namespace_name = group->namespace_name,
                                               .name = group->name,
                                               .uid = group->uid,
                                               .resource_version = str_of(number)},
                                 .controller = scheduler,
                                 .instance = buffer_str(&instance),
                                 .type =
                                     what->warning ? STR_LITERAL("Warning") : STR_LITERAL("Normal"),
                                 .reason = str_of(what->reason),
                                 .action = STR_LITERAL("Scheduling"),
                                 .note = buffer_str(&note)};
    record(e, at, &event, what->warning);
    buffer_free(&instance);
    buffer_free(&note);
    buffer_free(&version);
}

void events_waiting(struct events *e, struct instant at, const struct bind *bind)
{
    struct buffer note = {0}, instance = {0};
    char version[24];
    snprintf(version, sizeof(version), "%lld", (long long)bind->resource_version);
    buffer_print(&note, "waiting for binding conditions for device on node %.*s",
                 STR_ARG(bind->node_name));
    buffer_print(&instance, "%.*s-%s", STR_ARG(bind->scheduler_name), e->options.hostname);
    struct writes_event event = {.regarding = {.kind = STR_LITERAL("Pod"),
                                               .api_version = STR_LITERAL("v1"),
                                               .namespace_name = bind->namespace_name,
                                               .name = bind->name,
                                               .uid = bind->uid,
                                               .resource_version = str_of(version)},
                                 .controller = bind->scheduler_name,
                                 .instance = buffer_str(&instance),
                                 .type = STR_LITERAL("Normal"),
                                 .reason = STR_LITERAL("BindingConditionsPending"),
                                 .action = STR_LITERAL("Scheduling"),
                                 .note = buffer_str(&note)};
    record(e, at, &event, false);
    buffer_free(&note);
    buffer_free(&instance);
}

/* Upstream names the preemptor as the related object, but in a type that its event recorder cannot
 * make a reference of: the event goes out without one, and so it does here. */
void events_preempted(struct events *e, struct instant at, const struct events_victim *victim)
{
    struct buffer instance = {0}, note = {0};
    struct str where = victim->for_group ? STR_LITERAL("cluster") : victim->node_name;
    const char *kind = victim->for_tree    ? "compositepodgroup"
                       : victim->for_group ? "podgroup"
                                           : "pod";
    buffer_print(&note, "Preempted by %s %.*s on node %.*s%s", kind, STR_ARG(victim->preemptor_uid),
                 STR_ARG(where), victim->in_memory ? IN_MEMORY : "");
    buffer_print(&instance, "%.*s-%s", STR_ARG(victim->scheduler_name), e->options.hostname);
    struct writes_event event = {.regarding = {.kind = STR_LITERAL("Pod"),
                                               .api_version = STR_LITERAL("v1"),
                                               .namespace_name = victim->namespace_name,
                                               .name = victim->name,
                                               .uid = victim->uid,
                                               .resource_version = victim->resource_version},
                                 .controller = victim->scheduler_name,
                                 .instance = buffer_str(&instance),
                                 .type = STR_LITERAL("Normal"),
                                 .reason = STR_LITERAL("Preempted"),
                                 .action = STR_LITERAL("Preempting"),
                                 .note = buffer_str(&note)};
    record(e, at, &event, false);
    buffer_free(&instance);
    buffer_free(&note);
}

/* ---- time ---- */

static void push_series(struct entry *entry, struct moment now)
{
    if (entry->job.place == JOB_idle && entry->event.series_count > entry->written_count)
        enqueue(entry, now);
}

static void finish_one(struct events *e, struct instant at, struct entry *entry)
{
    const struct writes_event *event = &entry->event;
    int64_t last_us = is_series(entry) ? event->series_last_us : event->time_us;
    (void)e;
    if (entry->key.len == 0 || entry->job.place != JOB_idle ||
        last_us > at.wall_us - (int64_t)FINISH_MS * 1000)
        return;
    entry->closing = true;
    if (is_series(entry) && event->series_count > entry->written_count)
        enqueue(entry, at.now);
    else
        entry_free(entry);
}

static void refresh_one(struct events *e, struct instant at, struct entry *entry)
{
    (void)e;
    if (entry->key.len > 0 && is_series(entry))
        push_series(entry, at.now);
}

static void for_each(struct events *e, struct instant at,
                     void (*visit)(struct events *, struct instant, struct entry *))
{
    struct entry *newer;
    for (struct entry *entry = e->oldest; entry != NULL; entry = newer) {
        newer = entry->newer;
        visit(e, at, entry);
    }
}

struct moment events_tick(struct events *e, struct instant at)
{
    if (e->finish_at.ns == 0) {
        e->finish_at = moment_after(at.now, span_of_ms(FINISH_MS));
        e->refresh_at = moment_after(at.now, span_of_ms(REFRESH_MS));
    }
    if (moment_reached(at.now, e->finish_at)) {
        e->finish_at = moment_after(at.now, span_of_ms(FINISH_MS));
        for_each(e, at, finish_one);
    }
    if (moment_reached(at.now, e->refresh_at)) {
        e->refresh_at = moment_after(at.now, span_of_ms(REFRESH_MS));
        for_each(e, at, refresh_one);
    }
    return moment_earlier(e->finish_at, e->refresh_at);
}

void events_clear(struct events *e)
{
    while (e->oldest != NULL) {
        e->stats.dropped += e->oldest->job.place != JOB_idle;
        entry_free(e->oldest);
    }
}

void events_free(struct events **events)
{
    struct events *e = *events;
    if (e == NULL)
        return;
    events_clear(e);
    map_free(&e->cache);
    memory_free(e);
    *events = NULL;
}

struct events_stats events_stats(const struct events *e)
{
    struct events_stats stats = e->stats;
    stats.keys = (uint32_t)map_count(e->cache);
    return stats;
}
