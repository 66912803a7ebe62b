/* contrast_svg: both days of a comparison as four plots over time, in one file that needs no other.
 * What must stay true: both lines of a plot have the same scales, and what is drawn is said in
 * words as well, for who cannot see it. */
#include "ctl/record/contrast_inside.h"
#include "proto/base/memory.h"
#include "proto/base/moment.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH   720
#define LEFT    64 /* of the plots, behind what stands beside their axis */
#define RIGHT   700
#define HEIGHT  110 /* of a plot */
#define BETWEEN 62
#define HEAD    74
#define PLOTS   4
#define SPANS   60 /* of the day, for waiting times */

struct line {
    double *at_s, *value;
    size_t count;
};

struct plot {
    const char *title, *unit;
    struct line own, other;
    double seconds; /* the day */
};

static const char style[] =
    "<style>\n"
    ":root{--page:#fff;--ink:#1b1f24;--faint:#57606a;--grid:#d8dee4;--own:#8250df;--other:#0969da}"
    "\n"
    "@media (prefers-color-scheme:dark){:root{--page:#0d1117;--ink:#e6edf3;--faint:#9da7b3;"
    "--grid:#30363d;--own:#d2a8ff;--other:#58a6ff}}\n"
    "text{font:12px system-ui,sans-serif;fill:var(--faint)}\n"
    ".h{font-size:14px;font-weight:600;fill:var(--ink)}\n"
    ".page{fill:var(--page)}.grid{stroke:var(--grid)}\n"
    ".own,.other{fill:none;stroke-width:1.6}\n"
    ".own{stroke:var(--own);stroke-dasharray:5 3}.other{stroke:var(--other)}\n"
    "</style>\n";

/* ---- what is drawn ---- */

static struct line new_line(size_t room)
{
    return (struct line){.at_s = memory_take_array(room + 1, sizeof(double)),
                         .value = memory_take_array(room + 1, sizeof(double))};
}

static void add_point(struct line *l, double at_s, double value)
{
    l->at_s[l->count] = at_s;
    l->value[l->count++] = value;
}

static void free_line(struct line *l)
{
    memory_free(l->at_s);
    memory_free(l->value);
}

enum of_room { OF_CPU, OF_MEMORY, OF_FRAGMENTS };

/* A sample is what was since the one before. */
static struct line room_line(const struct model *m, enum of_room what, int64_t from_us)
{
    const struct model_series *s = model_series(m);
    struct line l = new_line(2 * s->count);
    for (size_t i = 0; i < s->count; i++) {
        const struct model_sample *one = &s->at[i];
        double share = what == OF_CPU      ? one->cpu
                       : what == OF_MEMORY ? one->memory
                                           : one->fragmentation;
        if (i > 0)
            add_point(&l, (double)(s->at[i - 1].at_us - from_us) / 1e6, 100 * share);
        add_point(&l, (double)(one->at_us - from_us) / 1e6, 100 * share);
    }
    return l;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static size_t span_of(int64_t us, int64_t day_us)
{
    int64_t span = us < 0 || day_us <= 0 ? 0 : us * SPANS / day_us;
    return (size_t)(span < SPANS ? span : SPANS - 1);
}

/* How long pods waited that came in a span: what nine of ten do not exceed. Who has no node waits
 * to the end. */
static struct line wait_line(const struct model *m, int64_t from_us, int64_t day_us)
{
    struct line l = new_line(SPANS);
    size_t pods = map_count(model_fates(m)), at = 0, count[SPANS] = {0};
    double *waits = memory_take_array(SPANS * (pods + 1), sizeof(*waits));
    void *value;
    while (map_next(model_fates(m), &at, NULL, &value)) {
        const struct fate *f = value;
        if (!f->ours || f->skipped || (f->node.len == 0 && f->gone))
            continue;
        int64_t end_us = f->node.len > 0 ? f->placed_us : from_us + day_us;
        size_t span = span_of(f->seen_us - from_us, day_us);
        waits[span * pods + count[span]++] = (double)(end_us - f->seen_us) / 1e6;
    }
    for (size_t i = 0; i < SPANS; i++) {
        if (count[i] == 0)
            continue;
        qsort(waits + i * pods, count[i], sizeof(*waits), by_value);
        double middle_s = ((double)i + 0.5) / SPANS * (double)day_us / 1e6;
        add_point(&l, middle_s, waits[i * pods + (count[i] - 1) * 9 / 10]);
    }
    memory_free(waits);
    return l;
}

/* ---- how ---- */

/* 1, 2 or 5 times a power of ten that is no less. */
static double round_up(double most)
{
    if (!(most > 1e-3))
        return 1e-3;
    double power = pow(10, floor(log10(most)));
    double times = most / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static double greatest(const struct plot *p)
{
    double most = 0;
    for (size_t i = 0; i < p->own.count; i++)
        most = p->own.value[i] > most ? p->own.value[i] : most;
    for (size_t i = 0; i < p->other.count; i++)
        most = p->other.value[i] > most ? p->other.value[i] : most;
    return round_up(most);
}

static void draw_line(const struct line *l, const struct plot *p, int top, const char *class,
                      struct buffer *out)
{
    double most = greatest(p), day = p->seconds > 0 ? p->seconds : 1;
    buffer_print(out, "<polyline class=\"%s\" points=\"", class);
    for (size_t i = 0; i < l->count; i++)
        buffer_print(out, "%s%.1f,%.1f", i > 0 ? " " : "", LEFT + l->at_s[i] / day * (RIGHT - LEFT),
                     top + HEIGHT - l->value[i] / most * HEIGHT);
    buffer_add_text(out, "\"/>\n");
}

static void draw(const struct plot *p, int top, struct buffer *out)
{
    double most = greatest(p);
    buffer_print(out, "<text class=\"h\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT, top - 10, p->title);
    for (int i = 0; i <= 2; i++) {
        int y = top + HEIGHT - i * HEIGHT / 2;
        buffer_print(out,
                     "<path class=\"grid\" d=\"M%d %d.5H%d\"/>"
                     "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%g%s</text>\n",
                     LEFT, y, RIGHT, LEFT - 6, y + 4, most * i / 2, p->unit);
    }
    for (int i = 0; i <= 4; i++)
        buffer_print(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%.*f s</text>\n",
                     LEFT + i * (RIGHT - LEFT) / 4, top + HEIGHT + 16,
                     i == 0   ? "start"
                     : i == 4 ? "end"
                              : "middle",
                     p->seconds < 100 ? 1 : 0, p->seconds * i / 4);
    draw_line(&p->own, p, top, "own", out);
    draw_line(&p->other, p, top, "other", out);
}

static void describe(const struct compared *r, struct buffer *out)
{
    const struct day *own = &r->own, *other = &r->other;
    buffer_print(
        out,
        "<title id=\"t\">The same day with another configuration</title>\n"
        "<desc id=\"d\">With the recorded configuration, then with the other one: CPU asked "
        "for %.1f %% and %.1f %% in the mean, memory %.1f %% and %.1f %%, fragmentation at "
        "the end %.1f %% and %.1f %%, waiting time that nine of ten pods do not exceed "
        "%.3f s and %.3f s; %" PRIu64 " pods go elsewhere.</desc>\n",
        100 * own->room.cpu, 100 * other->room.cpu, 100 * own->room.memory,
        100 * other->room.memory, 100 * own->room.fragmentation, 100 * other->room.fragmentation,
        own->waits.p90, other->waits.p90, r->elsewhere);
}

static void draw_head(const struct compared *r, int64_t from_us, struct buffer *out)
{
    char when[32];
    int height = HEAD + PLOTS * (HEIGHT + BETWEEN);
    moment_print_seconds(from_us, when, sizeof(when));
    buffer_print(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "
                 "aria-labelledby=\"t d\">\n",
                 WIDTH, height);
    describe(r, out);
    buffer_add_text(out, style);
    buffer_print(out, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", WIDTH, height);
    buffer_print(out,
                 "<path class=\"own\" d=\"M%d 20h28\"/><text x=\"%d\" y=\"24\">with the recorded "
                 "configuration</text>\n"
                 "<path class=\"other\" d=\"M%d 20h28\"/><text x=\"%d\" y=\"24\">with the other "
                 "one</text>\n<text x=\"%d\" y=\"24\" text-anchor=\"end\">from %s on</text>\n",
                 LEFT, LEFT + 34, LEFT + 240, LEFT + 274, RIGHT, when);
}

void contrast_svg(const struct compared *r)
{
    struct buffer out = {0};
    const struct model_series *own = model_series(r->before), *other = model_series(r->after);
    int64_t from_us = own->count > 0 ? own->at[0].at_us : 0, to_us = from_us;
    if (own->count > 0)
        to_us = own->at[own->count - 1].at_us;
    if (other->count > 0 && other->at[other->count - 1].at_us > to_us)
        to_us = other->at[other->count - 1].at_us;
    static const char *const titles[] = {
        "CPU that is asked for", "Memory that is asked for", "Fragmentation",
        "Waiting time of pods that came then, which nine of ten do not exceed"};
    draw_head(r, from_us, &out);
    for (int i = 0; i < PLOTS; i++) {
        bool room = i < PLOTS - 1;
        struct plot p = {.title = titles[i],
                         .unit = room ? " %" : " s",
                         .seconds = (double)(to_us - from_us) / 1e6};
        p.own = room ? room_line(r->before, (enum of_room)i, from_us)
                     : wait_line(r->before, from_us, to_us - from_us);
        p.other = room ? room_line(r->after, (enum of_room)i, from_us)
                       : wait_line(r->after, from_us, to_us - from_us);
        draw(&p, HEAD + i * (HEIGHT + BETWEEN), &out);
        free_line(&p.own);
        free_line(&p.other);
    }
    buffer_add_text(&out, "</svg>\n");
    fwrite(out.at, 1, out.len, stdout);
    buffer_free(&out);
}
