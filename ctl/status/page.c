/* page: a line a process, and everything for who wants it. What must stay true: what a process says
 * and no line here knows is in the counters. */
#include "ctl/status/counters.h"
#include "ctl/status/statuses.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- a line about each ---- */

static void add_uptime(struct buffer *out, int64_t ms)
{
    char text[32];
    long long s = ms / 1000;
    if (s < 60)
        snprintf(text, sizeof(text), "%lld.%llds", s, (long long)(ms / 100 % 10));
    else if (s < 3600)
        snprintf(text, sizeof(text), "%lldm%02llds", s / 60, s % 60);
    else
        snprintf(text, sizeof(text), "%lldh%02lldm", s / 3600, s / 60 % 60);
    buffer_print(out, "%-9s", text);
}

static void watcher_line(const struct status *s, struct buffer *out)
{
    unsigned failing = 0;
    buffer_print(out, "%" PRId64 " objects of %.*s, heard of %.1f s ago",
                 said_number(s, "objects", NULL), STR_ARG(said_value(s, "api_server", NULL)),
                 (double)said_number(s, "age_ms", NULL) / 1000);
    if (!str_is(said_value(s, "synced", NULL), "true"))
        buffer_add_text(out, "; not all kinds are listed yet");
    for (uint32_t i = 0; i < s->lines.count; i++) {
        struct str rest = s->lines.at[i].value, name, text;
        while (said_field(&rest, &name, &text))
            if (str_is(name, "error") && text.len > 0)
                buffer_print(out, "%s%.*s: %.*s", failing++ == 0 ? "; " : ", ",
                             STR_ARG(s->lines.at[i].key), STR_ARG(text));
    }
}

static void queue_line(const struct status *s, struct buffer *out)
{
    buffer_print(
        out, "%" PRId64 " attempts, %" PRId64 " bound, %" PRId64 " rejected, %" PRId64 " errors",
        said_number(s, "attempts", NULL), said_number(s, "bound", NULL),
        said_number(s, "rejected", NULL), said_number(s, "errors", NULL));
    if (said_number(s, "bound_after_flush", NULL) > 0)
        buffer_print(out, "; %" PRId64 " bound only after minutes: an event was missed",
                     said_number(s, "bound_after_flush", NULL));
    if (!str_is(said_value(s, "synced", NULL), "yes"))
        buffer_add_text(out, "; it does not know the whole cluster yet");
}

static void scheduler_line(const struct status *s, struct buffer *out)
{
    buffer_print(out,
                 "%.*s; %" PRId64 " scheduled, %" PRId64 " unschedulable, %" PRId64
                 " errors; a decision takes %" PRId64 " µs",
                 STR_ARG(said_value(s, "state", NULL)), said_number(s, "scheduled", NULL),
                 said_number(s, "unschedulable", NULL), said_number(s, "errors", NULL),
                 said_number(s, "decision_us_mean", NULL));
}

static void worker_line(const struct status *s, struct buffer *out)
{
    if (!str_is(said_value(s, "joined", NULL), "yes"))
        buffer_add_text(out, "has no share of the nodes");
    else
        buffer_print(out, "%" PRId64 " nodes with %" PRId64 " pods", said_number(s, "nodes", NULL),
                     said_number(s, "pods", NULL));
}

/* Its name stays in the lease for a while when it could not renew it, and stands there already
 * while it waits to lead again. Without an election there is no end to what it may write. */
static void add_leading(const struct status *s, struct buffer *out)
{
    struct str holder = said_value(s, "holder", NULL), lost = said_value(s, "lease_lost", NULL);
    bool own = str_equal(holder, said_value(s, "identity", NULL));
    int64_t settles_ms = said_number(s, "settles_in_ms", NULL);
    if (str_is(said_value(s, "leading", NULL), "true")) {
        buffer_add_text(out, "leads");
        if (said_value(s, "lease_deadline_ms", NULL).len > 0)
            buffer_print(out, ", may write for %.1f s more",
                         (double)said_number(s, "lease_deadline_ms", NULL) / 1000);
    } else if (holder.len == 0) {
        buffer_add_text(out, "does not lead (nobody does)");
    } else if (!own) {
        buffer_print(out, "does not lead (%.*s does)", STR_ARG(holder));
    } else if (settles_ms > 0) {
        buffer_print(out, "leads in %.1f s, when writes of its former life have ended",
                     (double)settles_ms / 1000);
    } else if (lost.len > 0) {
        buffer_print(out, "does not lead: has lost the lease (%.*s)", STR_ARG(lost));
    } else {
        buffer_add_text(out, "does not lead, though its name is in the lease");
    }
}

static void binder_line(const struct status *s, struct buffer *out)
{
    add_leading(s, out);
    buffer_print(out, "; %" PRId64 " bound, %" PRId64 " failed, half of them within %" PRId64 " µs",
                 said_number(s, "binds", "bound"), said_number(s, "binds", "failed"),
                 said_number(s, "bind_p50_us", NULL));
    struct str forbidden = said_value(s, "forbidden", NULL);
    if (forbidden.len > 0)
        buffer_print(out, "; forbidden: %.*s", STR_ARG(forbidden));
}

static void other_line(const struct status *s, struct buffer *out)
{
    struct str not_ready = said_value(s, "not_ready", NULL);
    if (not_ready.len > 0)
        buffer_print(out, "not ready: %.*s", STR_ARG(not_ready));
}

static const struct {
    const char *process;
    void (*say)(const struct status *s, struct buffer *out);
} kinds[] = {{"watcher", watcher_line}, {"queue", queue_line},   {"scheduler", scheduler_line},
             {"worker", worker_line},   {"binder", binder_line}, {"", other_line}};

void status_page(const struct statuses *all, struct buffer *out)
{
    buffer_print(out, "%-12s %-8s %-9s%s\n", "PROCESS", "PID", "UP", "");
    for (size_t i = 0; i < all->count; i++) {
        const struct status *s = all->at[i].said;
        size_t kind = 0;
        if (!all->at[i].answered) {
            buffer_print(out, "%s  no answer\n", all->at[i].endpoint);
            continue;
        }
        while (*kinds[kind].process != 0 && !str_is(s->process, kinds[kind].process))
            kind++;
        buffer_print(out, "%-12.*s %-8" PRId64 " ", STR_ARG(s->instance), s->pid);
        add_uptime(out, s->uptime_ms);
        kinds[kind].say(s, out);
        buffer_add_text(out, "\n");
    }
}

/* ---- everything ---- */

static void add_labels(const struct label *at, uint32_t count, struct buffer *out)
{
    for (uint32_t i = 0; i < count; i++)
        buffer_print(out, "    %-28.*s %.*s\n", STR_ARG(at[i].key), STR_ARG(at[i].value));
}

void status_counters(const struct statuses *all, struct buffer *out)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct status *s = all->at[i].said;
        if (!all->at[i].answered)
            continue;
        buffer_print(out, "%.*s (%.*s)  term %" PRId64 "  generation %" PRId64 "\n",
                     STR_ARG(s->instance), STR_ARG(s->process), s->term, s->generation);
        add_labels(s->lines.at, s->lines.count, out);
        add_labels(s->counters.at, s->counters.count, out);
    }
}

/* ---- as JSON ---- */

static bool is_number(struct str text)
{
    uint32_t dots = 0, digits = 0;
    for (uint32_t i = 0; i < text.len; i++) {
        if (text.at[i] >= '0' && text.at[i] <= '9')
            digits++;
        else if (text.at[i] == '.' && digits > 0)
            dots++;
        else if (text.at[i] != '-' || i > 0)
            return false;
    }
    return digits > 0 && dots <= 1 && text.at[text.len - 1] != '.' &&
           (digits == 1 || dots == 1 || text.at[0] != '0');
}

static void add_typed(struct json_out *j, const char *key, struct str value,
                      const struct counter *row)
{
    enum counter_type type = row != NULL ? row->type : COUNTER_text;
    if (type == COUNTER_number && is_number(value))
        json_raw(j, key, value);
    else if (type == COUNTER_flag)
        json_bool(j, key, str_is(value, "yes") || str_is(value, "true"));
    else
        json_str(j, key, value);
}

/* A value with fields is an object; what stands before the first field is its value. */
static void add_fields(struct json_out *j, const char *process, struct str key, struct str value)
{
    struct arena a = {0};
    struct str name, text;
    json_open(j, arena_print(&a, "%.*s%c", STR_ARG(key), 0).at, '{');
    while (said_field(&value, &name, &text)) {
        struct str whole = arena_print(&a, "%.*s.%.*s", STR_ARG(key), STR_ARG(name));
        const char *member =
            name.len > 0 ? arena_print(&a, "%.*s%c", STR_ARG(name), 0).at : "value";
        add_typed(j, member, text, name.len > 0 ? counter_find(process, whole) : NULL);
    }
    json_close(j, '}');
    arena_free(&a);
}

/* Of several lines with one key, as for forbidden requests, all count. */
static void add_object(struct json_out *j, const char *member, const char *process,
                       const struct label *at, uint32_t count)
{
    json_open(j, member, '{');
    for (uint32_t i = 0; i < count; i++) {
        const struct counter *row = counter_find(process, at[i].key);
        struct arena a = {0};
        if (row != NULL && row->type == COUNTER_fields)
            add_fields(j, process, at[i].key, at[i].value);
        else
            add_typed(j, arena_print(&a, "%.*s%c", STR_ARG(at[i].key), 0).at, at[i].value, row);
        arena_free(&a);
    }
    json_close(j, '}');
}

static void add_process(struct json_out *j, const struct process_status *p)
{
    const struct status *s = p->said;
    struct arena a = {0};
    json_open(j, NULL, '{');
    json_str(j, "endpoint", str_of(p->endpoint));
    json_bool(j, "answered", p->answered);
    if (p->answered) {
        const char *process = arena_print(&a, "%.*s%c", STR_ARG(s->process), 0).at;
        json_str(j, "process", s->process);
        json_str(j, "name", s->instance);
        json_i64(j, "pid", s->pid);
        json_i64(j, "uptimeMs", s->uptime_ms);
        json_i64(j, "term", s->term);
        json_i64(j, "generation", s->generation);
        add_object(j, "status", process, s->lines.at, s->lines.count);
        add_object(j, "bus", "bus", s->counters.at, s->counters.count);
    }
    json_close(j, '}');
    arena_free(&a);
}

void status_json(const struct statuses *all, const struct verdict_said *v, struct json_out *j)
{
    json_open(j, NULL, '{');
    json_open(j, "verdict", '{');
    json_bool(j, "well", v->well);
    json_str(j, "state", str_of(verdict_name(v->state)));
    json_str(j, "text", buffer_str(&v->text));
    json_str(j, "waits", buffer_str(&v->waits));
    json_close(j, '}');
    json_open(j, "processes", '[');
    for (size_t i = 0; i < all->count; i++)
        add_process(j, &all->at[i]);
    json_close(j, ']');
    json_close(j, '}');
    buffer_add_text(j->out, "\n");
}
