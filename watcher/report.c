/* report: what the watcher says of itself and of how fresh it is. What must stay true: nothing here
 * changes anything. */
#include "proto/metrics.h"
#include "watcher/closed.h"
#include "watcher/members.h"
#include "watcher/mirror.h"
#include "watcher/watcher_inside.h"

size_t source_objects(const struct source *s)
{
    return s->mirror != NULL ? mirror_count(s->mirror) : members_in_list(s->w->members, s->list);
}

void watcher_fill_view(const struct watcher *w, struct moment now, struct view *view)
{
    view->synced = w->synced;
    view->age_ms = -1;
    for (size_t i = 0; i < w->count; i++) {
        const struct source *s = &w->sources[i];
        struct moment heard = reflector_status(s->reflector).heard;
        int64_t age = span_ms(moment_since(now, heard.ns ? heard : w->started));
        if (!s->kind->required || age <= view->age_ms)
            continue;
        view->age_ms = age;
        view->stalest = str_of(s->kind->name);
    }
    if (view->age_ms < 0)
        view->age_ms = 0;
}

static void source_status(const struct source *s, struct moment now, struct buffer *lines)
{
    struct reflector_status r = reflector_status(s->reflector);
    unsigned long long malformed = r.malformed, outdated = 0;
    size_t unreadable = s->mirror != NULL ? mirror_unreadable(s->mirror) : 0;
    if (s->mirror != NULL) {
        malformed += mirror_malformed(s->mirror);
        outdated = mirror_outdated(s->mirror);
    }
    long long heard_ms = r.heard.ns ? (long long)span_ms(moment_since(now, r.heard)) : -1;
    buffer_print(lines,
                 "%s=state=%s objects=%zu version=%lld heard_ms=%lld lists=%llu catch_ups=%llu "
                 "watches=%llu events=%llu bookmarks=%llu failures=%llu stale=%llu malformed=%llu "
                 "unreadable=%zu outdated=%llu protobuf=%s",
                 s->kind->name, reflector_state_name(r.state), source_objects(s),
                 (long long)r.version, heard_ms, (unsigned long long)r.lists,
                 (unsigned long long)r.catch_ups, (unsigned long long)r.watches,
                 (unsigned long long)r.events, (unsigned long long)r.bookmarks,
                 (unsigned long long)r.failures, (unsigned long long)r.stale, malformed, unreadable,
                 outdated, r.protobuf ? "yes" : "no");
    if (r.error[0] != 0)
        buffer_print(lines, " error=%s", r.error);
    buffer_add_text(lines, "\n");
}

void watcher_status(const struct watcher *w, struct moment now, struct buffer *lines)
{
    struct view view = {0};
    watcher_fill_view(w, now, &view);
    buffer_print(lines, "synced=%s\nage_ms=%lld\n", w->synced ? "true" : "false",
                 (long long)view.age_ms);
    buffer_print(lines, "objects=%zu\nlog=%zu\nsequence=%lld\nsubscribers=%u\nsnapshots=%llu\n",
                 publisher_objects(w->publisher), publisher_log(w->publisher),
                 (long long)publisher_sequence(w->publisher), publisher_subscribers(w->publisher),
                 (unsigned long long)publisher_snapshots(w->publisher));
    buffer_print(lines, "barriers=waiting=%zu reached=%llu refused=%llu\n", w->barriers.count,
                 (unsigned long long)w->barriers.reached_count,
                 (unsigned long long)w->barriers.refused);
    version_status(&w->version, lines);
    if (members_count(w->members) > 0)
        buffer_print(lines, "members=pods=%zu groups=%zu\n", members_count(w->members),
                     members_groups(w->members));
    for (size_t i = 0; i < w->count; i++)
        if (!w->sources[i].idle)
            source_status(&w->sources[i], now, lines);
}

void watcher_observe(const struct watcher *w, struct moment now)
{
    metric_check("sched-handler-sync", w->synced ? "" : "handlers are not fully synchronized");
    for (size_t i = 0; i < w->count; i++) {
        const struct source *s = &w->sources[i];
        struct reflector_status r = reflector_status(s->reflector);
        if (s->idle)
            continue;
        if (r.heard.ns != 0)
            metric_set_to(METRIC_berth_watch_age_seconds, s->kind->name,
                          moment_since(now, r.heard).ns);
        metric_set_to(METRIC_berth_watch_objects, s->kind->name, (int64_t)source_objects(s));
        if (s->mirror != NULL)
            metric_set_to(METRIC_berth_watch_unreadable_objects, s->kind->name,
                          (int64_t)mirror_unreadable(s->mirror));
    }
}
