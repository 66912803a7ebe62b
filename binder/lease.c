/* lease: one request at a time, each chosen from what was last observed: read, create, take, renew
 * or release. The one idea: a leader trusts only the start of its last write that the server
 * confirmed, a standby only the moment at which it saw the record change. What must stay true:
 * lease_left is positive only while no other candidate can have found our record expired, and
 * lease_settled true only when the writes of whoever led before have had all the time they may
 * take. */
#include "binder/lease.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "proto/kube/writes/writes.h"

#include <stdio.h>

#define PREFIX "/apis/coordination.k8s.io/v1"

enum step { STEP_read, STEP_create, STEP_write, STEP_release, STEP_offer };

struct lease {
    struct job job; /* first: the lanes give it back */
    struct lease_options options;
    struct lanes *lanes;
    struct random random;
    enum step step;     /* of the job when it is not idle */
    struct moment next; /* when to do the next step */
    bool leading, releasing, released;
    bool renewed_early;         /* a renewal was brought forward since the last good one */
    bool known, absent, reread; /* a record was read; it does not exist; read before writing */
    /* The record as last observed, and when its content was first seen so. */
    struct writes_lease seen;
    struct moment seen_at;
    struct buffer body;
    struct arena memory;
    /* What we hold. */
    int64_t term, transitions;
    int64_t heard;               /* the term that the last scheduler reported */
    bool introduced;             /* one has: it knows ours from now on */
    int64_t refused_term;        /* the last one that was too far above ours */
    uint64_t terms_refused;      /* how many */
    int64_t writing, writing_us; /* transitions in the write under way; its acquireTime */
    int64_t acquired_us;
    struct instant renewed;    /* start of the last confirmed write */
    struct moment quiet_since; /* no write of our own former reign or life began later */
    struct moment settles;     /* by then those of any former one have ended, one way or another */
    bool settled;
    struct handover handover;
    bool offering; /* the record that we just read wishes for relief, and we can give it */
    bool wished;   /* we wished for it ourselves with our last write */
    const char *lost_why, *forbidden;
    unsigned told; /* verbs of forbidden that were told already, as bits */
};

const char *lease_options_wrong(const struct lease_options *o)
{
    if (!o->elect)
        return NULL;
    if (o->duration.ns <= 0)
        return "leaderElection.leaseDuration: must be greater than zero";
    if (o->renew_deadline.ns <= 0)
        return "leaderElection.renewDeadline: must be greater than zero";
    if (o->retry_period.ns <= 0)
        return "leaderElection.retryPeriod: must be greater than zero";
    if (o->duration.ns <= o->renew_deadline.ns)
        return "leaderElection.leaseDuration: must be greater than `RenewDeadline`";
    if (o->renew_deadline.ns <= o->retry_period.ns + o->retry_period.ns / 5)
        return "leaderElection.renewDeadline: must be greater than retryPeriod*1.2";
    if (o->duration.ns % 1000000000 != 0)
        return "leaderElection.leaseDuration: must be whole seconds";
    if (*o->name == 0)
        return "leaderElection.resourceName: Required value";
    if (*o->namespace_name == 0)
        return "leaderElection.resourceNamespace: Required value";
    return NULL;
}

/* Up to a tenth of the retry period, so that several standbys do not write at one moment. */
static struct span jitter(struct lease *lease)
{
    return (struct span){
        (int64_t)((double)lease->options.retry_period.ns * 0.1 * random_fraction(&lease->random))};
}

static struct span margin(const struct lease *lease)
{
    int64_t quarter = (lease->options.duration.ns - lease->options.renew_deadline.ns) / 4;
    int64_t most = span_of_ms(500).ns;
    return (struct span){quarter < most ? quarter : most};
}

/* The greater of what both clocks say has passed since the last renewal: the monotonic one stands
 * still while the host is suspended, the wall clock may be set. */
static struct span held_for(const struct lease *lease, struct instant at)
{
    int64_t steady = moment_since(at.now, lease->renewed.now).ns;
    int64_t wall = (at.wall_us - lease->renewed.wall_us) * 1000;
    return (struct span){wall > steady ? wall : steady};
}

struct span lease_left(const struct lease *lease, struct instant at)
{
    if (!lease->leading || lease->releasing)
        return (struct span){0};
    if (!lease->options.elect)
        return span_of_ms(60000);
    int64_t held = held_for(lease, at).ns, spare = margin(lease).ns;
    if (held < 0 || held >= lease->options.renew_deadline.ns - spare)
        return (struct span){0};
    return (struct span){lease->options.duration.ns - spare - held};
}

bool lease_leading(const struct lease *lease)
{
    return lease->leading && !lease->releasing;
}

int64_t lease_term(const struct lease *lease)
{
    return lease->term;
}

struct str lease_holder(const struct lease *lease)
{
    return lease->options.elect ? lease->seen.holder : str_of(lease->options.identity);
}

struct str lease_uid(const struct lease *lease)
{
    return lease->seen.uid;
}

struct str lease_version(const struct lease *lease)
{
    return lease->seen.resource_version;
}

bool lease_settled(const struct lease *lease)
{
    return lease_leading(lease) && lease->settled;
}

struct span lease_settles_in(const struct lease *lease, struct moment now)
{
    bool waits = lease_leading(lease) && !lease->settled && !moment_reached(now, lease->settles);
    return waits ? moment_since(lease->settles, now) : (struct span){0};
}

const char *lease_lost_why(const struct lease *lease)
{
    return lease->lost_why;
}

struct moment lease_deadline(const struct lease *lease)
{
    if (!lease->leading)
        return (struct moment){0};
    if (!lease->options.elect)
        return MOMENT_NEVER;
    return moment_after(lease->renewed.now, lease->options.renew_deadline);
}

/* The term that ours must be above, at least base: what was heard, unless it is too far above what
 * is known. */
static int64_t to_pass(struct lease *lease, int64_t base)
{
    if (lease->heard <= base)
        return base;
    if (lease->heard - base <= LEASE_STEP_MAX)
        return lease->heard;
    if (lease->heard != lease->refused_term) {
        lease->refused_term = lease->heard;
        lease->terms_refused++;
        log_warn("a scheduler reports a term far above ours, left alone; restart it if it does not "
                 "follow|term=%lld ours=%lld",
                 (long long)lease->heard, (long long)base);
    }
    return base;
}

void lease_hear_term(struct lease *lease, int64_t term)
{
    bool first = !lease->introduced;
    if (term < 0 || term >= INT32_MAX) { /* leaseTransitions is an int32 */
        lease->terms_refused++;
        return;
    }
    lease->heard = term;
    lease->introduced = true;
    if (lease->options.elect)
        return;
    /* What the first one knows is from a former life of ours; another one may have it from us. */
    int64_t passed = to_pass(lease, first ? lease->term - 1 : lease->term);
    if (passed >= lease->term + !first)
        lease->term = passed + 1;
}

uint64_t lease_terms_refused(const struct lease *lease)
{
    return lease->terms_refused;
}

void lease_set_fitness(struct lease *lease, bool ready, const char *sick)
{
    lease->handover.ready = ready;
    lease->handover.sick = sick;
}

bool lease_released(const struct lease *lease)
{
    return lease->released;
}

/* ---- what was observed ---- */

static bool same_record(const struct writes_lease *a, const struct writes_lease *b)
{
    return str_equal(a->holder, b->holder) && str_equal(a->renewed, b->renewed) &&
           str_equal(a->acquired, b->acquired) && a->transitions == b->transitions &&
           a->duration_s == b->duration_s;
}

/* False when the answer is not a Lease. */
static bool observe(struct lease *lease, struct moment now, struct str body)
{
    struct arena memory = {0};
    struct writes_lease seen;
    if (!writes_lease_read(body, &seen, &memory)) {
        arena_free(&memory);
        log_warn("the API server's answer is not a Lease|lease=%s/%s",
                 lease->options.namespace_name, lease->options.name);
        return false;
    }
    if (!lease->known || !same_record(&seen, &lease->seen))
        lease->seen_at = now;
    arena_free(&lease->memory);
    lease->memory = memory;
    lease->seen = seen;
    buffer_reset(&lease->body);
    buffer_add_str(&lease->body, body);
    lease->known = true;
    lease->absent = lease->reread = false;
    return true;
}

static struct moment expiry(const struct lease *lease)
{
    return moment_after(lease->seen_at, span_of_ms(lease->seen.duration_s * 1000));
}

static bool is_ours(const struct lease *lease)
{
    return str_is(lease->seen.holder, lease->options.identity);
}

/* May a standby write its name into the record that it knows? A record with our own identity is
 * that of our former life, or one that we could not renew in time. It is taken at once, but by who
 * starts in a crash loop: no life of that would last until it could ask for relief. */
static bool takeable(const struct lease *lease, struct moment now)
{
    if (!moment_reached(now, lease->handover.stay_back))
        return false;
    if (lease->absent || lease->seen.holder.len == 0)
        return true;
    return moment_reached(now, is_ours(lease) ? lease->handover.leave : expiry(lease));
}

/* ---- requests ---- */

/* Do our writes ask a standby for relief? */
static bool wishes(const struct lease *lease, struct moment now)
{
    return lease->leading && !lease->releasing &&
           handover_asks(&lease->handover, now, lease->options.duration);
}

static void write_record(struct lease *lease, struct instant at, struct draft *draft)
{
    char acquired[40], renewed[40];
    bool release = lease->step == STEP_release;
    moment_print_micros(release ? at.wall_us : lease->writing_us, acquired, sizeof(acquired));
    moment_print_micros(at.wall_us, renewed, sizeof(renewed));
    struct buffer note = {0};
    if (lease->step == STEP_offer)
        handover_put_offer(&note, lease->options.identity);
    else if (wishes(lease, at.now))
        handover_put_wish(&note, lease->options.identity);
    struct writes_lease record = {
        .holder = str_of(release ? "" : lease->options.identity),
        .duration_s = release ? 1 : span_ms(lease->options.duration) / 1000,
        .acquired = str_of(acquired),
        .renewed = str_of(renewed),
        .transitions = lease->writing,
    };
    if (lease->step == STEP_offer)
        record = lease->seen; /* the election itself is as it was */
    record.handover = buffer_str(&note);
    bool create = lease->step == STEP_create;
    if (!create)
        record.resource_version = lease->seen.resource_version;
    draft->content_type = WRITES_JSON;
    writes_lease_put(&draft->body, &record, create ? (struct str){0} : buffer_str(&lease->body),
                     str_of(lease->options.namespace_name), str_of(lease->options.name));
    buffer_free(&note);
}

static void prepare(struct job *job, struct instant at, struct draft *draft)
{
    struct lease *lease = (struct lease *)job;
    static const enum kube_method methods[] = {[STEP_read] = KUBE_GET,
                                               [STEP_create] = KUBE_POST,
                                               [STEP_write] = KUBE_PUT,
                                               [STEP_release] = KUBE_PUT,
                                               [STEP_offer] = KUBE_PUT};
    draft->method = methods[lease->step];
    writes_path(&draft->path, PREFIX, str_of(lease->options.namespace_name), "leases",
                str_of(lease->step == STEP_create ? "" : lease->options.name));
    if (lease->step != STEP_read)
        write_record(lease, at, draft);
}

/* Whoever gave the lease back had nothing under way. All others' writes end with their lease, by
 * their own fence; ours also a timeout after the last one began. */
static void plan_to_settle(struct lease *lease)
{
    if (!lease->known || lease->seen.holder.len == 0)
        return;
    struct moment until = expiry(lease);
    struct moment ours = moment_after(lease->quiet_since, span_of_ms(LANES_WRITE_MS));
    if (is_ours(lease))
        until = moment_earlier(until, ours);
    if (until.ns > lease->settles.ns)
        lease->settles = until;
}

/* What the next write says: a renewal keeps the term, anything else begins a new one. */
static void plan_write(struct lease *lease, struct instant at)
{
    if (lease->leading && to_pass(lease, lease->term) == lease->term) {
        lease->writing = lease->transitions;
        lease->writing_us = lease->acquired_us;
        return;
    }
    if (!lease->leading)
        plan_to_settle(lease);
    lease->writing = lease->absent ? 0 : lease->seen.transitions + 1;
    if (lease->writing < lease->term) /* the lease was deleted since */
        lease->writing = lease->term;
    lease->writing = to_pass(lease, lease->writing);
    if (lease->writing > INT32_MAX - 1)
        lease->writing = INT32_MAX - 1;
    lease->writing_us = at.wall_us;
}

static void start(struct lease *lease, struct instant at)
{
    bool may_write = lease->leading || takeable(lease, at.now);
    if (lease->absent && !lease->releasing && may_write)
        lease->step = STEP_create;
    else if (!lease->known || lease->reread || !may_write)
        lease->step = lease->offering && !lease->reread ? STEP_offer : STEP_read;
    else
        lease->step = lease->releasing ? STEP_release : STEP_write;
    lease->offering = false;
    if (lease->step == STEP_create || lease->step == STEP_write)
        plan_write(lease, at);
    struct span timeout = {lease->options.renew_deadline.ns / 2};
    if (lease->leading && !lease->releasing) {
        struct span left = moment_since(lease_deadline(lease), at.now);
        timeout = left.ns < timeout.ns ? left : timeout;
    }
    lease->job.timeout_max = timeout;
    must(lanes_add(lease->lanes, LANE_lease, &lease->job, at.now));
}

/* ---- leading ---- */

/* Once each time that it begins to wish. */
static void tell_wish(struct lease *lease)
{
    bool wished = wishes(lease, lease->renewed.now);
    if (wished && !lease->wished)
        log_warn("this instance cannot schedule: asks for a standby that can|lease=%s/%s "
                 "reason=\"%s\"",
                 lease->options.namespace_name, lease->options.name, lease->handover.sick);
    lease->wished = wished;
}

static void lead(struct lease *lease)
{
    bool renewal = lease->leading && lease->writing == lease->transitions;
    if (!lease->leading)
        lease->settled = moment_reached(lease->job.sent.now, lease->settles);
    lease->leading = true;
    lease->renewed_early = false;
    lease->renewed = lease->job.sent;
    lease->transitions = lease->writing;
    lease->acquired_us = lease->writing_us;
    lease->term = lease->transitions + 1;
    if (!renewal)
        lease->handover.led_since = lease->renewed.now;
    tell_wish(lease);
    if (!renewal)
        log_info("became leader|lease=%s/%s identity=%s term=%lld", lease->options.namespace_name,
                 lease->options.name, lease->options.identity, (long long)lease->term);
    if (!renewal && !lease->settled)
        log_info("waits until writes of its former life have ended|ms=%lld",
                 (long long)span_ms(lease_settles_in(lease, lease->job.sent.now)));
}

static void lose(struct lease *lease, struct moment now, const char *why)
{
    must(lease->leading);
    lease->leading = false;
    lease->quiet_since = now;
    lease->lost_why = why;
    lease->reread = true;
    lease->next = now;
    log_warn("stopped leading|lease=%s/%s identity=%s term=%lld holder=\"%.*s\" reason=\"%s\"",
             lease->options.namespace_name, lease->options.name, lease->options.identity,
             (long long)lease->term, STR_ARG(lease->seen.holder), why);
}

/* No renewal follows, so the lease ends when it ends, and all that is under way with it. */
static void give_up(struct lease *lease, struct moment now)
{
    struct span pause = {2 * lease->options.duration.ns};
    lease->handover.stay_back = moment_after(now, pause);
    lease->wished = false;
    lose(lease, now, "given up: a standby is ready, and this instance cannot schedule");
}

/* ---- answers ---- */

static void retry_later(struct lease *lease, struct instant at, const struct kube_response *r)
{
    static struct log_limit limit;
    struct span wait = lease->options.retry_period;
    if (lease->leading)
        wait.ns /= 2; /* the deadline does not wait */
    if (log_limited(&limit, at.now))
        log_warn("lease request failed|lease=%s/%s status=%d error=\"%s\" leading=%s",
                 lease->options.namespace_name, lease->options.name, r->status, r->error,
                 lease->leading ? "yes" : "no");
    lease->reread = lease->reread || r->maybe_done || r->status / 100 == 2;
    lease->next = moment_after(moment_after(at.now, wait), jitter(lease));
}

static void note_forbidden(struct lease *lease)
{
    static const char *const verbs[] = {[STEP_read] = "get",
                                        [STEP_create] = "create",
                                        [STEP_write] = "update",
                                        [STEP_release] = "update",
                                        [STEP_offer] = "update"};
    unsigned bit = 1u << lease->step;
    if ((lease->told & bit) == 0)
        lease->forbidden = verbs[lease->step];
    lease->told |= bit;
}

const char *lease_forbidden(struct lease *lease)
{
    const char *verb = lease->forbidden;
    lease->forbidden = NULL;
    return verb;
}

/* Has a standby answered our wish, and is it still one? */
static bool relieved(const struct lease *lease, struct moment now)
{
    return lease->wished && wishes(lease, now) &&
           handover_offered(lease->seen.handover, lease->options.identity);
}

/* When a standby reads the record again. What is seen late is taken over late, so we look more
 * often than we would try. */
static struct moment next_look(struct lease *lease, struct moment now)
{
    struct span pause = {lease->options.retry_period.ns / 8};
    struct moment poll = moment_after(moment_after(now, pause), jitter(lease));
    struct moment expired = expiry(lease);
    if (moment_reached(now, expired)) /* we leave it to others for a while */
        return poll;
    return moment_earlier(poll, moment_after(expired, jitter(lease)));
}

static void on_record_read(struct lease *lease, struct instant at)
{
    if (lease->releasing || lease->leading) {
        bool still = is_ours(lease) && lease->seen.transitions == lease->transitions;
        lease->next = at.now;
        if (still && !relieved(lease, at.now))
            return; /* somebody touched the object, not the election: write again */
        if (lease->releasing)
            lease->released = true;
        else if (still)
            give_up(lease, at.now);
        else
            lose(lease, at.now, "another holder");
    }
    if (takeable(lease, at.now)) {
        lease->next = moment_after(at.now, jitter(lease));
        return;
    }
    lease->offering = handover_answers(&lease->handover, lease->seen.handover, lease->seen.holder,
                                       lease->options.identity);
    lease->next = lease->offering ? at.now : next_look(lease, at.now);
}

static void on_written(struct lease *lease, struct instant at)
{
    if (lease->step == STEP_release) {
        lease->released = true;
        log_info("lease released|lease=%s/%s identity=%s", lease->options.namespace_name,
                 lease->options.name, lease->options.identity);
        return;
    }
    if (lease->step == STEP_offer) {
        log_info("ready to take over: the leader asks for it|lease=%s/%s identity=%s",
                 lease->options.namespace_name, lease->options.name, lease->options.identity);
        lease->next = next_look(lease, at.now);
        return;
    }
    if (lease->releasing)
        return; /* a renewal that was under way when we were asked to stop */
    lead(lease);
    lease->next = moment_after(lease->renewed.now, lease->options.retry_period);
    if (moment_reached(at.now, lease->next))
        lease->next = at.now;
}

static void answered(struct job *job, struct instant at, const struct kube_response *r)
{
    struct lease *lease = (struct lease *)job;
    bool good = r->status >= 200 && r->status < 300 && observe(lease, at.now, r->body);
    lease->next = at.now;
    if (good && lease->step == STEP_read) {
        on_record_read(lease, at);
    } else if (good) {
        on_written(lease, at);
    } else if (r->status == 404 && lease->step != STEP_create) {
        lease->absent = true;
        lease->released = lease->releasing;
        if (!lease->leading && !takeable(lease, at.now)) /* we stay back from a new one, too */
            lease->next = next_look(lease, at.now);
    } else if (r->status == 409) {
        lease->reread = true; /* our picture is old */
        lease->absent = false;
        lease->next = moment_after(at.now, lease->leading ? (struct span){0} : jitter(lease));
    } else {
        if (r->status == 403)
            note_forbidden(lease);
        retry_later(lease, at, r);
        lease->released = lease->releasing;
    }
}

/* Neither is fenced: the resourceVersion guards them, and renewing is what opens the fence. */
static const struct job_type lease_job = {
    .fenced = false, .timeout = {30000000000}, .prepare = prepare, .answered = answered};

/* ---- life ---- */

static void leave_to_others(struct lease *lease, struct moment now)
{
    const struct lease_options *o = &lease->options;
    struct span pause = handover_leaves(o->duration, o->retry_period);
    lease->handover.leave = moment_after(now, pause);
    log_warn("the binder falls again and again: its lease is left to a standby until it has run "
             "out|lease=%s/%s falls=%u ms=%lld",
             o->namespace_name, o->name, o->falls, (long long)span_ms(pause));
}

/* Without a lease there is no record to tell what a former life had under way. Whoever starts us
 * again knows that there was one, and that it was dead when we started. */
static void lead_alone(struct lease *lease, struct instant at)
{
    lease->leading = true;
    lease->term = 1;
    lease->renewed = at;
    lease->settled = lease->options.falls == 0;
    if (lease->settled)
        return;
    lease->settles = moment_after(at.now, span_of_ms(LANES_WRITE_MS));
    log_info("waits until writes of its former life have ended|ms=%d", LANES_WRITE_MS);
}

struct lease *lease_new(const struct lease_options *options, struct lanes *lanes, struct instant at)
{
    must(lease_options_wrong(options) == NULL);
    struct lease *lease = memory_take(sizeof(*lease));
    lease->options = *options;
    lease->lanes = lanes;
    lease->random.state = options->seed;
    lease->job.type = &lease_job;
    lease->next = lease->quiet_since = at.now;
    lease->lost_why = "";
    if (options->elect && options->falls >= HANDOVER_FALLS)
        leave_to_others(lease, at.now);
    if (!options->elect)
        lead_alone(lease, at);
    return lease;
}

void lease_free(struct lease **lease)
{
    struct lease *l = *lease;
    if (l == NULL)
        return;
    if (l->job.place != JOB_idle)
        lanes_remove(l->lanes, &l->job);
    arena_free(&l->memory);
    buffer_free(&l->body);
    memory_free(l);
    *lease = NULL;
}

static struct moment tick_alone(struct lease *lease, struct moment now)
{
    lease->settled = lease->settled || moment_reached(now, lease->settles);
    return lease->settled ? MOMENT_NEVER : lease->settles;
}

struct moment lease_tick(struct lease *lease, struct instant at)
{
    if (lease->released)
        return MOMENT_NEVER;
    if (!lease->options.elect)
        return tick_alone(lease, at.now);
    if (lease->leading && !lease->releasing && moment_reached(at.now, lease_deadline(lease))) {
        if (lease->job.place != JOB_idle)
            lanes_remove(lease->lanes, &lease->job);
        lose(lease, at.now, "renew deadline passed");
    }
    lease->settled = lease->settled || moment_reached(at.now, lease->settles);
    bool idle = lease->job.place == JOB_idle;
    if (idle && lease->leading && !lease->renewed_early && lease_left(lease, at).ns == 0) {
        lease->renewed_early =
            true; /* the wall clock ran ahead: prove at once that we still hold it */
        lease->next = at.now;
    }
    if (idle && moment_reached(at.now, lease->next))
        start(lease, at);
    struct moment wake = lease->job.place == JOB_idle ? lease->next : MOMENT_NEVER;
    if (lease->leading && !lease->releasing)
        wake = moment_earlier(wake, lease_deadline(lease));
    if (lease->leading && !lease->settled)
        wake = moment_earlier(wake, lease->settles);
    return wake;
}

void lease_release(struct lease *lease, struct instant at)
{
    if (lease->releasing)
        return;
    if (lease->leading && !lease->settled) { /* whoever leads next has to wait for them, too */
        lease_leave(lease);
        return;
    }
    lease->releasing = true;
    lease->released = !lease->leading || !lease->options.elect;
    lease->writing = lease->transitions;
    lease->next = at.now;
    if (lease->job.place != JOB_idle && lease->released)
        lanes_remove(lease->lanes, &lease->job);
}

void lease_leave(struct lease *lease)
{
    if (lease->releasing)
        return;
    lease->releasing = lease->released = true;
    if (lease->job.place != JOB_idle)
        lanes_remove(lease->lanes, &lease->job);
    log_warn("the lease is left to run out: requests may be under way|lease=%s/%s identity=%s",
             lease->options.namespace_name, lease->options.name, lease->options.identity);
}
