/* slis: one row for each check and group; there are as many as there are checks, and they are
 * counted where a page of health is answered, so a check that nobody asks for is not on the page.
 * What must stay true: success and error of a check only rise, until somebody resets them. */
#include "ctl/serve/slis.h"

#include "ctl/serve/totals.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 32

static struct row {
    const char *group, *check;
    bool well; /* the last time */
    int64_t good, bad;
} rows[ROWS_MAX];
static size_t row_count;

static int compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = strcmp(x->check, y->check);
    return order != 0 ? order : strcmp(x->group, y->group);
}

void slis_observe(const char *group, const char *check, bool well)
{
    size_t i = 0;
    while (i < row_count &&
           (strcmp(rows[i].group, group) != 0 || strcmp(rows[i].check, check) != 0))
        i++;
    if (i == ROWS_MAX)
        return;
    if (i == row_count)
        rows[row_count++] = (struct row){.group = group, .check = check};
    rows[i].well = well;
    *(well ? &rows[i].good : &rows[i].bad) += 1;
}

static void print_total(const struct row *r, const char *status, int64_t count, struct buffer *out)
{
    if (count == 0)
        return;
    buffer_print(out, "kubernetes_healthchecks_total{name=\"%s\",status=\"%s\",type=\"%s\"} ",
                 r->check, status, r->group);
    totals_print_number(out, (double)count);
    buffer_add_text(out, "\n");
}

void slis_print(int64_t start_ns, struct buffer *out)
{
    qsort(rows, row_count, sizeof(rows[0]), compare);
    if (row_count > 0)
        buffer_add_text(out,
                        "# HELP kubernetes_healthcheck [STABLE] This metric records the result "
                        "of a single healthcheck.\n# TYPE kubernetes_healthcheck gauge\n");
    for (size_t i = 0; i < row_count; i++)
        buffer_print(out, "kubernetes_healthcheck{name=\"%s\",type=\"%s\"} %d\n", rows[i].check,
                     rows[i].group, rows[i].well);
    if (row_count > 0)
        buffer_add_text(out,
                        "# HELP kubernetes_healthchecks_total [STABLE] This metric records the "
                        "results of all healthcheck.\n# TYPE kubernetes_healthchecks_total "
                        "counter\n");
    for (size_t i = 0; i < row_count; i++) {
        print_total(&rows[i], "error", rows[i].bad, out);
        print_total(&rows[i], "success", rows[i].good, out);
    }
    buffer_add_text(out,
                    "# HELP process_start_time_seconds [ALPHA] Start time of the process since "
                    "unix epoch in seconds.\n# TYPE process_start_time_seconds gauge\n"
                    "process_start_time_seconds ");
    totals_print_number(out, (double)start_ns / 1e9);
    buffer_add_text(out, "\n");
}

void slis_reset(void)
{
    row_count = 0;
}
