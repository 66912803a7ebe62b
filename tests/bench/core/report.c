/* report: keeps all rows of all sections, prints them as they come, and writes them down at the
 * end. What must stay true: a number appears in the table, in JSON and in CSV from the same cell,
 * so that the three never disagree. */
#include "tests/bench/core/report.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#define SECTIONS_MAX 24
#define ABOUT_MAX    16
#define WIDTH_LEAST  9
#define WIDTH_TEXT   16

struct section {
    const char *name, *title;
    const struct column *columns;
    size_t column_count, row_count;
    struct cell *cells; /* row by row */
};

struct report {
    bool quiet;
    struct section sections[SECTIONS_MAX];
    size_t section_count;
    struct section *current;
    char *about[ABOUT_MAX][2];
    size_t about_count;
};

struct report *report_new(bool quiet)
{
    struct report *r = memory_take(sizeof(*r));
    r->quiet = quiet;
    return r;
}

static void section_free(struct section *s)
{
    for (size_t i = 0; i < s->row_count * s->column_count; i++)
        if (s->columns[i % s->column_count].decimals == COLUMN_TEXT)
            memory_free((void *)s->cells[i].text);
    memory_free(s->cells);
}

void report_free(struct report **r)
{
    if (*r == NULL)
        return;
    for (size_t i = 0; i < (*r)->section_count; i++)
        section_free(&(*r)->sections[i]);
    for (size_t i = 0; i < (*r)->about_count; i++) {
        memory_free((*r)->about[i][0]);
        memory_free((*r)->about[i][1]);
    }
    memory_free(*r);
    *r = NULL;
}

void report_about(struct report *r, const char *name, const char *value)
{
    must(r->about_count < ABOUT_MAX);
    r->about[r->about_count][0] = memory_copy(name, strlen(name));
    r->about[r->about_count][1] = memory_copy(value, strlen(value));
    r->about_count++;
    if (!r->quiet)
        printf("%-10s %s\n", name, value);
}

static struct section *find(const struct report *r, const char *name)
{
    for (size_t i = 0; i < r->section_count; i++)
        if (strcmp(r->sections[i].name, name) == 0)
            return (struct section *)&r->sections[i];
    return NULL;
}

/* ---- the table ---- */

/* Words are left in their column, numbers right. Text columns are as wide as the longest word
 * there is likely to be; a longer one moves its row. */
static int width(const struct column *c)
{
    int least = c->decimals == COLUMN_TEXT ? WIDTH_TEXT : WIDTH_LEAST;
    int len = (int)strlen(c->name);
    return len > least ? len : least;
}

static void print_head(const struct section *s)
{
    printf("\n%s: %s\n", s->name, s->title);
    for (size_t i = 0; i < s->column_count; i++)
        printf(s->columns[i].decimals == COLUMN_TEXT ? "%-*s " : "%*s ", width(&s->columns[i]),
               s->columns[i].name);
    printf("\n");
}

static void print_row(const struct section *s, const struct cell *cells)
{
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        if (c->decimals == COLUMN_TEXT)
            printf("%-*s ", width(c), cells[i].text);
        else if (isnan(cells[i].number))
            printf("%*s ", width(c), "-");
        else
            printf("%*.*f ", width(c), c->decimals, cells[i].number);
    }
    printf("\n");
    fflush(stdout);
}

void report_section(struct report *r, const char *name, const char *title,
                    const struct column *columns, size_t count)
{
    must(count <= REPORT_COLUMNS_MAX);
    r->current = find(r, name);
    if (r->current == NULL) {
        must(r->section_count < SECTIONS_MAX);
        r->current = &r->sections[r->section_count++];
        *r->current = (struct section){
            .name = name, .title = title, .columns = columns, .column_count = count};
    }
    if (!r->quiet)
        print_head(r->current);
}

void report_row(struct report *r, const struct cell *cells)
{
    struct section *s = r->current;
    size_t at = s->row_count++ * s->column_count;
    s->cells = memory_resize(s->cells, (at + s->column_count) * sizeof(*s->cells));
    for (size_t i = 0; i < s->column_count; i++) {
        bool text = s->columns[i].decimals == COLUMN_TEXT;
        must((cells[i].text != NULL) == text); /* the row is that of these columns */
        s->cells[at + i] = cells[i];
        if (text)
            s->cells[at + i].text = memory_copy(cells[i].text, strlen(cells[i].text));
    }
    if (!r->quiet)
        print_row(s, cells);
}

/* ---- reading back ---- */

size_t report_rows(const struct report *r, const char *section)
{
    const struct section *s = find(r, section);
    return s != NULL ? s->row_count : 0;
}

static const struct cell *cell_of(const struct report *r, const char *section, size_t row,
                                  const char *column, bool text)
{
    const struct section *s = find(r, section);
    for (size_t i = 0; s != NULL && row < s->row_count && i < s->column_count; i++)
        if (strcmp(s->columns[i].name, column) == 0 &&
            (s->columns[i].decimals == COLUMN_TEXT) == text)
            return &s->cells[row * s->column_count + i];
    return NULL;
}

double report_number(const struct report *r, const char *section, size_t row, const char *column)
{
    const struct cell *cell = cell_of(r, section, row, column, false);
    return cell != NULL ? cell->number : (double)NAN;
}

const char *report_text(const struct report *r, const char *section, size_t row, const char *column)
{
    const struct cell *cell = cell_of(r, section, row, column, true);
    return cell != NULL ? cell->text : "";
}

/* ---- JSON and CSV ---- */

/* Our own words and those of /proc hold nothing that JSON needs escaped beyond quotes. */
static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != 0; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        if ((unsigned char)*text >= ' ')
            fputc(*text, out);
    }
    fputc('"', out);
}

static void put_cell(FILE *out, const struct column *c, const struct cell *cell)
{
    if (c->decimals == COLUMN_TEXT)
        put_text(out, cell->text);
    else if (isnan(cell->number))
        fprintf(out, "null");
    else
        fprintf(out, "%.*f", c->decimals, cell->number);
}

static void put_section(FILE *out, const struct section *s)
{
    put_text(out, s->name);
    fprintf(out, ": [");
    for (size_t row = 0; row < s->row_count; row++) {
        fprintf(out, "%s\n    {", row > 0 ? "," : "");
        for (size_t i = 0; i < s->column_count; i++) {
            fprintf(out, "%s", i > 0 ? ", " : "");
            put_text(out, s->columns[i].name);
            fprintf(out, ": ");
            put_cell(out, &s->columns[i], &s->cells[row * s->column_count + i]);
        }
        fprintf(out, "}");
    }
    fprintf(out, "\n  ]");
}

void report_json(const struct report *r, FILE *out)
{
    fprintf(out, "{\n  \"about\": {");
    for (size_t i = 0; i < r->about_count; i++) {
        fprintf(out, "%s", i > 0 ? ", " : "");
        put_text(out, r->about[i][0]);
        fprintf(out, ": ");
        put_text(out, r->about[i][1]);
    }
    fprintf(out, "}");
    for (size_t i = 0; i < r->section_count; i++) {
        fprintf(out, ",\n  ");
        put_section(out, &r->sections[i]);
    }
    fprintf(out, "\n}\n");
}

static void put_csv(FILE *out, const struct section *s)
{
    for (size_t i = 0; i < s->column_count; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", s->columns[i].name);
    fprintf(out, "\n");
    for (size_t row = 0; row < s->row_count; row++) {
        for (size_t i = 0; i < s->column_count; i++) {
            fprintf(out, "%s", i > 0 ? "," : "");
            put_cell(out, &s->columns[i], &s->cells[row * s->column_count + i]);
        }
        fprintf(out, "\n");
    }
}

bool report_save(const struct report *r, const char *folder)
{
    char path[4096];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return false;
    snprintf(path, sizeof(path), "%s/core.json", folder);
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return false;
    report_json(r, out);
    bool well = fclose(out) == 0;
    for (size_t i = 0; well && i < r->section_count; i++) {
        snprintf(path, sizeof(path), "%s/%s.csv", folder, r->sections[i].name);
        out = fopen(path, "w");
        if (out == NULL)
            return false;
        put_csv(out, &r->sections[i]);
        well = fclose(out) == 0;
    }
    return well;
}
