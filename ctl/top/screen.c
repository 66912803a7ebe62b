/* screen: the page of berth top as lines of text. The one idea: state, keys and answers in, lines
 * out, so that all of it is tested without a terminal.
 *
 * What must stay true: whatever a process or an object is called, only printable ASCII is in a
 * line; and a line is never wider than the screen. */
#include "ctl/top/top.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEADER 4 /* lines above the pane */

static const char *const panes[TOP_PANES] = {"pending", "nodes", "processes", "decisions"};

/* ---- what the processes say ---- */

static const struct status *process(const struct top *t, const char *kind)
{
    for (uint32_t i = 0; i < t->processes.count; i++)
        if (str_is(t->processes.at[i].process, kind))
            return &t->processes.at[i];
    return NULL;
}

static struct str line_of(const struct status *s, const char *key)
{
    for (uint32_t i = 0; s != NULL && i < s->lines.count; i++)
        if (str_is(s->lines.at[i].key, key))
            return s->lines.at[i].value;
    return STR_LITERAL("-");
}

static int64_t count_of(const struct status *s, const char *key)
{
    int64_t count = 0;
    return str_to_i64(line_of(s, key), &count) ? count : 0;
}

void top_answered(struct top *t, int64_t now_ms)
{
    const struct status *s = process(t, "scheduler");
    int64_t decided =
        count_of(s, "scheduled") + count_of(s, "unschedulable") + count_of(s, "errors");
    int64_t passed = now_ms - t->decided_ms;
    if (t->decided_ms == 0 || s == NULL || decided < t->decided) /* another life of it, too */
        t->rate = -1;
    else if (passed > 0)
        t->rate = (double)(decided - t->decided) * 1000 / (double)passed;
    t->decided = decided;
    t->decided_ms = s != NULL ? now_ms : 0;
}

void top_count(struct top_figures *f, const struct metrics *said)
{
    f->lives += said->incarnation;
    for (uint32_t i = 0; i < said->samples.count; i++) {
        const struct metric_sample *s = &said->samples.at[i];
        if (str_is(s->metric, "berth_process_cpu_seconds_total"))
            f->cpu_ns += s->value;
        else if (str_is(s->metric, "scheduler_schedule_attempts_total") && s->labels.count > 0 &&
                 str_is(s->labels.at[0], "scheduled"))
            f->placed += s->value;
        for (uint32_t k = 0;
             k < s->buckets.count && str_is(s->metric, "berth_decision_latency_seconds"); k++) {
            const struct metric_bucket *b = &s->buckets.at[k];
            if (b->place >= 0 && b->place <= METRIC_BUCKETS_MAX)
                f->latency[b->place] += b->count;
        }
    }
}

void top_counted(struct top *t, const struct top_figures *now, int64_t now_ms)
{
    bool same = t->figures_ms != 0 && now->lives == t->figures.lives && now_ms > t->figures_ms;
    t->since_ms = same ? now_ms - t->figures_ms : 0;
    t->since = (struct top_figures){0};
    if (same) {
        t->since.cpu_ns = now->cpu_ns - t->figures.cpu_ns;
        t->since.placed = now->placed - t->figures.placed;
    }
    for (int i = 0; i <= METRIC_BUCKETS_MAX && same; i++)
        t->since.latency[i] = now->latency[i] - t->figures.latency[i];
    t->figures = *now;
    t->figures_ms = now_ms;
}

/* ---- lines ---- */

static void add_line(const struct top *t, struct buffer *out, const struct buffer *line)
{
    struct str text = buffer_str(line);
    if (t->height > 0 && text.len > (uint32_t)t->width)
        text.len = (uint32_t)t->width;
    while (text.len > 0 && text.at[text.len - 1] == ' ')
        text.len--;
    columns_safe(out, text);
    buffer_add_text(out, "\n");
}

static void say_key(struct buffer *line, const char *what, const struct status *s, const char *key)
{
    struct str value = line_of(s, key);
    buffer_print(line, "  %s %.*s", what, STR_ARG(value));
}

/* A scheduler that has not answered may lead. */
static const char *leadership(const struct status *s)
{
    if (s == NULL)
        return "leader not known";
    return str_is(line_of(s, "leading"), "yes") ? "leader" : "no leader";
}

static void header(const struct top *t, struct buffer *out)
{
    const struct status *s = process(t, "scheduler"), *q = process(t, "queue");
    struct buffer line = {0};
    struct str state = line_of(s, "state");
    buffer_print(&line, "berth top  %s  %.*s", leadership(s), STR_ARG(state));
    say_key(&line, "term", s, "term");
    if (t->rate >= 0)
        buffer_print(&line, "  %.1f decisions/s", t->rate);
    if (t->unanswered > 0)
        buffer_print(&line, "  %" PRId64 " do not answer", t->unanswered);
    add_line(t, out, &line);
    buffer_reset(&line);
    buffer_add_text(&line, "pods:");
    say_key(&line, "pending", q, "pending");
    say_key(&line, "active", q, "active");
    say_key(&line, "backoff", q, "backoff");
    say_key(&line, "unschedulable", q, "unschedulable");
    say_key(&line, "gated", q, "gated");
    say_key(&line, "known", s, "pods");
    add_line(t, out, &line);
    buffer_reset(&line);
    buffer_add_text(&line, "decisions:");
    say_key(&line, "scheduled", s, "scheduled");
    say_key(&line, "unschedulable", s, "unschedulable");
    say_key(&line, "us mean", s, "decision_us_mean");
    say_key(&line, "us max", s, "decision_us_max");
    say_key(&line, "nodes of workers", s, "worker_nodes");
    add_line(t, out, &line);
    buffer_free(&line);
}

static void bar(const struct top *t, struct buffer *out)
{
    struct buffer line = {0};
    for (int i = 0; i < TOP_PANES; i++)
        buffer_print(&line, i == (int)t->pane ? "[%d %s] " : " %d %s  ", i + 1, panes[i]);
    if (t->paused)
        buffer_add_text(&line, "  paused");
    if (t->filter[0] != 0 || t->typing)
        buffer_print(&line, "  /%s%s", t->filter, t->typing ? "_" : "");
    buffer_print(&line, "  every %g s  ? help", t->interval_s);
    add_line(t, out, &line);
    buffer_free(&line);
}

static void help(const struct top *t, struct buffer *out)
{
    static const char *const text[] = {
        "1 2 3 4, Tab   pending pods, nodes, processes, decisions",
        "arrows, j k    move; PgUp, PgDn, Home, End",
        "s, S           sort by the next column; the other way round",
        "/              show only rows with a text; Enter ends it, Esc forgets it",
        "p, Space       pause",
        "+, -           ask less often, more often",
        "q              end",
    };
    struct buffer line = {0};
    for (size_t i = 0;
         i < sizeof(text) / sizeof(text[0]) && (t->height == 0 || (int)i + HEADER < t->height);
         i++) {
        buffer_reset(&line);
        buffer_add_text(&line, text[i]);
        add_line(t, out, &line);
    }
    buffer_free(&line);
}

/* ---- panes ---- */

static void fill_pending(const struct top *t, struct columns *c)
{
    static const char *const heads[] = {"NAMESPACE", "NAME", "PLACE",    "PRIORITY",
                                        "ATTEMPTS",  "AGE",  "NEXT TRY", "REJECTED BY"};
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        columns_head(c, heads[i]);
    for (uint32_t i = 0; t->pending != NULL && i < t->pending->pods.count; i++) {
        const struct pending_pod *p = &t->pending->pods.at[i];
        columns_text(c, p->namespace_name);
        columns_text(c, p->name);
        columns_text(c, words_text(&pending_place_words, p->place));
        columns_i64(c, p->priority);
        columns_i64(c, p->attempts);
        columns_span(c, p->waiting_ms);
        columns_next_try(c, p->backoff_ms);
        columns_strs(c, &p->rejected_by);
    }
}

static void fill_processes(const struct top *t, struct columns *c)
{
    static const char *const heads[] = {"INSTANCE", "PROCESS", "PID", "UP", "TERM", "GENERATION"};
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        columns_head(c, heads[i]);
    for (uint32_t i = 0; i < t->processes.count; i++) {
        const struct status *s = &t->processes.at[i];
        columns_text(c, s->instance);
        columns_text(c, s->process);
        columns_i64(c, s->pid);
        columns_span(c, s->uptime_ms);
        columns_i64(c, s->term);
        columns_i64(c, s->generation);
    }
}

static void add_percentile(struct buffer *line, const struct top_figures *f, int64_t percent)
{
    int64_t ns = metric_percentile(METRIC_berth_decision_latency_seconds, f->latency, percent);
    if (ns > 0)
        buffer_print(line, "  p%" PRId64 " %g ms", percent, (double)ns / 1e6);
    else
        buffer_print(line, "  p%" PRId64 " -", percent);
}

/* Not where there is hardly room for a row. */
static bool has_figures(const struct top *t)
{
    return t->pane == TOP_decisions && (t->height == 0 || t->height > HEADER + 2);
}

/* Of pods placed since the last answer or, when there are none, since the processes started. */
static void figures(const struct top *t, struct buffer *out)
{
    bool lately = t->since_ms > 0 && t->since.placed > 0;
    const struct top_figures *f = lately ? &t->since : &t->figures;
    struct buffer line = {0};
    buffer_add_text(&line, "decided in:");
    add_percentile(&line, f, 50);
    add_percentile(&line, f, 99);
    if (f->placed > 0)
        buffer_print(&line, "  CPU a pod: %.3g ms", (double)f->cpu_ns / 1e6 / (double)f->placed);
    else
        buffer_add_text(&line, "  CPU a pod: -");
    buffer_print(&line, "  (%" PRId64 " placed ", f->placed);
    if (lately)
        buffer_print(&line, "in %.1f s)", (double)t->since_ms / 1000);
    else
        buffer_add_text(&line, "since the start)");
    add_line(t, out, &line);
    buffer_free(&line);
}

static void add_clock(struct columns *c, int64_t wall_us)
{
    char text[32];
    moment_print_micros(wall_us, text, sizeof(text)); /* 2026-01-02T03:04:05.000006Z */
    text[strnlen(text, 23)] = 0;
    columns_number(c, str_of(strlen(text) > 11 ? text + 11 : text), (double)wall_us);
}

static void fill_decisions(const struct top *t, struct columns *c)
{
    static const char *const heads[] = {"TIME (UTC)", "NAMESPACE", "NAME",  "ATTEMPT", "RESULT",
                                        "NODE",       "FEASIBLE",  "SCORE", "WHY"};
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        columns_head(c, heads[i]);
    for (uint32_t i = 0; t->latest != NULL && i < t->latest->decisions.count; i++) {
        const struct past_decision *d = &t->latest->decisions.at[i];
        add_clock(c, d->wall_us);
        columns_text(c, d->namespace_name);
        columns_text(c, d->name);
        columns_i64(c, d->attempt);
        columns_text(c, d->placed         ? STR_LITERAL("placed")
                        : d->node.len > 0 ? STR_LITERAL("preempts")
                                          : STR_LITERAL("not placed"));
        columns_text(c, d->node);
        columns_i64(c, d->feasible);
        columns_i64(c, d->score);
        columns_text(c, d->message);
    }
}

static bool has(const char *text, const char *part)
{
    return part[0] == 0 || strstr(text, part) != NULL;
}

/* The rows that the filter leaves, from the first to be shown. */
static void rows(struct top *t, struct columns *c, struct buffer *out)
{
    struct buffer line = {0};
    int above = HEADER + 1 + has_figures(t); /* and the columns' names */
    uint32_t room = t->height > above ? (uint32_t)(t->height - above) : 0, left = 0, shown = 0;
    uint32_t step = 0, count = c->rows;
    if (t->sorts[t->pane] > c->columns)
        t->sorts[t->pane] = 0;
    if (t->sorts[t->pane] > 0 && count > 0)
        (void)columns_sort(c, c->heads[t->sorts[t->pane] - 1]);
    columns_print_row(c, -1, &line);
    add_line(t, out, &line);
    for (step = 0; step < count; step++) {
        buffer_reset(&line);
        columns_print_row(c, t->descending ? count - 1 - step : step, &line);
        if (!has(line.at, t->filter) || left++ < t->first || (t->height > 0 && shown == room))
            continue;
        add_line(t, out, &line);
        shown++;
    }
    if (t->first > 0 && t->first >= left)
        t->first = left > 0 ? left - 1 : 0;
    buffer_free(&line);
}

void top_lines(struct top *t, struct buffer *out)
{
    struct columns c = {.columns = 0};
    header(t, out);
    if (t->height > 0)
        bar(t, out);
    if (t->help) {
        help(t, out);
        return;
    }
    if (t->pane == TOP_pending)
        fill_pending(t, &c);
    else if (t->pane == TOP_processes)
        fill_processes(t, &c);
    else if (t->pane == TOP_decisions)
        fill_decisions(t, &c);
    if (has_figures(t))
        figures(t, out);
    if (t->pane != TOP_nodes)
        rows(t, &c, out);
    else if (t->nodes != NULL)
        rows(t, t->nodes, out);
    else
        buffer_add_text(out, t->height > 0 ? "asking the watcher\n" : "nodes are not known\n");
    columns_free(&c);
}

bool top_is_complete(const struct top *t)
{
    return process(t, "scheduler") != NULL && t->unanswered == 0 && t->pending != NULL &&
           t->nodes != NULL && t->latest != NULL;
}

/* ---- keys ---- */

static void type(struct top *t, int key)
{
    size_t len = strlen(t->filter);
    if (key == '\r' || key == '\n') {
        t->typing = false;
    } else if (key == 27) {
        t->typing = false;
        t->filter[0] = 0;
    } else if ((key == 127 || key == 8) && len > 0) {
        t->filter[len - 1] = 0;
    } else if (key >= 0x20 && key < 0x7f && len + 1 < sizeof(t->filter)) {
        t->filter[len] = (char)key;
        t->filter[len + 1] = 0;
    }
    t->first = 0;
}

static void move(struct top *t, int64_t by)
{
    int64_t first = (int64_t)t->first + by;
    t->first = first < 0 ? 0 : first > 1000000 ? 1000000 : (uint32_t)first;
}

static void go(struct top *t, enum top_pane pane)
{
    t->pane = pane;
    t->first = 0;
}

static void change_interval(struct top *t, double factor)
{
    t->interval_s *= factor;
    if (t->interval_s < 0.5)
        t->interval_s = 0.5;
    if (t->interval_s > 60)
        t->interval_s = 60;
}

static void move_by_key(struct top *t, int key)
{
    int page = t->height > HEADER + 2 ? t->height - HEADER - 2 : 1;
    switch (key) {
    case TOP_up:
    case 'k': move(t, -1); break;
    case TOP_down:
    case 'j': move(t, 1); break;
    case TOP_page_up: move(t, -page); break;
    case TOP_page_down: move(t, page); break;
    case TOP_home: t->first = 0; break;
    case TOP_end: move(t, 1000000); break;
    default: break;
    }
}

void top_key(struct top *t, int key)
{
    if (key == 3) { /* Ctrl-C, which a raw terminal hands on */
        t->over = true;
        return;
    }
    if (t->typing) {
        type(t, key);
        return;
    }
    t->help = key == '?' ? !t->help : false;
    switch (key) {
    case 'q': t->over = true; break;
    case '1':
    case '2':
    case '3':
    case '4': go(t, (enum top_pane)(key - '1')); break;
    case '\t': go(t, (enum top_pane)((t->pane + 1) % TOP_PANES)); break;
    case 's': t->sorts[t->pane]++; break;
    case 'S': t->descending = !t->descending; break;
    case '/': t->typing = true; break;
    case 27: t->filter[0] = 0; break;
    case 'p':
    case ' ': t->paused = !t->paused; break;
    case '+': change_interval(t, 2); break;
    case '-': change_interval(t, 0.5); break;
    default: move_by_key(t, key); break;
    }
}
