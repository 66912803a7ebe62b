/* watcher: a reflector and a mirror for each kind, one publisher for all.
 *
 * Subscribers are held until every kind was listed once or, if it is not required, refused, so that
 * a snapshot is never half a cluster. A barrier is answered when each required kind, and each
 * decisive one that can be listed, has finished a list that began after it was asked, or has caught
 * up with the version of such a list; barriers share both. A probe on the watches' connection tells
 * an idle cluster from a dead connection. Where PodGroups are served their members are counted
 * (members.h), and which groups are served is told. What must stay true: barrier_reached stands in
 * the stream behind everything that was true when it was asked for. */
#include "watcher/watcher.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/bus/stream.h"
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/objects/claim_document.h"
#include "watcher/closed.h"
#include "watcher/holdings.h"
#include "watcher/members.h"
#include "watcher/mirror.h"
#include "watcher/names.h"
#include "watcher/watcher_inside.h"

#include <string.h>

#define LOG_BYTES_MAX ((size_t)64 << 20)
#define VIEW_EVERY_MS 1000
#define VIEW_STALE_MS 10000 /* crossing it is told at once */

/* Each bind is seen as a change, and one that goes out alone wakes every subscriber for itself
 * alone. Nobody waits for it, so while they come quickly several go together. */
#define GATHER_MS    2
#define GATHER_MOST  16
#define GATHER_AFTER 4 /* ms, since the last of them was told */

/* ---- life ---- */

/* The version is in the path alone: a list leaves it out of its objects. */
static void amend_group(void *context, struct message *set, struct arena *a)
{
    const struct source *s = context;
    const char *end = strrchr(s->path, '/'), *begin = end;
    while (begin > s->path && begin[-1] != '/')
        begin--;
    set->pod_group_set.group.version = arena_copy(a, (struct str){begin, (uint32_t)(end - begin)});
}

/* What is listed in another version of the API than before is told again, to be written in it. */
static void follow_path(struct source *s)
{
    const char *path = reflector_status(s->reflector).path;
    if (s->path != NULL && strcmp(s->path, path) != 0) {
        log_info("listed in another version|resource=%s path=%s", s->kind->name, path);
        mirror_doubt(s->mirror);
    }
    s->path = path;
}

static void on_list_begin(void *context)
{
    struct source *s = context;
    if (s->kind->others != NULL)
        follow_path(s);
    if (s->mirror != NULL)
        mirror_list_begin(s->mirror);
    else
        members_list_begin(s->w->members, s->list);
}

static void on_list_end(void *context)
{
    struct source *s = context;
    if (s->mirror != NULL)
        mirror_list_end(s->mirror);
    else
        members_list_end(s->w->members, s->list);
    log_info("listed|resource=%s objects=%zu", s->kind->name, source_objects(s));
}

static void on_object(void *context, const struct kube_json *object, bool listed)
{
    struct source *s = context;
    if (s->mirror != NULL)
        mirror_object(s->mirror, object, listed);
    else
        members_finished(s->w->members, s->list, object);
}

static void on_deleted(void *context, const struct kube_json *object)
{
    struct source *s = context;
    if (s->mirror != NULL)
        mirror_deleted(s->mirror, object);
    else
        members_finished_gone(s->w->members, s->list, object);
}

static void look_for_groups(struct watcher *w, struct str api);

static void on_told(void *context, const struct message *what, const struct kube_json *object)
{
    struct watcher *w = context;
    struct str changed[2];
    members_told(w->members, what, object);
    const struct pod *pod = &what->pod_set.pod;
    if (what->type == MSG_pod_set && pod->gang.len > 0 && pod->node_name.len == 0)
        look_for_groups(w, pod->gang_api);
    if (closed_told(w->closed, what, changed) && w->nodes != NULL)
        for (size_t i = 0; i < 2; i++)
            mirror_again(w->nodes, changed[i]);
}

/* What is said of a node depends on the pods that are there. */
static void amend_node(void *context, struct message *set, struct arena *a)
{
    const struct watcher *w = context;
    closed_open(&set->node_set.node, a);
    if (closed_count(w->closed) > 0 && closed_pods(w->closed, set->node_set.node.name) > 0)
        closed_close(&set->node_set.node, a);
}

/* Whoever gives a claim its devices need not read it first. */
static void amend_claim(void *context, struct message *set, struct arena *a)
{
    const struct source *s = context;
    struct resource_claim *claim = &set->resource_claim_set.resource_claim;
    struct buffer body = {0};
    if (claim_document_wanted(claim) && reflector_document(s->reflector, &body))
        claim_document_set(claim, buffer_str(&body), a);
    buffer_free(&body);
}

static void source_init(struct source *s, struct watcher *w, const struct kube_resource *kind,
                        const struct watcher_options *options)
{
    struct reflector_options o = {
        .name = kind->name,
        .kind = kind->kind,
        .path = kind->path,
        .others = kind->others,
        .field_selector = kind->field_selector,
        .required = kind->required,
        .may_be_absent = kind->offer != KUBE_always,
        .discover = strcmp(kind->kind, "PodGroup") == 0 || kind->offer == KUBE_tree,
        .managers = kind->offer == KUBE_custom,
        .protobuf = options->protobuf && kind->offer < KUBE_custom &&
                    kube_protobuf_knows(str_of(kind->kind)),
        .page_size = options->page_size,
        .catch_up_from = options->catch_up_from,
        .stale_after = options->stale_after,
        .seed = options->seed ^ str_hash(str_of(kind->name)),
        .context = s,
        .list_begin = on_list_begin,
        .object = on_object,
        .deleted = on_deleted,
        .list_end = on_list_end,
    };
    if (kind->set == NULL)
        o.label_selector = finished_lists[s->list].label_selector;
    s->w = w;
    s->kind = kind;
    s->idle = kind->set == NULL;
    s->reflector = reflector_new(&o);
    if (kind->set == NULL)
        return;
    s->mirror = mirror_new(kind, w->publisher);
    mirror_annotate(s->mirror, &w->annotations);
    if (kind->others != NULL)
        mirror_amend(s->mirror, s, amend_group);
    if (strcmp(kind->kind, "ResourceClaim") == 0)
        mirror_amend(s->mirror, s, amend_claim);
    if (strcmp(kind->kind, "Node") == 0) {
        w->nodes = s->mirror;
        mirror_amend(s->mirror, w, amend_node);
    }
    if (strcmp(kind->kind, "Pod") != 0)
        return;
    w->pods = s->mirror;
    mirror_tell(s->mirror, w, on_told);
}

static bool has_pod_groups(const struct watcher_options *options)
{
    for (size_t i = 0; i < options->kind_count; i++)
        if (strcmp(options->kinds[i].kind, "PodGroup") == 0)
            return true;
    return false;
}

/* Kinds that are not read stand behind all others. */
static size_t kinds_to_read(const struct watcher_options *options)
{
    size_t count = options->kind_count;
    while (count > 0 && options->kinds[count - 1].offer == KUBE_tree && !options->group_trees)
        count--;
    return count;
}

struct watcher *watcher_new(const struct watcher_options *options)
{
    size_t kinds = kinds_to_read(options);
    must(options->epoch > 0 && kinds > 0);
    struct watcher *w = memory_take(sizeof(*w));
    w->barrier_wait = options->barrier_wait;
    w->annotations = options->annotations;
    size_t log_max = options->log_bytes_max > 0 ? options->log_bytes_max : LOG_BYTES_MAX;
    w->publisher = publisher_new(&(struct publisher_options){
        .epoch = options->epoch, .log_bytes_max = log_max, .subscribers_max = HELD_MAX});
    w->members = members_new(w->publisher);
    w->closed = closed_new();
    w->count = kinds + (has_pod_groups(options) ? FINISHED_LISTS : 0);
    w->sources = memory_take_array(w->count, sizeof(*w->sources));
    for (size_t i = 0; i < kinds; i++)
        source_init(&w->sources[i], w, &options->kinds[i], options);
    for (size_t i = kinds, list = 0; i < w->count; i++, list++) {
        w->sources[i].list = list;
        source_init(&w->sources[i], w, &finished_lists[list].kind, options);
    }
    /* The first object of every snapshot: who reads one knows which groups there are before it sees
     * a pod that names one. */
    if (has_pod_groups(options))
        publisher_set(w->publisher, &w->group_kinds, &(struct message){.type = MSG_group_kinds});
    return w;
}

void watcher_free(struct watcher **watcher)
{
    struct watcher *w = *watcher;
    if (w == NULL)
        return;
    publisher_free(&w->publisher); /* it looks at the mirrors' objects */
    for (size_t i = 0; i < w->count; i++) {
        reflector_free(&w->sources[i].reflector);
        mirror_free(&w->sources[i].mirror);
    }
    members_free(&w->members);
    closed_free(&w->closed);
    barriers_free(&w->barriers);
    version_free(&w->version);
    memory_free(w->sources);
    memory_free(w);
    *watcher = NULL;
}

/* ---- subscribers ---- */

static void forget_held(struct watcher *w, struct address from)
{
    for (size_t i = w->held_count; i-- > 0;)
        if (same_address(w->held[i].from, from))
            w->held[i] = w->held[--w->held_count];
}

/* Until synced: remembers the newest question of each subscriber. */
static void hold(struct watcher *w, struct moment now, const struct delivery *in)
{
    forget_held(w, in->from);
    if (w->held_count == HELD_MAX) {
        if (log_limited(&w->limit, now))
            log_warn("too many subscribers wait for the first snapshot|max=%d", HELD_MAX);
        return;
    }
    w->held[w->held_count].from = in->from;
    w->held[w->held_count++].message = *in->message; /* numbers only */
}

static void on_subscribe(struct watcher *w, struct moment now, const struct delivery *in)
{
    if (w->synced)
        publisher_handle(w->publisher, in->from, in->message);
    else
        hold(w, now, in);
}

static void on_credit(struct watcher *w, struct moment now, const struct delivery *in)
{
    (void)now;
    if (w->synced)
        publisher_handle(w->publisher, in->from, in->message);
}

static void on_peer_down(struct watcher *w, struct moment now, const struct delivery *in)
{
    (void)now;
    forget_held(w, in->from);
    barriers_lose(&w->barriers, in->from);
    publisher_handle(w->publisher, in->from, in->message);
}

/* A kind that is not required may be refused, but not merely be late: what is not there yet would
 * be taken for what does not exist. */
static bool all_listed(const struct watcher *w)
{
    for (size_t i = 0; i < w->count; i++) {
        struct reflector_status s = reflector_status(w->sources[i].reflector);
        bool without = s.state == REFLECTOR_degraded || s.state == REFLECTOR_absent;
        bool done_without = !w->sources[i].kind->required && (without || w->sources[i].idle);
        if (!s.listed && !done_without)
            return false;
    }
    return true;
}

/* ---- which PodGroups are served ---- */

static const char *const group_apis[] = {KUBE_GANG_PLUGINS, KUBE_GANG_SIGS, KUBE_GANG_BUILT_IN};
#define GROUP_APIS (sizeof(group_apis) / sizeof(group_apis[0]))

/* The kind of its PodGroups; NULL: they are not looked for. */
static const struct source *groups_of(const struct watcher *w, struct str api)
{
    static const char before[] = "/apis/";
    for (size_t i = 0; i < w->count; i++) {
        const char *rest = w->sources[i].kind->path + sizeof(before) - 1;
        if (w->sources[i].mirror != NULL && strcmp(w->sources[i].kind->kind, "PodGroup") == 0 &&
            strncmp(rest, api.at, api.len) == 0 && rest[api.len] == '/')
            return &w->sources[i];
    }
    return NULL;
}

/* Who names one that is not read waits, if it may be there all the same. */
static bool is_unread(const struct reflector_status *status, struct unread_kind *unread)
{
    if (status->looking) {
        unread->state = UNREAD_looking;
        unread->message = STR_LITERAL("not served so far, looked for again");
        return true;
    }
    bool served = status->served || status->listed;
    unread->state = served ? UNREAD_served : UNREAD_unknown;
    unread->message = str_of(status->error);
    return status->state == REFLECTOR_degraded;
}

/* Who reads finished pods begins when their groups are served. */
static void serve_members(struct watcher *w, const char *api, bool served)
{
    members_serve(w->members, api, served);
    for (size_t i = 0; i < w->count && served; i++)
        if (w->sources[i].mirror == NULL &&
            strcmp(finished_lists[w->sources[i].list].api, api) == 0)
            w->sources[i].idle = false;
}

/* Publishes which are served when it has changed. */
static void look_at_group_kinds(struct watcher *w)
{
    struct str served[GROUP_APIS];
    struct unread_kind unread[GROUP_APIS];
    struct message m = {.type = MSG_group_kinds};
    struct group_kinds *kinds = &m.group_kinds;
    *kinds = (struct group_kinds){.apis.at = served, .unread.at = unread};
    for (size_t a = 0; a < GROUP_APIS; a++) {
        const struct source *s = groups_of(w, str_of(group_apis[a]));
        struct reflector_status status = {.state = REFLECTOR_absent};
        if (s != NULL)
            status = reflector_status(s->reflector);
        bool is_served = status.listed && status.state != REFLECTOR_absent;
        struct unread_kind *u = &unread[kinds->unread.count];
        u->api = str_of(group_apis[a]);
        kinds->unread.count += s != NULL && is_unread(&status, u);
        serve_members(w, group_apis[a], is_served);
        if (is_served)
            served[kinds->apis.count++] = str_of(group_apis[a]);
    }
    if (kinds->apis.count + kinds->unread.count > 0 || w->group_kinds.now != NULL)
        publisher_set(w->publisher, &w->group_kinds, &m);
}

/* A pod names one. By the last list they may not be served; but that was before, and a
 * CustomResourceDefinition comes with groups and pods at its heels. */
static void look_for_groups(struct watcher *w, struct str api)
{
    const struct source *s = groups_of(w, api);
    if (s == NULL)
        return;
    reflector_look(s->reflector, w->now);
    if (reflector_status(s->reflector).state == REFLECTOR_absent)
        look_at_group_kinds(w);
}

static void become_synced(struct watcher *w)
{
    w->synced = true;
    w->view_at = (struct moment){0};
    members_flush(w->members);
    log_info("every kind is listed|objects=%zu", publisher_objects(w->publisher));
    for (size_t i = 0; i < w->held_count; i++)
        publisher_handle(w->publisher, w->held[i].from, &w->held[i].message);
    w->held_count = 0;
}

/* ---- barriers ---- */

/* Nobody waits for what cannot be listed just now. */
static bool is_in_barrier(const struct source *s)
{
    enum reflector_state state = reflector_status(s->reflector).state;
    bool decisive = s->kind->offer == KUBE_maybe_decisive;
    return s->kind->required ||
           (decisive && state != REFLECTOR_degraded && state != REFLECTOR_absent);
}

/* What is asked again while it waits begins no new list: who lists for long would never end. */
static void on_barrier(struct watcher *w, struct moment now, const struct delivery *in)
{
    const struct barrier_name name = {in->message->barrier.id, in->from};
    bool again;
    w->barrier_seen = true;
    uint64_t *tickets = barriers_ask(&w->barriers, now, &name, w->count, &again);
    for (size_t i = 0; i < w->count && tickets != NULL && !again; i++)
        if (is_in_barrier(&w->sources[i]))
            tickets[i] = reflector_catch_up(w->sources[i].reflector);
}

static const struct mirror *mirror_named(const struct watcher *w, const char *name)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->sources[i].mirror != NULL && strcmp(w->sources[i].kind->name, name) == 0)
            return w->sources[i].mirror;
    return NULL;
}

static void on_names_request(struct watcher *w, struct moment now, const struct delivery *in)
{
    (void)now;
    if (w->synced) /* who asks before hears nothing, and compares nothing */
        names_publish(w->publisher, mirror_named(w, "nodes"), mirror_named(w, "pods"),
                      in->message->names_request.id);
}

static void on_reread(struct watcher *w, struct moment now, const struct delivery *in)
{
    (void)now;
    holdings_reread(w, in);
}

static bool lists_ended(const void *context, const uint64_t *tickets)
{
    const struct watcher *w = context;
    for (size_t i = 0; i < w->count; i++)
        if (reflector_lists_ended(w->sources[i].reflector) < tickets[i] &&
            is_in_barrier(&w->sources[i]))
            return false;
    return true;
}

static void note_barrier(struct watcher *w)
{
    struct message m = {.type = MSG_barrier_reached, .barrier_reached.id = w->barriers.last};
    publisher_note(w->publisher, &m);
    w->barrier_behind = publisher_snapshots(w->publisher);
}

static void answer_barriers(struct watcher *w)
{
    while (w->synced && barriers_next(&w->barriers, lists_ended, w))
        note_barrier(w);
}

/* ---- how fresh it is ---- */

/* Once a second, when it becomes stale or fresh, and behind each snapshot: who has just got one
 * decides nothing before it knows how old that is. Notes are in no snapshot, so the last barrier is
 * told again there: it may have been reached before. */
static void publish_view(struct watcher *w, struct moment now)
{
    struct message m = {.type = MSG_view};
    watcher_fill_view(w, now, &m.view);
    bool stale = m.view.age_ms >= VIEW_STALE_MS;
    bool told = publisher_snapshots(w->publisher) == w->viewed;
    if (stale == w->view_stale && told && !moment_reached(now, w->view_at))
        return;
    if (stale != w->view_stale)
        log_warn("the mirror is %s|stalest=%.*s age_ms=%lld", stale ? "stale" : "fresh again",
                 STR_ARG(m.view.stalest), (long long)m.view.age_ms);
    if (w->barriers.last != 0 && publisher_snapshots(w->publisher) != w->barrier_behind)
        note_barrier(w);
    w->view_stale = stale;
    w->viewed = publisher_snapshots(w->publisher);
    w->view_at = moment_after(now, span_of_ms(VIEW_EVERY_MS));
    publisher_note(w->publisher, &m);
}

/* ---- towards the API server ---- */

size_t watcher_sources(const struct watcher *w)
{
    return w->count + 1;
}

static void reconnect_all(struct watcher *w, struct moment now, const char *why)
{
    for (size_t i = 0; i < w->count; i++)
        reflector_reconnect(w->sources[i].reflector, now, why);
}

/* At a start whoever is to decide asks for a barrier as soon as it leads, which takes a few
 * milliseconds, and a list that began before it would have to be made twice. */
static bool holds_back(const struct watcher *w, struct moment now, const struct source *s)
{
    return s->kind->required && !w->barrier_seen &&
           !moment_reached(now, moment_after(w->started, w->barrier_wait));
}

static bool source_next(struct watcher *w, struct moment now, struct source *s,
                        struct reflector_request *request)
{
    return !s->idle && !holds_back(w, now, s) && reflector_next(s->reflector, now, request);
}

bool watcher_next(struct watcher *w, struct moment now, size_t source,
                  struct reflector_request *request)
{
    must(source <= w->count);
    if (w->started.ns == 0)
        w->started = now;
    bool wants = source == w->count ? probe_next(&w->probe, now, request)
                                    : source_next(w, now, &w->sources[source], request);
    if (!wants)
        return false;
    if (request->distrust) /* one watch is silent for too long: the others share its connection */
        reconnect_all(w, now, "another watch on its connection is silent");
    request->distrust = request->distrust || w->distrust;
    w->distrust = false;
    return true;
}

void watcher_data(struct watcher *w, struct moment now, size_t source, uint64_t number,
                  struct str piece)
{
    must(source <= w->count);
    w->now = now;
    probe_heard(&w->probe);
    if (source < w->count)
        reflector_data(w->sources[source].reflector, now, number, piece);
    else if (number == w->probe.number)
        version_data(&w->version, piece);
}

static void probed(struct watcher *w, struct moment now, uint64_t number,
                   const struct kube_response *response)
{
    enum probe_verdict verdict = probe_response(&w->probe, now, number, response);
    if (number == w->probe.number &&
        version_answered(&w->version, response->status, response->body, w->publisher))
        for (size_t a = 0; a < GROUP_APIS; a++) /* which another server may serve */
            look_for_groups(w, str_of(group_apis[a]));
    for (size_t i = 0; verdict == PROBE_alive && i < w->count; i++)
        reflector_alive(w->sources[i].reflector, now);
    if (verdict == PROBE_dead) {
        w->distrust = true;
        reconnect_all(w, now, "the server answers no probe");
    }
}

void watcher_response(struct watcher *w, struct moment now, size_t source, uint64_t number,
                      const struct kube_response *response)
{
    must(source <= w->count);
    w->now = now;
    if (response->silent) /* the probe's next answer will come on another connection */
        reconnect_all(w, now, "nothing comes on the connection of a request that timed out");
    if (source == w->count) {
        probed(w, now, number, response);
        return;
    }
    reflector_response(w->sources[source].reflector, now, number, response);
    if (response->error[0] != 0) /* the server that comes next may be of another version */
        probe_soon(&w->probe, now);
    if (w->sources[source].kind->offer != KUBE_always)
        look_at_group_kinds(w);
    if (!w->synced && all_listed(w))
        become_synced(w);
}

/* ---- the core's three entries ---- */

typedef void handler(struct watcher *w, struct moment now, const struct delivery *in);

static handler *const handlers[MSG_COUNT] = {
    [MSG_subscribe] = on_subscribe,         [MSG_credit] = on_credit,
    [MSG_peer_down] = on_peer_down,         [MSG_barrier] = on_barrier,
    [MSG_names_request] = on_names_request, [MSG_reread] = on_reread,
};

bool watcher_takes(enum message_type type)
{
    return type > MSG_none && type < MSG_COUNT &&
           (handlers[type] != NULL || type == MSG_holdings_request);
}

void watcher_handle(struct watcher *w, struct moment now, const struct delivery *in,
                    struct outbox *out)
{
    w->asked = true;
    if (in->message->type == MSG_holdings_request)
        holdings_tell(w, in, out);
    else if (watcher_takes(
                 in->message->type)) /* all else goes through the publisher, with a tick */
        handlers[in->message->type](w, now, in);
}

static struct moment source_deadline(const struct watcher *w, struct moment now,
                                     const struct source *s)
{
    if (s->idle)
        return MOMENT_NEVER;
    return holds_back(w, now, s) ? moment_after(w->started, w->barrier_wait)
                                 : reflector_deadline(s->reflector);
}

static void tell(struct watcher *w, struct moment now, struct outbox *out)
{
    uint64_t calm = w->pods != NULL ? mirror_calm(w->pods) : 0;
    if (calm != w->told_calm)
        w->calm_at = now;
    publisher_flush(w->publisher, out);
    w->told = publisher_sequence(w->publisher);
    w->told_calm = calm;
    w->gather_by = (struct moment){0};
    w->asked = false;
}

/* True while what is to be told can wait for more of its kind. */
static bool may_gather(struct watcher *w, struct moment now)
{
    int64_t news = publisher_sequence(w->publisher) - w->told;
    if (w->asked || w->pods == NULL || news == 0 || news >= GATHER_MOST ||
        (uint64_t)news != mirror_calm(w->pods) - w->told_calm ||
        moment_reached(now, moment_after(w->calm_at, span_of_ms(GATHER_AFTER))))
        return false;
    if (w->gather_by.ns == 0)
        w->gather_by = moment_after(now, span_of_ms(GATHER_MS));
    return !moment_reached(now, w->gather_by);
}

struct moment watcher_tick(struct watcher *w, struct moment now, struct outbox *out)
{
    /* First what is known, so that a snapshot asked for in this round has its place in the stream
     * and the notes behind it are not lost to it. */
    struct moment next = members_tick(w->members, now);
    if (!may_gather(w, now))
        tell(w, now, out);
    answer_barriers(w);
    publish_view(w, now);
    if (may_gather(w, now))
        next = moment_earlier(next, w->gather_by);
    else
        tell(w, now, out);
    next = moment_earlier(next, moment_earlier(w->view_at, probe_deadline(&w->probe)));
    for (size_t i = 0; i < w->count; i++)
        next = moment_earlier(next, source_deadline(w, now, &w->sources[i]));
    return next;
}
