/* status: one entry for each pod whose condition is to be written, holding the newest failure in
 * encoded form until the patch is built. The one idea: a patch is made of what the scheduler saw
 * and what it says, at the moment of sending. What must stay true: at most one patch of a pod is on
 * the wire, and none while its bind is. */
#include "binder/status.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "proto/kube/writes.h"

#define TRIES_MAX 4 /* upstream's retries: 10 ms, times five each, a tenth of jitter */
#define TRY_MS    10

/* A pod_failed without the parts of the pod that no patch needs. */
struct news {
    char *at;
    size_t len;
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

static struct news news_of(const struct pod_failed *failed)
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
    struct news news = {memory_copy(bytes.at, bytes.len), bytes.len};
    buffer_free(&bytes);
    return news;
}

static void news_free(struct news *news)
{
    memory_free(news->at);
    *news = (struct news){0};
}

static struct pod_failed read_news(const struct news *news, struct arena *a)
{
    struct pod_failed failed;
    struct cursor in = {(const uint8_t *)news->at, (const uint8_t *)news->at + news->len};
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

/* ---- entries ---- */

static struct entry *entry_of(struct statuses *s, struct str uid)
{
    return map_get(s->entries, uid);
}

static void entry_free(struct entry *entry)
{
    struct statuses *s = entry->statuses;
    if (entry->job.place != JOB_idle)
        lanes_remove(s->lanes, &entry->job);
    must(map_remove(s->entries, str_of(entry->uid)) == entry);
    news_free(&entry->now);
    news_free(&entry->next);
    memory_free(entry->uid);
    memory_free(entry);
}

static void prepare(struct job *job, struct instant at, struct draft *draft)
{
    struct entry *entry = (struct entry *)job;
    struct arena a = {0};
    struct pod_failed failed = read_news(&entry->now, &a);
    draft->method = KUBE_PATCH;
    draft->content_type = WRITES_PATCH;
    writes_path(&draft->path, "/api/v1", failed.pod.namespace_name, "pods", failed.pod.name);
    buffer_add_text(&draft->path, "/status");
    must(writes_failure(&draft->body, &failed, at.wall_us));
    arena_free(&a);
}

static void answered(struct job *job, struct instant at, const struct kube_response *response);

/* Short: a bind of the same pod may be waiting for it. */
static const struct job_type status_job = {
    .fenced = true, .timeout = {5000000000}, .prepare = prepare, .answered = answered};

static void enqueue(struct entry *entry, struct moment now)
{
    struct statuses *s = entry->statuses;
    entry->job.type = &status_job;
    entry->tries = 0;
    if (lanes_add(s->lanes, LANE_status, &entry->job, now))
        return;
    s->stats.dropped++;
    entry_free(entry);
}

/* The patch has ended, well or not. */
static void settle(struct entry *entry, struct instant at)
{
    struct statuses *s = entry->statuses;
    bool waits = entry->bind_waits;
    char *uid = str_copy(str_of(entry->uid));
    news_free(&entry->now);
    entry->now = entry->next;
    entry->next = (struct news){0};
    entry->bind_waits = false;
    if (entry->now.at == NULL)
        entry_free(entry);
    else if (waits)
        entry->held = true;
    else
        enqueue(entry, at.now);
    if (waits)
        s->options.clear(s->options.owner, at, str_of(uid));
    memory_free(uid);
}

static void warn_forbidden(const struct entry *entry, const struct kube_response *r)
{
    const struct statuses *s = entry->statuses;
    struct arena a = {0};
    struct pod_failed failed = read_news(&entry->now, &a);
    if (s->options.forbidden)
        s->options.forbidden(s->options.owner, "patch", "pods/status", failed.pod.namespace_name,
                             r);
    arena_free(&a);
}

static void answered(struct job *job, struct instant at, const struct kube_response *r)
{
    struct entry *entry = (struct entry *)job;
    struct statuses *s = entry->statuses;
    bool good = r->status >= 200 && r->status < 300;
    bool passing = r->status == 500 || r->status == 503 || r->status == 409 || r->status == 429 ||
                   (r->status == 0 && !r->maybe_done);
    bool superseded = entry->next.at != NULL || entry->bind_waits;
    if (passing && !superseded && ++entry->tries < TRIES_MAX) {
        double wait_ms = TRY_MS * (1 + 0.1 * random_fraction(&s->random));
        for (int i = 1; i < entry->tries; i++)
            wait_ms *= 5;
        if (r->retry_after_s > 0 && r->retry_after_s <= 10)
            wait_ms = r->retry_after_s * 1000.0;
        lanes_again(s->lanes, LANE_status, job,
                    moment_after(at.now, span_of_us((int64_t)(wait_ms * 1000))));
        return;
    }
    if (r->status == 403)
        warn_forbidden(entry, r);
    if (!good && r->status != 404) /* a pod that is gone needs no condition */
        s->stats.dropped++;
    settle(entry, at);
}

/* ---- from the scheduler ---- */

static void replace(struct statuses *s, struct news *old, struct news new)
{
    s->stats.replaced += old->at != NULL;
    news_free(old);
    *old = new;
}

void statuses_failed(struct statuses *s, struct instant at, const struct pod_failed *failed,
                     bool binding)
{
    struct entry *entry = entry_of(s, failed->pod.uid);
    bool differs = anything_differs(failed);
    if (entry != NULL && entry->job.place == JOB_sent) {
        if (differs)
            replace(s, &entry->next, news_of(failed));
        return;
    }
    if (!differs) {
        s->stats.unchanged++;
        if (entry != NULL && !entry->held) /* what waits says less than what is there already */
            entry_free(entry);
        return;
    }
    if (entry != NULL) {
        replace(s, &entry->now, news_of(failed));
        return;
    }
    entry = memory_take(sizeof(*entry));
    entry->statuses = s;
    entry->uid = str_copy(failed->pod.uid);
    entry->now = news_of(failed);
    map_set(s->entries, failed->pod.uid, entry);
    if (binding)
        entry->held = true;
    else
        enqueue(entry, at.now);
}

bool statuses_bind(struct statuses *s, struct str uid)
{
    struct entry *entry = entry_of(s, uid);
    if (entry == NULL)
        return false;
    s->stats.overtaken += entry->job.place != JOB_sent || entry->next.at != NULL;
    if (entry->job.place == JOB_sent) {
        news_free(&entry->next);
        entry->bind_waits = true;
        return true;
    }
    entry_free(entry);
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
        news_free(&entry->next);
        if (entry->held)
            entry_free(entry);
    } else if (entry->held) {
        entry->held = false;
        enqueue(entry, at.now);
    }
}

void statuses_clear(struct statuses *s)
{
    size_t at = 0;
    struct str uid;
    void *value;
    while (map_next(s->entries, &at, &uid, &value)) {
        s->stats.dropped++;
        entry_free(value);
    }
}

void statuses_free(struct statuses **statuses)
{
    struct statuses *s = *statuses;
    if (s == NULL)
        return;
    statuses_clear(s);
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
