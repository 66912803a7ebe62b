/* status: one entry for each pod whose condition or nomination is to be written, holding the newest
 * of each in encoded form until the patch is built. The one idea: a patch is made of what the
 * scheduler saw and what it says, at the moment of sending. What must stay true: at most one patch
 * of a pod is on the wire, none while its bind is, and whoever waits for a nomination to be cleared
 * hears of it once, however the entry ends. */
#include "binder/status.h"
#include "binder/pause.h"
#include "binder/reason.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/writes/writes.h"

/* A pod_failed without the parts of the pod that no patch needs. */
struct news {
    char *at; /* NULL: none */
    size_t len;
    bool awaited; /* somebody is to be told when it is written, or need not be any more */
};

struct entry {
    struct job job; /* first */
    struct statuses *statuses;
    char *uid;
    struct news now, next; /* being or to be written; came while now was on the wire */
    int tries;
    bool held; /* waits for how a bind ends */
    bool bind_waits;
};

struct statuses {
    struct status_options options;
    struct lanes *lanes;
    struct map *entries; /* uid -> entry */
    struct random random;
    struct statuses_stats stats;
};

struct statuses *statuses_new(const struct status_options *options, struct lanes *lanes)
{
    struct statuses *s = memory_take(sizeof(*s));
    s->options = *options;
    s->lanes = lanes;
    s->entries = map_new();
    s->random.state = options->seed;
    return s;
}

/* ---- what is to be written ---- */

static struct news pack(const struct pod_failed *failed)
{
    const struct pod *pod = &failed->pod;
    struct pod_failed kept = *failed;
    kept.pod = (struct pod){.uid = pod->uid,
                            .namespace_name = pod->namespace_name,
                            .name = pod->name,
                            .generation = pod->generation,
                            .nominated_node = pod->nominated_node,
                            .scheduled = pod->scheduled,
                            .condition_types = pod->condition_types};
    struct buffer bytes = {0};
    codec_encode(message_info[MSG_pod_failed].record, &kept, &bytes);
    struct news news = {.at = memory_copy(bytes.at, bytes.len), .len = bytes.len};
    buffer_free(&bytes);
    return news;
}

static struct pod_failed unpack(const struct news *news, struct arena *a)
{
    struct pod_failed failed;
    struct byte_cursor in = {(const uint8_t *)news->at, (const uint8_t *)news->at + news->len};
    must(codec_decode(message_info[MSG_pod_failed].record, &failed, &in, a));
    return failed;
}

static bool anything_differs(const struct pod_failed *failed)
{
    struct buffer body = {0};
    bool differs = writes_failure(&body, failed, 0);
    buffer_free(&body);
    return differs;
}

static void take_nomination(struct pod_failed *to, const struct pod_failed *from)
{
    to->set_nominated = from->set_nominated;
    to->nominated_node = from->nominated_node;
    to->pod.nominated_node = from->pod.nominated_node;
}

/* What newer leaves open stays as older, which is not written yet, has it. */
static struct pod_failed merge(const struct pod_failed *older, const struct pod_failed *newer)
{
    struct pod_failed merged = *newer;
    if (newer->event_only && !older->event_only) {
        merged = *older;
        if (newer->set_nominated)
            take_nomination(&merged, newer);
    } else if (!newer->set_nominated) {
        take_nomination(&merged, older);
    }
    return merged;
}

/* ---- entries ---- */

static struct entry *entry_of(struct statuses *s, struct str uid)
{
    return map_get(s->entries, uid);
}

/* True when somebody waited for it. */
static bool news_free(struct news *news)
{
    bool awaited = news->awaited;
    memory_free(news->at);
    *news = (struct news){0};
    return awaited;
}

/* Frees the entry, then tells who waited for it; problem: why it was not written, empty = need not
 * be or is. */
static void entry_end(struct entry *entry, struct instant at, const char *problem)
{
    struct statuses *s = entry->statuses;
    char *uid = entry->uid;
    if (entry->job.place != JOB_idle)
        lanes_remove(s->lanes, &entry->job);
    must(map_remove(s->entries, str_of(uid)) == entry);
    bool awaited = news_free(&entry->now);
    awaited = news_free(&entry->next) || awaited;
    memory_free(entry);
    if (awaited)
        s->options.cleared(s->options.owner, at, str_of(uid), problem);
    memory_free(uid);
}

static void prepare(struct job *job, struct instant at, struct draft *draft)
{
    struct entry *entry = (struct entry *)job;
    struct arena a = {0};
    struct pod_failed failed = unpack(&entry->now, &a);
    draft->method = KUBE_PATCH;
    draft->content_type = WRITES_PATCH;
    draft->unread = true;
    writes_path(&draft->path, "/api/v1", failed.pod.namespace_name, "pods", failed.pod.name);
    buffer_add_text(&draft->path, "/status");
    must(writes_failure(&draft->body, &failed, at.wall_us));
    arena_free(&a);
}

static void answered(struct job *job, struct instant at, const struct kube_response *response);

/* Short: a bind of the same pod may be waiting for it. */
static const struct job_type status_job = {
    .fenced = true, .timeout = {5000000000}, .prepare = prepare, .answered = answered};

static void enqueue(struct entry *entry, struct instant at)
{
    struct statuses *s = entry->statuses;
    entry->job.type = &status_job;
    entry->tries = 0;
    if (lanes_add(s->lanes, entry->now.awaited ? LANE_nomination : LANE_status, &entry->job,
                  at.now))
        return;
    s->stats.dropped++;
    entry_end(entry, at, "the status lane is full");
}

/* The patch has ended; problem: why not well. */
static void settle(struct entry *entry, struct instant at, const char *problem)
{
    struct statuses *s = entry->statuses;
    bool waits = entry->bind_waits;
    char *uid = str_copy(str_of(entry->uid));
    bool awaited = news_free(&entry->now);
    entry->now = entry->next;
    entry->next = (struct news){0};
    entry->bind_waits = false;
    if (entry->now.at == NULL)
        entry_end(entry, at, problem);
    else if (waits)
        entry->held = true;
    else
        enqueue(entry, at);
    if (awaited)
        s->options.cleared(s->options.owner, at, str_of(uid), problem);
    if (waits)
        s->options.clear(s->options.owner, at, str_of(uid));
    memory_free(uid);
}

static void warn_forbidden(const struct entry *entry, const struct kube_response *r)
{
    const struct statuses *s = entry->statuses;
    struct arena a = {0};
    struct pod_failed failed = unpack(&entry->now, &a);
    if (s->options.forbidden)
        s->options.forbidden(s->options.owner, "patch", "pods/status", failed.pod.namespace_name,
                             r);
    arena_free(&a);
}

static bool nominates(const struct news *news)
{
    struct arena a = {0};
    bool nominates = unpack(news, &a).set_nominated;
    arena_free(&a);
    return nominates;
}

/* A condition is said again with the next failure. Of a nomination nobody speaks again, and to
 * write it twice does no harm. */
static bool may_pass(const struct entry *entry, const struct kube_response *r)
{
    return r->status == 500 || r->status == 503 || r->status == 409 || r->status == 429 ||
           (r->status == 0 && !r->maybe_done) || (answer_is_doubtful(r) && nominates(&entry->now));
}

/* What was not written is left to what comes behind it, which was told before that it would be.
 * doubtful: it may have been written, so that the nomination is written in any case. False: what
 * comes behind it is in the status as it was before, and nothing is left to be written. */
static bool carry_over(struct entry *entry, bool doubtful)
{
    struct arena a = {0};
    struct pod_failed older = unpack(&entry->now, &a), newer = unpack(&entry->next, &a);
    struct pod_failed merged = merge(&older, &newer);
    bool as_sent = doubtful && str_equal(merged.nominated_node, older.pod.nominated_node);
    merged.pod.nominated_node = as_sent ? older.nominated_node : older.pod.nominated_node;
    bool differs = anything_differs(&merged);
    struct news news = differs ? pack(&merged) : (struct news){0};
    bool awaited = news_free(&entry->next);
    news.awaited = differs && awaited;
    entry->now.awaited = entry->now.awaited || (awaited && !differs);
    entry->next = news;
    arena_free(&a);
    return differs;
}

static void answered(struct job *job, struct instant at, const struct kube_response *r)
{
    struct entry *entry = (struct entry *)job;
    struct statuses *s = entry->statuses;
    bool good = r->status >= 200 && r->status < 300;
    bool passing = may_pass(entry, r);
    bool superseded = entry->next.at != NULL || entry->bind_waits;
    if (passing && !superseded && ++entry->tries < PAUSE_TRIES_MAX) {
        lanes_again(s->lanes, job->lane, job,
                    pause_short(&s->random, at.now, entry->tries, r->retry_after_s));
        return;
    }
    if (r->status == 403)
        warn_forbidden(entry, r);
    good = good || r->status == 404; /* a pod that is gone needs no condition */
    s->stats.dropped += !good;
    if (passing && entry->next.at != NULL && !carry_over(entry, answer_is_doubtful(r)))
        good = true; /* what is wanted now is there */
    struct arena a = {0};
    struct writes_status status = {0};
    if (!good)
        writes_status_read(r->body, &status, &a);
    settle(entry, at,
           good                     ? ""
           : status.message.len > 0 ? status.message.at
           : *r->error              ? r->error
                                    : "the API server refused it");
    arena_free(&a);
}

/* ---- from the scheduler ---- */

/* What the pod is nominated to will be what is on the wire, whatever was seen. */
static void foresee(const struct entry *entry, struct pod_failed *failed, struct arena *a)
{
    if (entry->job.place != JOB_sent)
        return;
    struct pod_failed sent = unpack(&entry->now, a);
    if (sent.set_nominated)
        failed->pod.nominated_node = sent.nominated_node;
}

static void replace(struct statuses *s, struct news *old, const struct pod_failed *failed)
{
    struct news new = pack(failed);
    s->stats.replaced += old->at != NULL;
    new.awaited = news_free(old);
    *old = new;
}

/* Joins what waits with what is newer. False: nothing is left to be written, and what waits behind
 * a patch on the wire is dropped. */
static bool join(struct entry *entry, const struct pod_failed *failed)
{
    struct arena a = {0};
    bool sent = entry->job.place == JOB_sent;
    struct news *old = sent ? &entry->next : &entry->now;
    struct pod_failed merged = *failed;
    foresee(entry, &merged, &a);
    if (old->at != NULL) {
        struct pod_failed older = unpack(old, &a);
        merged = merge(&older, &merged);
    }
    bool differs = anything_differs(&merged);
    if (differs)
        replace(entry->statuses, old, &merged);
    else if (sent)
        entry->now.awaited = news_free(old) || entry->now.awaited;
    arena_free(&a);
    return differs;
}

static struct entry *entry_new(struct statuses *s, const struct pod_failed *failed)
{
    struct entry *entry = memory_take(sizeof(*entry));
    entry->statuses = s;
    entry->uid = str_copy(failed->pod.uid);
    entry->now = pack(failed);
    map_set(s->entries, failed->pod.uid, entry);
    return entry;
}

void statuses_failed(struct statuses *s, struct instant at, const struct pod_failed *failed,
                     bool binding)
{
    struct entry *entry = entry_of(s, failed->pod.uid);
    if (entry == NULL && anything_differs(failed)) {
        entry = entry_new(s, failed);
        if (binding)
            entry->held = true;
        else
            enqueue(entry, at);
    } else if (entry == NULL) {
        s->stats.unchanged++;
    } else if (!join(entry, failed) && entry->job.place != JOB_sent) {
        s->stats.unchanged++; /* what waits says less than what is there already */
        if (!entry->held)
            entry_end(entry, at, "");
    }
}

/* Nothing may be dropped that says more than the nomination, and it goes ahead of mere failures. */
static bool unnominate_entry(struct entry *entry, struct instant at, const struct pod_failed *clear)
{
    bool sent = entry->job.place == JOB_sent, told = entry->now.awaited;
    if (entry->held || entry->bind_waits)
        return false; /* to be bound, which clears it */
    if (join(entry, clear)) {
        (sent ? &entry->next : &entry->now)->awaited = true;
        if (!sent && entry->job.lane != LANE_nomination) {
            lanes_remove(entry->statuses->lanes, &entry->job);
            enqueue(entry, at);
        }
        return true;
    }
    if (sent)
        return entry->now.awaited;
    entry_end(entry, at, "");
    return told;
}

bool statuses_unnominate(struct statuses *s, struct instant at, const struct pod *pod)
{
    struct entry *entry = entry_of(s, pod->uid);
    struct pod_failed clear = {.pod = *pod, .set_nominated = true, .event_only = true};
    if (entry != NULL)
        return unnominate_entry(entry, at, &clear);
    if (pod->nominated_node.len == 0)
        return false;
    entry = entry_new(s, &clear);
    entry->now.awaited = true;
    enqueue(entry, at);
    return true;
}

bool statuses_bind(struct statuses *s, struct instant at, struct str uid)
{
    struct entry *entry = entry_of(s, uid);
    if (entry == NULL)
        return false;
    s->stats.overtaken += entry->job.place != JOB_sent || entry->next.at != NULL;
    if (entry->job.place == JOB_sent) {
        entry->now.awaited = news_free(&entry->next) || entry->now.awaited;
        entry->bind_waits = true;
        return true;
    }
    entry_end(entry, at, "");
    return false;
}

void statuses_bind_ended(struct statuses *s, struct instant at, struct str uid, bool bound)
{
    struct entry *entry = entry_of(s, uid);
    if (entry == NULL)
        return;
    entry->bind_waits = false;
    if (bound) {
        s->stats.overtaken += entry->held || entry->next.at != NULL;
        entry->now.awaited = news_free(&entry->next) || entry->now.awaited;
        if (entry->held)
            entry_end(entry, at, "");
    } else if (entry->held) {
        entry->held = false;
        enqueue(entry, at);
    }
}

void statuses_clear(struct statuses *s, struct instant at)
{
    size_t place = 0;
    struct str uid;
    void *value;
    while (map_next(s->entries, &place, &uid, &value)) {
        s->stats.dropped++;
        entry_end(value, at, "lost leadership");
    }
}

void statuses_free(struct statuses **statuses)
{
    struct statuses *s = *statuses;
    size_t place = 0;
    struct str uid;
    void *value;
    if (s == NULL)
        return;
    while (map_next(s->entries, &place, &uid, &value)) {
        struct entry *entry = value;
        entry->now.awaited = entry->next.awaited = false; /* who would listen may be gone */
        entry_end(entry, (struct instant){0}, "");
    }
    map_free(&s->entries);
    memory_free(s);
    *statuses = NULL;
}

struct statuses_stats statuses_stats(const struct statuses *s)
{
    struct statuses_stats stats = s->stats;
    stats.pods = (uint32_t)map_count(s->entries);
    return stats;
}
