/* curves: one small SVG a question, both axes logarithmic, one line a kind of pods; a straight line
 * of slope one means that cost grows as the cluster does. What must stay true: a picture is drawn
 * from the report's rows alone. */
#include "tests/bench/core/curves.h"

#include <math.h>
#include <string.h>

#define WIDTH      900.0
#define HEIGHT     560.0
#define LEFT       70.0
#define RIGHT      150.0 /* where the names stand */
#define MARGIN     40.0
#define SERIES_MAX 32

struct plot {
    const struct report *report;
    const char *section, *x, *title;
    double least_x, most_x, least_y, most_y;
    const char *series[SERIES_MAX];
    size_t series_count;
    FILE *out;
};

static double number(const struct plot *p, size_t row, const char *column)
{
    return report_number(p->report, p->section, row, column);
}

static bool drawn(const struct plot *p, size_t row)
{
    return number(p, row, p->x) > 0 && number(p, row, "us") > 0;
}

static void survey(struct plot *p)
{
    p->least_x = p->least_y = INFINITY;
    p->most_x = p->most_y = 0;
    for (size_t i = 0; i < report_rows(p->report, p->section); i++) {
        if (!drawn(p, i))
            continue;
        const char *name = report_text(p->report, p->section, i, "workload");
        size_t k = 0;
        while (k < p->series_count && strcmp(p->series[k], name) != 0)
            k++;
        if (k == p->series_count && k < SERIES_MAX)
            p->series[p->series_count++] = name;
        p->least_x = fmin(p->least_x, number(p, i, p->x));
        p->most_x = fmax(p->most_x, number(p, i, p->x));
        p->least_y = fmin(p->least_y, number(p, i, "us"));
        p->most_y = fmax(p->most_y, number(p, i, "us"));
    }
}

static double place(double value, double least, double most)
{
    return most > least ? (log(value) - log(least)) / (log(most) - log(least)) : 0.5;
}

static double at_x(const struct plot *p, double x)
{
    return LEFT + place(x, p->least_x, p->most_x) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct plot *p, double y)
{
    return HEIGHT - MARGIN - place(y, p->least_y, p->most_y) * (HEIGHT - 2 * MARGIN);
}

/* Powers of ten as a grid. */
static void draw_axes(const struct plot *p)
{
    fprintf(p->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"%.0f\" y=\"20\" font-size=\"15\">%s</text>\n",
            WIDTH, HEIGHT, LEFT, p->title);
    for (int power = (int)ceil(log10(p->least_y)); power <= (int)floor(log10(p->most_y)); power++) {
        double y = at_y(p, pow(10, power));
        fprintf(p->out,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>"
                "<text x=\"5\" y=\"%.1f\">%g us</text>\n",
                LEFT, WIDTH - RIGHT, y, y, y + 4, pow(10, power));
    }
    for (size_t i = 0; i < report_rows(p->report, p->section); i++)
        if (drawn(p, i) && (i == 0 || number(p, i, p->x) != number(p, i - 1, p->x)))
            fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.0f</text>\n",
                    at_x(p, number(p, i, p->x)), HEIGHT - 12, number(p, i, p->x));
}

static void draw_series(const struct plot *p, size_t k)
{
    double x = 0, y = 0;
    double hue = (double)k * 360.0 / (double)p->series_count;
    fprintf(p->out,
            "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"hsl(%.0f,70%%,40%%)\" "
            "points=\"",
            hue);
    for (size_t i = 0; i < report_rows(p->report, p->section); i++)
        if (drawn(p, i) &&
            strcmp(report_text(p->report, p->section, i, "workload"), p->series[k]) == 0) {
            x = at_x(p, number(p, i, p->x));
            y = at_y(p, number(p, i, "us"));
            fprintf(p->out, "%.1f,%.1f ", x, y);
        }
    fprintf(p->out, "\"/><text x=\"%.1f\" y=\"%.1f\" fill=\"hsl(%.0f,70%%,30%%)\">%s</text>\n",
            x + 6, y + 4, hue, p->series[k]);
}

static bool draw(struct plot *p, const char *folder, const char *file)
{
    char path[4096];
    survey(p);
    if (p->series_count == 0)
        return true;
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    p->out = fopen(path, "w");
    if (p->out == NULL)
        return false;
    draw_axes(p);
    for (size_t k = 0; k < p->series_count; k++)
        draw_series(p, k);
    fprintf(p->out, "</svg>\n");
    return fclose(p->out) == 0;
}

bool curves_save(const struct report *r, const char *folder)
{
    struct plot nodes = {.report = r,
                         .section = "decisions",
                         .x = "nodes",
                         .title = "CPU time of a decision, by number of nodes"};
    struct plot pods = {.report = r,
                        .section = "density",
                        .x = "bound",
                        .title = "CPU time of a decision, by number of pods on the same nodes"};
    struct plot kin = {.report = r,
                       .section = "kin",
                       .x = "own",
                       .title = "CPU time of a decision, by number of pods of its own kind"};
    return draw(&nodes, folder, "growth-nodes.svg") && draw(&pods, folder, "growth-pods.svg") &&
           draw(&kin, folder, "growth-kin.svg");
}
