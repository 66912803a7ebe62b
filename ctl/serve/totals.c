/* totals: each process's last report, kept apart; adding up happens when a page is printed, because
 * pages are rare and reports replace each other.
 *
 * What must stay true: a counter on the page never falls while the server lives, whatever restarts:
 * what a life of a process had counted when it was last heard goes to `retired`. */
#include "ctl/serve/totals.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/kube/release/feature_gates.h"
#include "proto/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INSTANCE_MAX 64

struct total {
    enum metric metric;
    struct str instance; /* EACH: whose it is; else empty */
    struct str labels[METRIC_LABELS_MAX];
    int64_t value;
    int64_t buckets[METRIC_BUCKETS_MAX + 1];
};

/* Totals by metric and labels, all in one arena. */
struct heap_of_totals {
    struct map *by_key;
    struct arena memory;
};

struct source {
    int64_t incarnation; /* 0: never heard */
    bool up;
    struct heap_of_totals last;
    char instance[INSTANCE_MAX + 1];
};

struct totals {
    struct source *sources;
    size_t count;
    struct heap_of_totals retired;
};

/* ---- keeping ---- */

static void clear(struct heap_of_totals *h)
{
    map_free(&h->by_key);
    arena_free(&h->memory);
    h->by_key = map_new();
}

struct totals *totals_new(size_t sources)
{
    struct totals *t = memory_take(sizeof(*t));
    t->sources = memory_take_array(sources, sizeof(*t->sources));
    t->count = sources;
    for (size_t i = 0; i < sources; i++)
        clear(&t->sources[i].last);
    clear(&t->retired);
    return t;
}

static void drop(struct heap_of_totals *h)
{
    map_free(&h->by_key);
    arena_free(&h->memory);
}

void totals_free(struct totals **totals)
{
    struct totals *t = *totals;
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->count; i++)
        drop(&t->sources[i].last);
    drop(&t->retired);
    memory_free(t->sources);
    memory_free(t);
    *totals = NULL;
}

static struct total *need(struct heap_of_totals *h, enum metric metric, struct str instance,
                          const struct str *labels)
{
    static const struct str none[METRIC_LABELS_MAX];
    const struct metric_info *info = metric_info(metric);
    struct buffer key = {0};
    labels = labels != NULL ? labels : none;
    buffer_print(&key, "%d", (int)metric);
    buffer_add(&key, "", 1);
    buffer_add_str(&key, instance);
    for (uint32_t i = 0; i < info->label_count; i++) {
        buffer_add(&key, "", 1);
        buffer_add_str(&key, labels[i]);
    }
    struct total *total = map_get(h->by_key, buffer_str(&key));
    if (total == NULL) {
        total = arena_take(&h->memory, sizeof(*total));
        total->metric = metric;
        total->instance = arena_copy(&h->memory, instance);
        for (uint32_t i = 0; i < info->label_count; i++)
            total->labels[i] = arena_copy(&h->memory, labels[i]);
        map_set(h->by_key, buffer_str(&key), total);
    }
    buffer_free(&key);
    return total;
}

/* Adds what one process has to what others have. */
static void merge(struct total *to, const struct total *from)
{
    const struct metric_info *info = metric_info(from->metric);
    if (info->merge == METRIC_FIRST) {
        if (to->value == 0 || (from->value != 0 && from->value < to->value))
            to->value = from->value;
        return;
    }
    if (info->merge == METRIC_MOST) {
        to->value = from->value > to->value ? from->value : to->value;
        return;
    }
    to->value += from->value;
    for (uint32_t i = 0; i <= info->bucket_count; i++)
        to->buckets[i] += from->buckets[i];
}

static void retire(struct totals *t, struct source *s)
{
    size_t at = 0;
    void *value;
    while (map_next(s->last.by_key, &at, NULL, &value)) {
        const struct total *total = value;
        const struct metric_info *info = metric_info(total->metric);
        if (info->kind != METRIC_gauge && info->merge == METRIC_SUM)
            merge(need(&t->retired, total->metric, total->instance, total->labels), total);
    }
}

static void take_sample(struct source *s, const struct metric_sample *sample)
{
    enum metric metric = metric_of(sample->metric);
    if (metric == METRIC_COUNT || sample->labels.count != metric_info(metric)->label_count)
        return;
    const struct metric_info *info = metric_info(metric);
    struct str nobody = {NULL, 0};
    struct str instance = info->merge == METRIC_EACH ? str_of(s->instance) : nobody;
    struct total *total = need(&s->last, metric, instance, sample->labels.at);
    total->value = sample->value;
    for (uint32_t i = 0; i < sample->buckets.count; i++) {
        const struct metric_bucket *b = &sample->buckets.at[i];
        if (b->place >= 0 && b->place <= (int64_t)info->bucket_count)
            total->buckets[b->place] = b->count;
    }
}

void totals_take(struct totals *t, size_t source, const struct metrics *said)
{
    struct source *s = &t->sources[source];
    if (s->incarnation != 0 && s->incarnation != said->incarnation)
        retire(t, s);
    clear(&s->last);
    s->incarnation = said->incarnation;
    s->up = true;
    snprintf(s->instance, sizeof(s->instance), "%.*s", STR_ARG(said->instance));
    for (uint32_t i = 0; i < said->samples.count; i++)
        take_sample(s, &said->samples.at[i]);
}

void totals_set_up(struct totals *t, size_t source, bool up)
{
    t->sources[source].up = up;
}

/* ---- numbers ---- */

void totals_print_number(struct buffer *out, double number)
{
    char text[40];
    int digits = 1;
    if (isinf(number)) {
        buffer_add_text(out, number > 0 ? "+Inf" : "-Inf");
        return;
    }
    do
        snprintf(text, sizeof(text), "%.*e", digits - 1, number);
    while (strtod(text, NULL) != number && ++digits <= 17);
    long exponent = strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 6)
        buffer_add_text(out, text);
    else
        buffer_print(out, "%.*f", digits - 1 > exponent ? digits - 1 - (int)exponent : 0, number);
}

static double shown(const struct metric_info *info, int64_t value)
{
    if (value == INT64_MAX) /* no limit: 2^64, as Prometheus' clients say it */
        return 0x1p64;
    return info->unit == METRIC_SECONDS ? (double)value / 1e9 : (double)value;
}

/* ---- the page ---- */

/* Places of the labels, by name. */
static void sort_labels(const struct metric_info *info, uint32_t *order)
{
    for (uint32_t i = 0; i < info->label_count; i++) {
        uint32_t k = i;
        for (; k > 0 && strcmp(info->labels[order[k - 1]], info->labels[i]) > 0; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

static int compare(const void *a, const void *b)
{
    const struct total *x = *(struct total *const *)a, *y = *(struct total *const *)b;
    const struct metric_info *info = metric_info(x->metric);
    int order = strcmp(info->name, metric_info(y->metric)->name);
    uint32_t places[METRIC_LABELS_MAX] = {0};
    if (order == 0)
        order = str_compare(x->instance, y->instance);
    sort_labels(info, places);
    for (uint32_t i = 0; i < info->label_count && order == 0; i++)
        order = str_compare(x->labels[places[i]], y->labels[places[i]]);
    return order;
}

void totals_print_label(struct buffer *out, struct str value)
{
    for (uint32_t i = 0; i < value.len; i++) {
        char c = value.at[i];
        if (c == '"' || c == '\\')
            buffer_add(out, "\\", 1);
        if (c == '\n')
            buffer_add_text(out, "\\n");
        else
            buffer_add(out, &c, 1);
    }
}

static void print_label(struct buffer *out, size_t *count, const char *name, struct str value)
{
    buffer_print(out, "%s%s=\"", (*count)++ == 0 ? "{" : ",", name);
    totals_print_label(out, value);
    buffer_add_text(out, "\"");
}

static void print_name(struct buffer *out, const struct total *t, const char *suffix,
                       const double *bound)
{
    const struct metric_info *info = metric_info(t->metric);
    uint32_t order[METRIC_LABELS_MAX] = {0};
    size_t count = 0;
    buffer_print(out, "%s%s", info->name, suffix);
    if (info->merge == METRIC_EACH)
        print_label(out, &count, "instance", t->instance);
    sort_labels(info, order);
    for (uint32_t i = 0; i < info->label_count; i++)
        print_label(out, &count, info->labels[order[i]], t->labels[order[i]]);
    if (bound != NULL) {
        struct buffer le = {0};
        totals_print_number(&le, *bound);
        print_label(out, &count, "le", buffer_str(&le));
        buffer_free(&le);
    }
    buffer_add_text(out, count > 0 ? "} " : " ");
}

static void print_histogram(struct buffer *out, const struct total *t)
{
    const struct metric_info *info = metric_info(t->metric);
    const double last = INFINITY;
    int64_t sum = 0;
    for (uint32_t i = 0; i <= info->bucket_count; i++) {
        sum += t->buckets[i];
        print_name(out, t, "_bucket", i < info->bucket_count ? &info->bounds[i] : &last);
        totals_print_number(out, (double)sum);
        buffer_add_text(out, "\n");
    }
    print_name(out, t, "_sum", NULL);
    totals_print_number(out, shown(info, t->value));
    buffer_add_text(out, "\n");
    print_name(out, t, "_count", NULL);
    totals_print_number(out, (double)sum);
    buffer_add_text(out, "\n");
}

static void print_head(struct buffer *out, enum metric metric, const struct face *face)
{
    static const char *const kinds[] = {"counter", "gauge", "histogram"};
    const struct metric_info *info = metric_info(metric);
    buffer_print(out, "# HELP %s ", info->name);
    if (face->stability[0] != 0)
        buffer_print(out, "[%s] ", face->stability);
    if (face->deprecated != NULL)
        buffer_print(out, "(Deprecated since %s) ", face->deprecated);
    buffer_print(out, "%s\n# TYPE %s %s\n", face->help, info->name, kinds[info->kind]);
}

static void print_total(struct buffer *out, const struct total *t)
{
    const struct metric_info *info = metric_info(t->metric);
    if (info->kind == METRIC_histogram) {
        print_histogram(out, t);
        return;
    }
    print_name(out, t, "", NULL);
    totals_print_number(out, shown(info, t->value));
    buffer_add_text(out, "\n");
}

/* A sum in the making, and what it is made for. */
struct page {
    struct heap_of_totals all;
    struct release_view view;
    struct face faces[METRIC_COUNT];
    bool shown[METRIC_COUNT];
    const struct label_rules *allowed;
    int64_t unexpected; /* how often a label had a value that is not allowed */
};

/* How often the series was asked for, as far as it tells: a gauge does not. */
static int64_t times(const struct total *t)
{
    const struct metric_info *info = metric_info(t->metric);
    int64_t sum = 0;
    for (uint32_t i = 0; i <= info->bucket_count && info->kind == METRIC_histogram; i++)
        sum += t->buckets[i];
    return info->kind == METRIC_counter && info->unit == METRIC_ONE ? t->value : sum;
}

static void add_one(struct page *page, const struct total *t)
{
    const struct metric_info *info = metric_info(t->metric);
    struct str labels[METRIC_LABELS_MAX];
    if (!page->shown[t->metric] || !face_shows(&page->view, t->metric, t->labels))
        return;
    for (uint32_t i = 0; i < info->label_count; i++) {
        struct str value = face_word(&page->view, info->labels[i], t->labels[i], &page->all.memory);
        labels[i] = label_rules_apply(page->allowed, info->name, info->labels[i], value);
        if (!str_equal(labels[i], value))
            page->unexpected += times(t);
    }
    merge(need(&page->all, t->metric, t->instance, labels), t);
}

static void add_up(struct page *page, const struct heap_of_totals *from, bool gauges)
{
    size_t at = 0;
    void *value;
    while (map_next(from->by_key, &at, NULL, &value))
        if (gauges || metric_info(((const struct total *)value)->metric)->kind != METRIC_gauge)
            add_one(page, value);
}

/* Upstream has it with the gate GenericWorkload alone; here groups without it count as well. */
static bool waits_for_a_group(const struct page *page, enum metric metric)
{
    return metric == METRIC_scheduler_podgroup_scheduling_algorithm_duration_seconds &&
           !feature_gate_is_on(page->view.gates, page->view.release, "GenericWorkload");
}

/* What upstream shows from the start on: counters and histograms without labels. */
static void add_zeros(struct page *page)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct metric_info *info = metric_info((enum metric)i);
        if (info->label_count == 0 && info->kind != METRIC_gauge && info->merge == METRIC_SUM &&
            page->shown[i] && !waits_for_a_group(page, (enum metric)i))
            need(&page->all, (enum metric)i, (struct str){NULL, 0}, NULL);
    }
}

static void add_up_signs(struct totals *t, struct heap_of_totals *all)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->sources[i].instance[0] != 0)
            need(all, METRIC_berth_up, str_of(t->sources[i].instance), NULL)->value =
                t->sources[i].up;
}

static bool is_left_out(const struct totals_filter *filter, const struct total *total)
{
    for (uint32_t i = 0; filter != NULL && i < filter->without.count; i++)
        if (str_is(filter->without.at[i], metric_info(total->metric)->name))
            return true;
    return false;
}

static void make_page(struct totals *t, struct page *page)
{
    const enum metric unexpected = METRIC_cardinality_enforcement_unexpected_categorizations_total;
    clear(&page->all);
    for (int i = 0; i < METRIC_COUNT; i++)
        page->shown[i] = face_of(&page->view, (enum metric)i, &page->faces[i]);
    add_zeros(page);
    add_up(page, &t->retired, false);
    for (size_t i = 0; i < t->count; i++)
        add_up(page, &t->sources[i].last, t->sources[i].up);
    add_up_signs(t, &page->all);
    need(&page->all, unexpected, (struct str){NULL, 0}, NULL)->value += page->unexpected;
}

static struct release_view view_of(const struct totals_filter *filter)
{
    struct release_view view = {0};
    if (filter != NULL)
        view = filter->view;
    if (view.release == NULL)
        view.release = release_of(RELEASE_OLDEST);
    view.gates = view.gates != NULL ? view.gates : "";
    return view;
}

void totals_print(struct totals *t, const struct totals_filter *filter, struct buffer *out)
{
    struct page page = {.view = view_of(filter),
                        .allowed = filter != NULL ? &filter->allowed : NULL};
    size_t at = 0, count = 0;
    void *value;
    make_page(t, &page);
    struct total **sorted =
        memory_take_array(map_count(page.all.by_key) + 1, sizeof(struct total *));
    while (map_next(page.all.by_key, &at, NULL, &value))
        sorted[count++] = value;
    qsort(sorted, count, sizeof(struct total *), compare);
    for (size_t i = 0; i < count; i++) {
        if (is_left_out(filter, sorted[i]))
            continue;
        if (i == 0 || sorted[i - 1]->metric != sorted[i]->metric)
            print_head(out, sorted[i]->metric, &page.faces[sorted[i]->metric]);
        print_total(out, sorted[i]);
    }
    memory_free(sorted);
    drop(&page.all);
}
