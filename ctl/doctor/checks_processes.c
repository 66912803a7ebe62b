/* checks_processes: what is silently wrong with processes, their links to the API server and each
 * other, and with what they hold. What must stay true: what is on its way, or has just begun, is no
 * finding; a check that cannot look finds nothing.
 */
#include "ctl/doctor/facts.h"

#include "proto/kube/objects/objects.h"

#include <inttypes.h>
#include <string.h>

#define PROCESS_EACH(f, p)                                                                         \
    for (const struct process_fact *p = (f)->processes; p < (f)->processes + (f)->process_count;   \
         p++)

static const struct process_fact *first_of(const struct facts *f, enum process kind)
{
    PROCESS_EACH (f, p)
        if (is_kind(p, kind))
            return p;
    return NULL;
}

static bool some_is_silent(const struct facts *f)
{
    PROCESS_EACH (f, p)
        if (!p->answered && !p->answered_before)
            return true;
    return false;
}

static bool some_is_settled(const struct facts *f)
{
    PROCESS_EACH (f, p)
        if (is_settled(f, p))
            return true;
    return false;
}

/* ---- are they there, and well? ---- */

static void look_no_answer(const struct facts *f, const struct check *c, struct findings_list *out)
{
    PROCESS_EACH (f, p)
        if (!p->answered && !p->answered_before)
            find(out, c, p->name, -1, "has a door and does not answer: it hangs, or has fallen");
}

/* It has no door while it is not there, so it is not missed elsewhere. */
static void look_ended(const struct facts *f, const struct check *c, struct findings_list *out)
{
    for (size_t i = 0; i < f->ended_count; i++)
        if (f->ended[i].times >= ENDED_AGAIN)
            find(out, c, str_of(f->ended[i].name), -1,
                 "has ended %u times, soon each time, last %s", f->ended[i].times, f->ended[i].how);
}

/* The scheduler has one inside, which is asked. */
static bool has_own_worker(const struct facts *f)
{
    const struct process_fact *scheduler = first_of(f, SCHEDULER);
    return scheduler != NULL && str_is(status_word(&scheduler->now, "own_worker", "up"), "yes");
}

static void look_missing(const struct facts *f, const struct check *c, struct findings_list *out)
{
    static const enum process needed[] = {WATCHER, QUEUE, SCHEDULER, WORKER, BINDER};
    if (some_is_silent(f) || !some_is_settled(f)) /* who that is is not known, or comes yet */
        return;
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        if (first_of(f, needed[i]) == NULL && !(needed[i] == WORKER && has_own_worker(f)))
            find(out, c, str_of(process_name(needed[i])), -1, "there is none, so no pod is bound");
}

/* A standby that is ready is well. */
static void look_not_ready(const struct facts *f, const struct check *c, struct findings_list *out)
{
    PROCESS_EACH (f, p)
        if (is_kind(p, BINDER) && is_settled(f, p) &&
            str_is(status_line(&p->now, "ready"), "false"))
            find(out, c, p->name, -1, "does not lead, or could not: it lacks %.*s",
                 STR_ARG(status_line(&p->now, "lacks")));
}

/* A binder that could not renew its lease is still named in it; one that is named and settles
 * leads soon. How long it lasts is not known. */
static void look_leaderless(const struct facts *f, const struct check *c, struct findings_list *out)
{
    PROCESS_EACH (f, p) {
        struct str holder = status_line(&p->now, "holder");
        struct str lost = status_line(&p->now, "lease_lost");
        bool own = str_equal(holder, status_line(&p->now, "identity"));
        if (!is_kind(p, BINDER) || !is_settled(f, p) ||
            !str_is(status_line(&p->now, "leading"), "false") ||
            !str_is(status_line(&p->before, "leading"), "false"))
            continue;
        if (holder.len == 0)
            find(out, c, p->name, -1, "nobody holds the lease, so no pod is bound");
        else if (own && status_line(&p->now, "settles_in_ms").len == 0)
            find(out, c, p->name, -1, "nobody renews its lease%s%.*s%s, so no pod is bound",
                 lost.len > 0 ? " (" : "", STR_ARG(lost), lost.len > 0 ? ")" : "");
    }
}

static bool leads(const struct process_fact *p)
{
    return str_is(status_line(&p->now, "leading"), "yes") &&
           str_is(status_line(&p->before, "leading"), "yes");
}

static void look_undecided(const struct facts *f, const struct check *c, struct findings_list *out)
{
    PROCESS_EACH (f, p) {
        struct str state = status_line(&p->now, "state");
        if (is_kind(p, SCHEDULER) && is_settled(f, p) && leads(p) && !str_is(state, "deciding") &&
            str_equal(state, status_line(&p->before, "state")))
            find(out, c, p->name, -1, "leads and decides nothing: it %.*s", STR_ARG(state));
    }
}

/* Attempts are owed, and none was made between the two times. */
static void look_stalled(const struct facts *f, const struct check *c, struct findings_list *out)
{
    const struct process_fact *scheduler = first_of(f, SCHEDULER);
    if (scheduler == NULL || !leads(scheduler) || !is_settled(f, scheduler))
        return;
    PROCESS_EACH (f, p)
        if (is_kind(p, QUEUE) && is_settled(f, p) && is_same_life(p) && f->between_ms >= 1000 &&
            status_number(&p->now, "active", "") > 0 &&
            status_number(&p->before, "active", "") > 0 && grown(p, "attempts", "") == 0)
            find(out, c, p->name, -1,
                 "%" PRId64 " pods are to be tried, and none was for %" PRId64 " ms",
                 status_number(&p->now, "active", ""), f->between_ms);
}

static void look_config(const struct facts *f, const struct check *c, struct findings_list *out)
{
    struct str hash = {NULL, 0}, first = {NULL, 0};
    PROCESS_EACH (f, p) {
        struct str has = status_line(&p->now, "config_hash");
        bool unsettled =
            !is_settled(f, p) || !str_equal(has, status_line(&p->before, "config_hash"));
        if (has.len == 0 || unsettled)
            continue;
        if (hash.len == 0) {
            hash = has;
            first = p->name;
        } else if (!str_equal(hash, has)) {
            find(out, c, p->name, -1, "works by another configuration than %.*s", STR_ARG(first));
        }
    }
}

static void look_log(const struct facts *f, const struct check *c, struct findings_list *out)
{
    PROCESS_EACH (f, p) {
        int64_t lost = grown(p, "log_lines_lost", "");
        if (lost > 0)
            find(out, c, p->name, -1, "%" PRId64 " lines of the log were lost just now", lost);
    }
}

/* ---- towards the API server ---- */

static void look_view(const struct facts *f, const struct check *c, struct findings_list *out)
{
    PROCESS_EACH (f, p) {
        int64_t age = status_number(&p->now, "age_ms", "");
        if (is_kind(p, WATCHER) && is_settled(f, p) && age > f->lag_s * 1000)
            find(out, c, p->name, age / 1000,
                 "nothing was heard of nodes or pods: what it shows "
                 "may be old, and nothing is bound on it");
    }
}

static bool is_state(const struct status *s, const char *kind, const char *state)
{
    return str_is(status_word(s, kind, "state"), state);
}

/* Calls look for each kind that the watcher reads; its name ends in a zero byte there. */
static void each_kind(const struct process_fact *p,
                      void (*look)(const struct process_fact *p, const char *kind, void *context),
                      void *context)
{
    char name[128];
    for (uint32_t i = 0; i < p->now.lines.count; i++) {
        const struct label *l = &p->now.lines.at[i];
        if (l->key.len >= sizeof(name) || l->value.len < 6 || !str_starts_with(l->value, "state="))
            continue;
        for (uint32_t k = 0; k < l->key.len; k++)
            name[k] = l->key.at[k];
        name[l->key.len] = 0;
        look(p, name, context);
    }
}

struct looking {
    const struct facts *f;
    const struct check *check;
    struct findings_list *out;
};

static void look_kind_late(const struct process_fact *p, const char *kind, void *context)
{
    struct looking *l = context;
    int64_t heard = status_number(&p->now, kind, "heard_ms");
    bool waits = is_state(&p->now, kind, "waiting") && is_state(&p->before, kind, "waiting");
    if (waits && heard > l->f->lag_s * 1000)
        find(l->out, l->check, str_of(kind), heard / 1000, "is not watched: %.*s",
             STR_ARG(status_line(&p->now, kind)));
}

static void look_watch(const struct facts *f, const struct check *c, struct findings_list *out)
{
    struct looking l = {f, c, out};
    PROCESS_EACH (f, p)
        if (is_kind(p, WATCHER) && is_settled(f, p))
            each_kind(p, look_kind_late, &l);
}

/* What some servers do not serve they may refuse as well, and that is no fault; who needs it waits,
 * and is found by that. */
static bool is_always_served(const char *kind)
{
    for (size_t i = 0; i < kube_resource_count; i++)
        if (strcmp(kube_resources[i].name, kind) == 0)
            return kube_resources[i].offer == KUBE_always ||
                   kube_resources[i].offer == KUBE_maybe_decisive;
    return false;
}

static void look_kind_refused(const struct process_fact *p, const char *kind, void *context)
{
    struct looking *l = context;
    if (is_state(&p->now, kind, "degraded") && is_always_served(kind))
        find(l->out, l->check, str_of(kind), -1,
             "cannot be read, so it is decided without them: "
             "%.*s",
             STR_ARG(status_line(&p->now, kind)));
}

static void look_rights(const struct facts *f, const struct check *c, struct findings_list *out)
{
    struct looking l = {f, c, out};
    PROCESS_EACH (f, p) {
        if (is_kind(p, WATCHER) && is_settled(f, p))
            each_kind(p, look_kind_refused, &l);
        for (uint32_t i = 0; is_kind(p, BINDER) && i < p->now.lines.count; i++)
            if (str_is(p->now.lines.at[i].key, "forbidden"))
                find(out, c, p->name, -1, "may not %.*s", STR_ARG(p->now.lines.at[i].value));
    }
}

static void look_kind_unreadable(const struct process_fact *p, const char *kind, void *context)
{
    struct looking *l = context;
    int64_t count = status_number(&p->now, kind, "unreadable");
    if (count > 0)
        find(l->out, l->check, str_of(kind), -1, "%" PRId64 " cannot be understood", count);
}

static void look_unreadable(const struct facts *f, const struct check *c, struct findings_list *out)
{
    struct looking l = {f, c, out};
    PROCESS_EACH (f, p)
        if (is_kind(p, WATCHER))
            each_kind(p, look_kind_unreadable, &l);
}

static void look_lanes(const struct facts *f, const struct check *c, struct findings_list *out)
{
    static const char *const lanes[] = {"lane_bind",     "lane_delete", "lane_nomination",
                                        "lane_volume",   "lane_status", "lane_event",
                                        "lane_extender", "lane_lease"};
    PROCESS_EACH (f, p)
        for (size_t i = 0; is_kind(p, BINDER) && i < sizeof(lanes) / sizeof(lanes[0]); i++) {
            int64_t oldest = status_number(&p->now, lanes[i], "oldest_ms");
            if (oldest > f->lag_s * 1000)
                find(out, c, str_of(lanes[i]), oldest / 1000,
                     "%" PRId64 " requests wait to be sent",
                     status_number(&p->now, lanes[i], "waiting"));
        }
}

/* Of a pod the API server refuses to evict: by a webhook, or for want of a right. */
static void look_evictions(const struct facts *f, const struct check *c, struct findings_list *out)
{
    static const char *const key = "preempts_failing";
    PROCESS_EACH (f, p) {
        struct str why = status_line(&p->now, key), head;
        if (is_kind(p, BINDER) && why.len > 0 && str_split(&why, " why=", &head))
            find(out, c, status_word(&p->now, key, "pod"),
                 status_number(&p->now, key, "for_ms") / 1000,
                 "no room is made for it: evictions have failed %" PRId64 " times: %.*s",
                 status_number(&p->now, key, "times"), STR_ARG(why));
    }
}

static void look_dropped(const struct facts *f, const struct check *c, struct findings_list *out)
{
    static const char *const lines[] = {"events", "status", "groups", "lane_event", "lane_status"};
    PROCESS_EACH (f, p)
        for (size_t i = 0; is_kind(p, BINDER) && i < sizeof(lines) / sizeof(lines[0]); i++) {
            int64_t dropped = grown(p, lines[i], "dropped");
            if (dropped > 0)
                find(out, c, str_of(lines[i]), -1, "%" PRId64 " were dropped just now", dropped);
        }
}

/* ---- workers ---- */

static void look_idle(const struct facts *f, const struct check *c, struct findings_list *out)
{
    const struct process_fact *scheduler = first_of(f, SCHEDULER);
    int64_t nodes = scheduler != NULL ? status_number(&scheduler->now, "nodes", "") : 0;
    int64_t workers = scheduler != NULL ? status_number(&scheduler->now, "workers", "") : 0;
    PROCESS_EACH (f, p) {
        if (!is_kind(p, WORKER) || !is_settled(f, p))
            continue;
        bool joined = str_is(status_line(&p->now, "joined"), "yes") ||
                      str_is(status_line(&p->before, "joined"), "yes");
        if (!joined)
            find(out, c, p->name, -1, "has joined no scheduler");
        else if (status_number(&p->now, "nodes", "") == 0 && nodes >= 2 * workers)
            find(out, c, p->name, -1, "has no nodes, though there are %" PRId64, nodes);
    }
}

/* As far as shares are told; who says to carry more has more (--capacity). */
static void look_uneven(const struct facts *f, const struct check *c, struct findings_list *out)
{
    int64_t most = -1, least = INT64_MAX;
    const struct process_fact *fullest = NULL, *emptiest = NULL;
    PROCESS_EACH (f, p) {
        int64_t nodes = status_number(&p->now, "nodes", "");
        if (!is_kind(p, WORKER) || !is_settled(f, p) || nodes <= 0)
            continue;
        fullest = nodes > most ? p : fullest;
        emptiest = nodes < least ? p : emptiest;
        most = nodes > most ? nodes : most;
        least = nodes < least ? nodes : least;
    }
    if (fullest != NULL && emptiest != NULL && most > 4 * least + 8)
        find(out, c, fullest->name, -1, "has %" PRId64 " nodes, %.*s has %" PRId64, most,
             STR_ARG(emptiest->name), least);
}

/* ---- who is asked beside the rules ---- */

static void look_extender(const struct facts *f, const struct process_fact *p, const char *key,
                          struct looking *l)
{
    int64_t mean = status_number(&p->now, key, "mean_us") / 1000;
    int64_t calls = status_number(&p->now, key, "calls"), failed = grown(p, key, "failures");
    int64_t failures = status_number(&p->now, key, "failures");
    struct str line = status_line(&p->now, key), url = line;
    for (url.len = 0; url.len < line.len && line.at[url.len] != ' ';)
        url.len++;
    if (failed > 0 || (calls >= 4 && failures * 2 > calls))
        find(l->out, l->check, url, -1, "of %" PRId64 " calls %" PRId64 " have failed", calls,
             failures);
    else if (calls > 0 && mean > f->slow_ms)
        find(l->out, l->check, url, -1, "takes %" PRId64 " ms on average, and pods wait for it",
             mean);
}

static void look_extenders(const struct facts *f, const struct check *c, struct findings_list *out)
{
    struct looking l = {f, c, out};
    char key[24] = "extender_0";
    PROCESS_EACH (f, p) {
        for (char i = '0'; is_kind(p, EXTENDER) && i <= '9'; i++) {
            key[9] = i;
            if (status_line(&p->now, key).len > 0)
                look_extender(f, p, key, &l);
        }
        if (is_kind(p, SCHEDULER) && is_settled(f, p) &&
            str_is(status_word(&p->now, "extenders", "caller"), "missing"))
            find(out, c, p->name, -1, "extenders are configured, and their process is missing");
    }
}

static bool asks_plugins(const struct process_fact *p)
{
    return is_kind(p, SCHEDULER) || is_kind(p, QUEUE);
}

static void look_plugins(const struct facts *f, const struct check *c, struct findings_list *out)
{
    PROCESS_EACH (f, p)
        for (uint32_t i = 0; asks_plugins(p) && i < p->now.lines.count; i++) {
            const struct label *line = &p->now.lines.at[i];
            char key[128];
            if (line->key.len >= sizeof(key) || !str_starts_with(line->key, "plugin_"))
                continue;
            for (uint32_t k = 0; k < line->key.len; k++)
                key[k] = line->key.at[k];
            key[line->key.len] = 0;
            struct str name = {line->key.at + 7, line->key.len - 7};
            int64_t late = grown(p, key, "late") + grown(p, key, "failures");
            if (is_settled(f, p) && !str_starts_with(line->value, "up "))
                find(out, c, name, -1, "%.*s", STR_ARG(line->value));
            else if (late > 0)
                find(out, c, name, -1, "%" PRId64 " answers were late or failed just now", late);
        }
}

/* ---- what they hold ---- */

static void look_drift(const struct facts *f, const struct check *c, struct findings_list *out)
{
    for (uint32_t i = 0; i < f->differs.count; i++) {
        struct str line = f->differs.at[i], who = line;
        for (who.len = 0; who.len < line.len && line.at[who.len] != ':';)
            who.len++;
        struct str rest = {line.at + who.len, line.len - who.len};
        while (rest.len > 0 && (*rest.at == ':' || *rest.at == ' ')) {
            rest.at++;
            rest.len--;
        }
        find(out, c, who, -1, "%.*s", STR_ARG(rest));
    }
}

static void look_behind(const struct facts *f, const struct check *c, struct findings_list *out)
{
    PROCESS_EACH (f, p)
        if (is_settled(f, p) && p->answered_before && p->not_compared != NULL)
            find(out, c, p->name, -1, "%s", p->not_compared);
}

const struct check process_checks[] = {
    {"no-answer", "every door of the run directory",
     "look at its log; berth run starts again who hangs; a door that nobody needs any more can be "
     "removed",
     look_no_answer},
    {"ends-again", "whether berth run has to start a process again and again",
     "its log says why it ends; a port may be taken, or a file not be readable", look_ended},
    {"missing-process", "whether each kind is there", "start it; berth run starts all",
     look_missing},
    {"not-ready", "what the binder says that it lacks",
     "look at the process or the cluster part that is named; a standby like that takes nothing "
     "over",
     look_not_ready},
    {"no-leader", "the lease", "berth preflight tells whether the lease may be read and written",
     look_leaderless},
    {"deciding-nothing", "what the scheduler waits for", "look at who is waited for: berth status",
     look_undecided},
    {"stalled", "attempts between two looks, while pods are to be tried",
     "berth explain tells what a pod waits for; berth tap shows whether messages come",
     look_stalled},
    {"other-configuration", "the configurations' hashes",
     "look into the log for a configuration that was refused; restart who has the old one",
     look_config},
    {"log-lost", "lines of the log that could not be written", "somebody must read the log faster",
     look_log},
    {"old-view", "how long ago the API server was last heard",
     "look at the connection to the API server, and at a proxy between", look_view},
    {"watch", "kinds that are not watched", "berth preflight tells what is refused", look_watch},
    {"rights", "kinds that may not be read, and writes that were refused",
     "berth preflight prints the rules that are missing", look_rights},
    {"unreadable", "objects that cannot be understood",
     "the log names object and field; correct it there", look_unreadable},
    {"lag", "how long writes wait in the binder",
     "the API server is slow, or the client's limits (qps, burst) are low", look_lanes},
    {"dropped", "events and conditions that were dropped",
     "the API server is slow, or the client's limits (qps, burst) are low", look_dropped},
    {"evictions", "whether pods can be evicted for others",
     "the API server says why: a webhook or policy that refuses it, or a right that is missing",
     look_evictions},
    {"idle-worker", "whether each worker has nodes",
     "look at its log; start fewer workers where there are few nodes", look_idle},
    {"uneven-workers", "how many nodes workers have",
     "look at --capacity of the workers, which shares go by", look_uneven},
    {"extender", "how long extenders take, and whether they answer",
     "look at the extender; ignorable and httpTimeout say what becomes of pods", look_extenders},
    {"plugin", "plugins on the bus", "look at the plugin's process; its failurePolicy decides",
     look_plugins},
    {"drift", "what processes hold, and the API server (berth compare)",
     "berth compare --heal has it read anew", look_drift},
    {"behind", "whether each has taken in what it was told",
     "look at its load: berth status -v; after a restart it passes", look_behind},
};

const size_t process_check_count = sizeof(process_checks) / sizeof(process_checks[0]);
