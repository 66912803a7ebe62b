/* verdict: is it well, in one line. The one idea: whoever looks at night wants to know first
 * whether pods are being decided, and if not, what for.
 *
 * What must stay true: an instance is well only if every process answers, and it decides, or
 * another one leads and it could take over, and nobody of it ends again and again. */
#include "ctl/status/statuses.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_WELL "NOT WELL: " /* what every verdict begins with that is not well */

/* ---- values ---- */

/* Where the next " name=" begins in a text, or its length. */
static uint32_t next_field(struct str text)
{
    for (uint32_t i = 0; i < text.len; i++) {
        if (text.at[i] != ' ')
            continue;
        uint32_t k = i + 1;
        while (k < text.len && (text.at[k] == '_' || (text.at[k] >= 'a' && text.at[k] <= 'z') ||
                                (text.at[k] >= '0' && text.at[k] <= '9')))
            k++;
        if (k > i + 1 && k < text.len && text.at[k] == '=')
            return i;
    }
    return text.len;
}

bool said_field(struct str *rest, struct str *name, struct str *text)
{
    if (rest->len == 0)
        return false;
    uint32_t end = next_field(*rest), k = 0;
    while (k < end && (rest->at[k] == '_' || (rest->at[k] >= 'a' && rest->at[k] <= 'z') ||
                       (rest->at[k] >= '0' && rest->at[k] <= '9')))
        k++;
    bool named = k > 0 && k < end && rest->at[k] == '=';
    *name = named ? (struct str){rest->at, k} : (struct str){NULL, 0};
    if (named && str_is(*name, "error"))
        end = rest->len;
    uint32_t begin = named ? k + 1 : 0;
    *text = (struct str){rest->at + begin, end - begin};
    uint32_t used = end < rest->len ? end + 1 : end;
    *rest = (struct str){rest->at + used, rest->len - used};
    return true;
}

struct str said_value(const struct status *s, const char *key, const char *field)
{
    struct str name, text;
    for (uint32_t i = 0; i < s->lines.count; i++) {
        struct str rest = s->lines.at[i].value;
        if (!str_is(s->lines.at[i].key, key))
            continue;
        while (said_field(&rest, &name, &text))
            if (field == NULL ? name.len == 0 : str_is(name, field))
                return text;
    }
    return (struct str){NULL, 0};
}

int64_t said_number(const struct status *s, const char *key, const char *field)
{
    int64_t number = 0;
    (void)str_to_i64(said_value(s, key, field), &number);
    return number;
}

/* ---- who is there ---- */

static const struct status *first_of(const struct statuses *all, const char *process)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].answered && str_is(all->at[i].said->process, process))
            return all->at[i].said;
    return NULL;
}

/* Whom a scheduler cannot be without. */
static const char *missing(const struct statuses *all)
{
    static const char *const needed[] = {"watcher", "queue", "scheduler", "binder"};
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        if (first_of(all, needed[i]) == NULL)
            return needed[i];
    return NULL;
}

static void add_span(struct buffer *out, int64_t ms)
{
    int64_t s = ms / 1000;
    if (s < 120)
        buffer_print(out, "%" PRId64 " s", s);
    else if (s < 7200)
        buffer_print(out, "%" PRId64 " min", s / 60);
    else
        buffer_print(out, "%" PRId64 " h", s / 3600);
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- what it says ---- */

static bool no_answer(const struct statuses *all, struct verdict_said *v)
{
    const char *lacks = all->whole ? missing(all) : NULL;
    unsigned silent = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (all->at[i].answered)
            continue;
        buffer_print(&v->text, "%s%s", silent++ == 0 ? NOT_WELL "no answer at " : ", ",
                     all->at[i].endpoint);
    }
    if (lacks != NULL)
        buffer_print(&v->text, "%sno %s is there", silent > 0 ? "; " : NOT_WELL, lacks);
    return silent > 0 || lacks != NULL;
}

static void say_deciding(const struct status *scheduler, struct buffer *out)
{
    int64_t nodes = said_number(scheduler, "nodes", NULL);
    int64_t pods = said_number(scheduler, "pods", NULL);
    int64_t workers = said_number(scheduler, "workers", NULL);
    struct str note = said_value(scheduler, "release_note", NULL);
    buffer_print(out,
                 "deciding as Kubernetes %.*s: %" PRId64 " node%s with %" PRId64 " pod%s, %" PRId64
                 " worker%s, up for ",
                 STR_ARG(said_value(scheduler, "release", NULL)), nodes, plural(nodes), pods,
                 plural(pods), workers, plural(workers));
    add_span(out, scheduler->uptime_ms);
    if (note.len > 0)
        buffer_print(out, " (%.*s)", STR_ARG(note));
}

static void say_standby(const struct status *binder, struct verdict_said *v)
{
    struct str holder = said_value(binder, "holder", NULL);
    struct str lacks = said_value(binder, "lacks", NULL);
    v->well = str_is(said_value(binder, "ready", NULL), "true");
    v->state = VERDICT_standby;
    if (v->well)
        buffer_print(&v->text, "standing by, ready to take over: %.*s leads", STR_ARG(holder));
    else
        buffer_print(&v->text,
                     NOT_WELL "standing by (%.*s leads), and could not take over: it lacks %.*s",
                     STR_ARG(holder), STR_ARG(lacks));
}

static bool another_leads(const struct status *binder)
{
    if (binder == NULL)
        return false;
    struct str holder = said_value(binder, "holder", NULL);
    return !str_is(said_value(binder, "leading", NULL), "true") && holder.len > 0 &&
           !str_equal(holder, said_value(binder, "identity", NULL));
}

/* ---- what waits ---- */

struct place {
    const char *key, *text;
};

static const struct place places[] = {{"active", "to be tried now"},
                                      {"in_flight", "being decided"},
                                      {"unschedulable", "unschedulable"},
                                      {"backoff", "to be tried again soon"},
                                      {"error_backoff", "to be tried again after an error"},
                                      {"gated", "gated"},
                                      {"parked", "behind equals"},
                                      {"members_waiting", "with their group"}};

struct reason {
    struct str plugin;
    uint32_t count;
};

static int by_count(const void *one, const void *other)
{
    const struct reason *a = one, *b = other;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return str_compare(a->plugin, b->plugin);
}

#define REASONS_MAX   64
#define REASONS_SHOWN 4

/* Which plugins have turned away how many of those that the queue has named. */
static void add_reasons(const struct pending_pods *pending, struct buffer *out)
{
    struct reason all[REASONS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < pending->pods.count; i++) {
        const struct strs *by = &pending->pods.at[i].rejected_by;
        for (uint32_t k = 0; k < by->count; k++) {
            uint32_t r = 0;
            while (r < count && !str_equal(all[r].plugin, by->at[k]))
                r++;
            if (r == REASONS_MAX)
                continue;
            if (r == count)
                all[count++] = (struct reason){by->at[k], 0};
            all[r].count++;
        }
    }
    qsort(all, count, sizeof(*all), by_count);
    for (uint32_t r = 0; r < count && r < REASONS_SHOWN; r++)
        buffer_print(out, "%s%.*s %u", r == 0 ? "; turned away by " : ", ", STR_ARG(all[r].plugin),
                     all[r].count);
    if (count > REASONS_SHOWN)
        buffer_print(out, " and %u more", count - REASONS_SHOWN);
}

static void say_waits(const struct statuses *all, struct buffer *out)
{
    const struct status *queue = first_of(all, "queue");
    unsigned named = 0;
    if (queue == NULL)
        return;
    int64_t pending = said_number(queue, "pending", NULL);
    if (pending == 0) {
        buffer_add_text(out, "no pod waits");
        return;
    }
    buffer_print(out, "%" PRId64 " pod%s wait%s, the oldest for ", pending, plural(pending),
                 pending == 1 ? "s" : "");
    add_span(out, said_number(queue, "oldest_pending_ms", NULL));
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        int64_t count = said_number(queue, places[i].key, NULL);
        if (count > 0)
            buffer_print(out, "%s%" PRId64 " %s", named++ == 0 ? ": " : ", ", count,
                         places[i].text);
    }
    if (all->pending != NULL)
        add_reasons(all->pending, out);
}

/* Such a process may be none of those that decide, as the one that serves metrics. */
static void say_ended(const struct statuses *all, struct verdict_said *v)
{
    struct buffer text = {0};
    for (size_t i = 0; i < all->ended_count; i++) {
        const struct ended *e = &all->ended[i];
        if (e->times >= ENDED_AGAIN)
            buffer_print(&text, "%s%s ends again and again, %u times now, last %s",
                         text.len > 0 ? "; " : "", e->name, e->times, e->how);
    }
    if (text.len > 0) {
        uint32_t skip = v->well ? 0 : sizeof(NOT_WELL) - 1;
        buffer_print(&text, "; %.*s", (int)(v->text.len - skip), v->text.at + skip);
        buffer_reset(&v->text);
        buffer_print(&v->text, NOT_WELL "%.*s", STR_ARG(buffer_str(&text)));
        v->well = false;
    }
    buffer_free(&text);
}

const char *verdict_name(enum verdict_state state)
{
    static const char *const names[] = {"deciding", "standby", "waiting", "no answer", "answers"};
    return names[state];
}

static void say_scheduler(const struct status *scheduler, const struct status *binder,
                          struct verdict_said *v)
{
    struct str state = said_value(scheduler, "state", NULL);
    if (str_is(state, "deciding")) {
        v->state = VERDICT_deciding;
        v->well = true;
        say_deciding(scheduler, &v->text);
    } else if (another_leads(binder)) {
        say_standby(binder, v);
    } else {
        v->state = VERDICT_waiting;
        buffer_print(&v->text, NOT_WELL "it decides nothing, and %.*s", STR_ARG(state));
    }
}

void verdict_say(const struct statuses *all, struct verdict_said *v)
{
    const struct status *scheduler = first_of(all, "scheduler");
    v->state = VERDICT_no_answer;
    if (no_answer(all, v)) {
        v->well = false;
    } else if (scheduler != NULL) {
        say_scheduler(scheduler, first_of(all, "binder"), v);
    } else {
        v->state = VERDICT_answers;
        v->well = true;
        buffer_print(&v->text, "%zu process%s answered, and no scheduler is among them", all->count,
                     all->count == 1 ? " has" : "es have");
    }
    say_waits(all, &v->waits);
    say_ended(all, v);
}
