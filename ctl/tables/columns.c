/* columns: columns, as kubectl's printer for people has them: names in capitals, three blanks
 * between the columns, none at a line's end. The one idea: all cells are kept until the end, since
 * a column is as wide as its widest cell.
 *
 * What must stay true: strangers' bytes never reach a terminal as a command. */
#include "ctl/tables/columns.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PADDING   3
#define MIN_WIDTH 6
#define YEAR      INT64_C(365) /* days, as kubectl has it */

void columns_safe(struct buffer *out, struct str text)
{
    for (uint32_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        buffer_add(out, c >= 0x20 && c < 0x7f ? &c : "?", 1);
    }
}

void columns_head(struct columns *t, const char *head)
{
    if (head == NULL)
        return;
    must(t->columns < COLUMNS_MAX && t->cells == 0);
    t->heads[t->columns++] = head;
}

void columns_number(struct columns *t, struct str text, double key)
{
    struct buffer safe = {0};
    if (t->cells == t->room) {
        t->room = t->room * 2 + 64;
        t->at = memory_resize(t->at, t->room * sizeof(*t->at));
    }
    columns_safe(&safe, text.len > 0 ? text : STR_LITERAL("<none>"));
    t->at[t->cells++] =
        (struct columns_cell){.text = arena_copy(&t->arena, buffer_str(&safe)), .key = key};
    t->rows = (t->cells + t->columns - 1) / t->columns;
    buffer_free(&safe);
}

void columns_text(struct columns *t, struct str text)
{
    columns_number(t, text, 0);
}

void columns_strs(struct columns *t, const struct strs *texts)
{
    struct buffer all = {0};
    for (uint32_t i = 0; i < texts->count; i++)
        buffer_print(&all, "%s%.*s", i > 0 ? "," : "", STR_ARG(texts->at[i]));
    columns_text(t, buffer_str(&all));
    buffer_free(&all);
}

void columns_i64(struct columns *t, int64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, value);
    columns_number(t, str_of(text), (double)value);
}

/* ---- spans ---- */

/* So many of the larger unit, and the rest in the smaller one unless it is none. */
static void two(struct buffer *out, int64_t large, char unit, int64_t rest, char smaller)
{
    buffer_print(out, "%" PRId64 "%c", large, unit);
    if (rest > 0)
        buffer_print(out, "%" PRId64 "%c", rest, smaller);
}

void columns_span_text(int64_t ms, struct buffer *out)
{
    int64_t s = ms > 0 ? ms / 1000 : 0, m = s / 60, h = m / 60, d = h / 24;
    if (s < 120)
        two(out, s, 's', 0, 0);
    else if (m < 10)
        two(out, m, 'm', s % 60, 's');
    else if (m < 180)
        two(out, m, 'm', 0, 0);
    else if (h < 8)
        two(out, h, 'h', m % 60, 'm');
    else if (h < 48)
        two(out, h, 'h', 0, 0);
    else if (d < 8)
        two(out, d, 'd', h % 24, 'h');
    else if (d < 2 * YEAR)
        two(out, d, 'd', 0, 0);
    else
        two(out, d / YEAR, 'y', d < 8 * YEAR ? d % YEAR : 0, 'd');
}

void columns_span(struct columns *t, int64_t ms)
{
    struct buffer text = {0};
    columns_span_text(ms, &text);
    columns_number(t, buffer_str(&text), (double)ms);
    buffer_free(&text);
}

void columns_next_try(struct columns *t, int64_t ms)
{
    if (ms > 0)
        columns_span(t, ms);
    else
        columns_number(t, STR_LITERAL("-"), -1);
}

/* ---- sorting ---- */

static bool is_named(const char *head, const char *column)
{
    for (; *head != 0 && *column != 0; head++, column++) {
        char c = *column;
        if (c == '-' || c == '_')
            c = ' ';
        if (*head != c && !(c >= 'a' && c <= 'z' && *head == c - 'a' + 'A'))
            return false;
    }
    return *head == *column;
}

struct sorted {
    struct columns_cell by;
    uint32_t row;
};

static int in_order(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    int texts = x->by.key == y->by.key ? str_compare(x->by.text, y->by.text) : 0;
    if (x->by.key != y->by.key)
        return x->by.key < y->by.key ? -1 : 1;
    if (texts != 0 && x->by.key == 0)
        return texts;
    return x->row < y->row ? -1 : x->row > y->row;
}

static uint32_t find(const struct columns *t, const char *column)
{
    uint32_t c = 0;
    while (c < t->columns && !is_named(t->heads[c], column))
        c++;
    return c;
}

bool columns_sort(struct columns *t, const char *column)
{
    uint32_t c = find(t, column);
    if (c == t->columns)
        return false;
    struct sorted *rows = memory_take_array(t->rows + 1, sizeof(*rows));
    struct columns_cell *moved = memory_take_array(t->cells + 1, sizeof(*moved));
    for (uint32_t i = 0; i < t->rows; i++)
        rows[i] = (struct sorted){t->at[i * t->columns + c], i};
    qsort(rows, t->rows, sizeof(*rows), in_order);
    for (uint32_t i = 0; i < t->rows; i++)
        memcpy(&moved[(size_t)i * t->columns], &t->at[(size_t)rows[i].row * t->columns],
               t->columns * sizeof(*moved));
    memory_free(rows);
    memory_free(t->at);
    t->at = moved;
    t->room = t->cells + 1;
    return true;
}

/* ---- printing ---- */

static uint32_t width_of(const struct columns *t, uint32_t column)
{
    size_t width = strlen(t->heads[column]);
    for (uint32_t i = column; i < t->cells; i += t->columns)
        width = t->at[i].text.len > width ? t->at[i].text.len : width;
    return (uint32_t)(width + PADDING < MIN_WIDTH ? MIN_WIDTH : width + PADDING);
}

static void print_row(const struct columns *t, int64_t row, const uint32_t *widths,
                      struct buffer *out)
{
    for (uint32_t c = 0; c < t->columns; c++) {
        struct str text = row < 0 ? str_of(t->heads[c]) : t->at[row * t->columns + c].text;
        buffer_add_str(out, text);
        for (uint32_t i = text.len; i < widths[c] && c + 1 < t->columns; i++)
            buffer_add_text(out, " ");
    }
}

void columns_print_row(const struct columns *t, int64_t row, struct buffer *out)
{
    uint32_t widths[COLUMNS_MAX];
    for (uint32_t c = 0; c < t->columns; c++)
        widths[c] = width_of(t, c);
    print_row(t, row, widths, out);
}

void columns_print(const struct columns *t, bool headers, struct buffer *out)
{
    uint32_t widths[COLUMNS_MAX];
    for (uint32_t c = 0; c < t->columns; c++)
        widths[c] = width_of(t, c);
    for (int64_t row = headers ? -1 : 0; row < (int64_t)t->rows; row++) {
        print_row(t, row, widths, out);
        buffer_add_text(out, "\n");
    }
}

void columns_free(struct columns *t)
{
    arena_free(&t->arena);
    memory_free(t->at);
    *t = (struct columns){.columns = 0};
}

bool columns_can_sort(const struct columns *t, const struct columns_flags *flags,
                      const char *command)
{
    bool can = flags->sort_by == NULL || find(t, flags->sort_by) < t->columns;
    if (!can)
        fprintf(stderr, "%s: --sort-by: there is no column %s\n", command, flags->sort_by);
    return can;
}

bool columns_show(struct columns *t, const struct columns_flags *flags, const char *command,
                  const char *where)
{
    struct buffer out = {0};
    if (!columns_can_sort(t, flags, command))
        return false;
    if (flags->sort_by != NULL)
        columns_sort(t, flags->sort_by);
    if (t->rows == 0)
        fprintf(stderr, "No resources found%s\n", where);
    else
        columns_print(t, !flags->no_headers, &out);
    if (out.len > 0)
        fwrite(out.at, 1, out.len, stdout);
    buffer_free(&out);
    return true;
}

/* ---- options ---- */

static bool take_form(void *state, const char *value, enum columns_form last)
{
    static const char *const forms[] = {"text", "wide", "json", "name"};
    for (int i = 0; i <= (int)last; i++)
        if (strcmp(value, forms[i]) == 0) {
            ((struct columns_flags *)state)->form = (enum columns_form)i;
            return true;
        }
    return false;
}

bool columns_take_form(void *state, const char *value)
{
    return take_form(state, value, COLUMNS_json);
}

bool columns_take_form_or_name(void *state, const char *value)
{
    return take_form(state, value, COLUMNS_name);
}

bool columns_take_no_headers(void *state, const char *value)
{
    (void)value;
    return ((struct columns_flags *)state)->no_headers = true;
}

bool columns_take_sort_by(void *state, const char *value)
{
    ((struct columns_flags *)state)->sort_by = value;
    return *value != 0;
}
