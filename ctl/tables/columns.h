/* columns: tables as kubectl prints them, and the options that its commands for them have. */
#ifndef CTL_TABLES_COLUMNS_H
#define CTL_TABLES_COLUMNS_H

#include "proto/base/arena.h"
#include "proto/base/buffer.h"
#include "proto/bus/options.h"

#define COLUMNS_MAX 16

struct columns_cell {
    struct str text;
    double key; /* what it is sorted by; of a text 0 */
};

/* Zero-initialise, then table_heads. */
struct columns {
    struct arena arena;
    const char *heads[COLUMNS_MAX];
    uint32_t columns, rows, cells, room;
    struct columns_cell *at; /* row by row */
};

/* Up to COLUMNS_MAX column names, which stay; NULL ones are left out. */
void columns_head(struct columns *t, const char *head);
/* The next cell, row by row. The text is copied; what a terminal could take for a command becomes
 * question marks. Empty: <none>. */
void columns_text(struct columns *t, struct str text);
/* All of them in one cell, with commas. */
void columns_strs(struct columns *t, const struct strs *texts);
/* A text that is sorted by a number. */
void columns_number(struct columns *t, struct str text, double key);
void columns_i64(struct columns *t, int64_t value);
/* How long ago or how long from now, in milliseconds, as kubectl shows ages. */
void columns_span(struct columns *t, int64_t ms);
/* The same until a pod's next try; "-", which sorts first, when nothing but an event brings one. */
void columns_next_try(struct columns *t, int64_t ms);
/* By a column, whatever its case, with - or _ for blanks; least first, equal ones as they were.
 * False: there is none of that name. */
bool columns_sort(struct columns *t, const char *column);
void columns_print(const struct columns *t, bool headers, struct buffer *out);
/* One row, 0 and on; -1 is the head. Nothing at its end. */
void columns_print_row(const struct columns *t, int64_t row, struct buffer *out);
void columns_free(struct columns *t);

/* As kubectl's ages: 5s, 3m12s, 4h, 2d3h, 1y20d. */
void columns_span_text(int64_t ms, struct buffer *out);
/* Appends a text in which each byte that is no printable ASCII is a question mark. */
void columns_safe(struct buffer *out, struct str text);

/* ---- options: state begins with this ---- */

enum columns_form { COLUMNS_text, COLUMNS_wide, COLUMNS_json, COLUMNS_name };

struct columns_flags {
    enum columns_form form;
    bool no_headers;
    const char *sort_by; /* NULL: as it comes */
};

bool columns_take_form(void *state, const char *value);
bool columns_take_form_or_name(void *state, const char *value);
bool columns_take_no_headers(void *state, const char *value);
bool columns_take_sort_by(void *state, const char *value);

#define COLUMNS_OPTIONS                                                                            \
    {"o", "text|wide|json", "output format (default text)", columns_take_form}, COLUMNS_MORE_OPTIONS
#define COLUMNS_MORE_OPTIONS                                                                       \
    {"no-headers", NULL, "print no line of column names", columns_take_no_headers},                \
    {                                                                                              \
        "sort-by", "COLUMN", "by this column, least first", columns_take_sort_by                   \
    }

/* Whether --sort-by, if it was given, names one of the columns; else it is said on standard error
 * that there is none. For what is not shown as a table, too. */
bool columns_can_sort(const struct columns *t, const struct columns_flags *flags,
                      const char *command);
/* Sorts and prints to standard output, or says on standard error, as kubectl does, that there is
 * nothing: "No resources found" and where. False: it was said that there is no such column. */
bool columns_show(struct columns *t, const struct columns_flags *flags, const char *command,
                  const char *where);

#endif
