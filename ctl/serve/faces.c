/* faces: the table faces.def, looked at row by row: it is short, and a page is made rarely. */
#include "ctl/serve/faces.h"

#include "proto/base/str.h"
#include "proto/kube/release/feature_gates.h"

#include <string.h>

enum change { CHANGE_since, CHANGE_gone, CHANGE_hidden, CHANGE_says, CHANGE_needs, CHANGE_series };

static const struct row {
    enum change change;
    enum metric metric;
    int64_t release;
    const char *text, *help; /* the stability, the gate, or the label's value */
} rows[] = {
#define SINCE(release, name)  {CHANGE_since, METRIC_##name, release, NULL, NULL},
#define GONE(release, name)   {CHANGE_gone, METRIC_##name, release, NULL, NULL},
#define HIDDEN(release, name) {CHANGE_hidden, METRIC_##name, release, "1." #release ".0", NULL},
#define SAYS(release, name, stability, words)                                                      \
    {CHANGE_says, METRIC_##name, release, stability, words},
#define NEEDS(name, gate)            {CHANGE_needs, METRIC_##name, 0, #gate, NULL},
#define SERIES(release, name, value) {CHANGE_series, METRIC_##name, release, value, NULL},
#define WORD(release, label, begin, now)
#include "ctl/serve/faces.def"
#undef SINCE
#undef GONE
#undef HIDDEN
#undef SAYS
#undef NEEDS
#undef SERIES
#undef WORD
};

static const struct word {
    int64_t release;
    const char *label, *begin, *now;
} words[] = {
#define SINCE(release, name)
#define GONE(release, name)
#define HIDDEN(release, name)
#define SAYS(release, name, stability, text)
#define NEEDS(name, gate)
#define SERIES(release, name, value)
#define WORD(release, label, begin, now) {release, #label, begin, now},
#include "ctl/serve/faces.def"
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Whether the row lets the metric be on the page; what it says of it goes into the face. */
static bool apply(const struct release_view *view, const struct row *row, struct face *face)
{
    bool reached = view->release->minor >= row->release;
    switch (row->change) {
    case CHANGE_since: return reached;
    case CHANGE_gone: return !reached;
    case CHANGE_hidden: face->deprecated = reached ? row->text : NULL; return true;
    case CHANGE_needs: return feature_gate_is_on(view->gates, view->release, row->text);
    case CHANGE_says:
        if (reached) {
            face->stability = row->text;
            face->help = row->help;
        }
        return true;
    case CHANGE_series: return true;
    }
    return true;
}

/* Also of those that are hidden. */
static bool is_registered(const struct release_view *view, enum metric metric, struct face *face)
{
    const struct metric_info *info = metric_info(metric);
    bool there = true;
    *face = (struct face){.stability = info->stability, .help = info->help};
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].metric == metric)
            there = apply(view, &rows[i], face) && there;
    return there;
}

bool face_of(const struct release_view *view, enum metric metric, struct face *face)
{
    return is_registered(view, metric, face) && (face->deprecated == NULL || view->hidden);
}

int64_t faces_hidden(const struct release_view *view)
{
    struct face face;
    int64_t count = 0;
    for (int i = 0; i < METRIC_COUNT && !view->hidden; i++)
        count += is_registered(view, (enum metric)i, &face) && face.deprecated != NULL;
    return count;
}

bool face_shows(const struct release_view *view, enum metric metric, const struct str *labels)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].metric == metric && rows[i].change == CHANGE_series &&
            view->release->minor < rows[i].release && str_is(labels[0], rows[i].text))
            return false;
    return true;
}

struct str face_word(const struct release_view *view, const char *label, struct str value,
                     struct arena *a)
{
    for (size_t i = 0; i < COUNT(words); i++) {
        const struct word *w = &words[i];
        uint32_t len = (uint32_t)strlen(w->begin);
        if (view->release->minor >= w->release && strcmp(label, w->label) == 0 &&
            str_starts_with(value, w->begin))
            return arena_print(a, "%s%.*s", w->now, (int)(value.len - len), value.at + len);
    }
    return value;
}
