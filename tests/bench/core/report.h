/* report: what was measured, as tables while it runs, and as JSON, CSV and curves at the end. */
#ifndef TESTS_BENCH_CORE_REPORT_H
#define TESTS_BENCH_CORE_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define REPORT_COLUMNS_MAX 24
#define COLUMN_TEXT        (-1)

struct column {
    const char *name;
    int decimals; /* COLUMN_TEXT: words */
};

/* One of the two counts, as its column says. Not a number: there is nothing to say. */
struct cell {
    const char *text;
    double number;
};

#define TEXT(t)   ((struct cell){.text = (t)})
#define NUMBER(n) ((struct cell){.number = (double)(n)})

struct report;

/* quiet: no tables. */
struct report *report_new(bool quiet);
void report_free(struct report **r);
/* A word on the whole run: machine, commit, options. */
void report_about(struct report *r, const char *name, const char *value);
/* Rows follow. columns is borrowed as long as the report lives; a section that is begun twice goes
 * on. */
void report_section(struct report *r, const char *name, const char *title,
                    const struct column *columns, size_t count);
/* One cell a column, in order; texts are copied. */
void report_row(struct report *r, const struct cell *cells);

size_t report_rows(const struct report *r, const char *section);
/* A number of a row; NAN when there is no such row or column. */
double report_number(const struct report *r, const char *section, size_t row, const char *column);
/* A text likewise; "" when there is none. */
const char *report_text(const struct report *r, const char *section, size_t row,
                        const char *column);

void report_json(const struct report *r, FILE *out);
/* core.json, and NAME.csv for each section, into a folder that is made. False with errno. */
bool report_save(const struct report *r, const char *folder);

#endif
