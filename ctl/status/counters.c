/* counters: a table, and how a key finds its row.
 *
 * What must stay true: a row with its own name comes before one with a star, and a process's own
 * before those of any. */
#include "ctl/status/counters.h"

#include <string.h>

static const struct counter table[] = {
#define COUNTER(process, key, type, doc) {process, key, COUNTER_##type, doc},
#include "ctl/status/counters.def"
#undef COUNTER
};

size_t counters_count(void)
{
    return sizeof(table) / sizeof(*table);
}

const struct counter *counters_at(size_t i)
{
    return &table[i];
}

/* A star stands for anything that is not empty. */
static bool fits(const char *pattern, struct str key)
{
    const char *star = strchr(pattern, '*');
    if (star == NULL)
        return str_is(key, pattern);
    uint32_t before = (uint32_t)(star - pattern), behind = (uint32_t)strlen(star + 1);
    return key.len > before + behind && memcmp(key.at, pattern, before) == 0 &&
           memcmp(key.at + key.len - behind, star + 1, behind) == 0;
}

/* Of several the one that says most of the key. */
static const struct counter *find(const char *process, struct str key)
{
    const struct counter *best = NULL;
    for (size_t i = 0; i < counters_count(); i++) {
        if (strcmp(table[i].process, process) != 0 || !fits(table[i].key, key))
            continue;
        if (strchr(table[i].key, '*') == NULL)
            return &table[i];
        if (best == NULL || strlen(table[i].key) > strlen(best->key))
            best = &table[i];
    }
    return best;
}

/* What a scheduler says of the worker inside it is what workers say of themselves. */
static const struct counter *find_own_workers(struct str key)
{
    static const char prefix[] = "own_worker.";
    const uint32_t len = sizeof(prefix) - 1;
    if (key.len <= len || memcmp(key.at, prefix, len) != 0)
        return NULL;
    struct str rest = {key.at + len, key.len - len};
    const struct counter *row = find("worker", rest);
    return row != NULL ? row : find("any", rest);
}

const struct counter *counter_find(const char *process, struct str key)
{
    const struct counter *own = find(process, key);
    if (strcmp(process, "bus") == 0 || (own != NULL && strchr(own->key, '*') == NULL))
        return own;
    const struct counter *any = find("any", key);
    if (any == NULL && own == NULL && strcmp(process, "scheduler") == 0)
        return find_own_workers(key);
    return any != NULL ? any : own;
}

/* ---- as a man page ---- */

static const struct {
    const char *process, *heading;
} sections[] = {{"any", "Said by several"},
                {"watcher", "berth-watcher"},
                {"queue", "berth-queue"},
                {"scheduler", "berth-scheduler"},
                {"worker", "berth-scheduler --worker"},
                {"binder", "berth-binder"},
                {"extender", "berth-extender"},
                {"tool", "berth-serve"},
                {"bus", "Of every process: its bus"}};

static const char *type_name(enum counter_type type)
{
    static const char *const names[] = {"number", "yes or no", "text", "fields"};
    return names[type];
}

/* A sentence a line, as man pages have it. */
static void print_doc(const char *doc, struct buffer *out)
{
    for (; *doc != 0; doc++) {
        bool ends = doc[0] == '.' && doc[1] == ' ';
        buffer_add(out, ends ? ".\n" : doc, ends ? 2 : 1);
        doc += ends;
    }
    buffer_add_text(out, "\n");
}

static void print_section(const char *process, struct buffer *out)
{
    buffer_add_text(out, ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < counters_count(); i++)
        if (strcmp(table[i].process, process) == 0) {
            buffer_print(out, ".It Li %s Pq %s\n", table[i].key, type_name(table[i].type));
            print_doc(table[i].doc, out);
        }
    buffer_add_text(out, ".El\n");
}

void counters_print(struct buffer *out)
{
    buffer_add_text(out,
                    ".\\\" Made by berth status --print-counters (make docs); not edited by hand.\n"
                    ".Dd November 28, 2026\n.Dt BERTH-COUNTERS 7\n.Os\n.Sh NAME\n.Nm "
                    "berth-counters\n.Nd what berth's processes count\n.Sh DESCRIPTION\nWhat\n"
                    ".Xr berth-status 1\nshows with\n.Fl v ,\nby process.\nCounts are since "
                    "the process started, unless the text says what there is now.\nA key with "
                    "a dot is a field of the one before the dot, a star stands for any name.\n");
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        buffer_print(out, ".Ss %s\n", sections[i].heading);
        print_section(sections[i].process, out);
    }
    buffer_add_text(out, ".Sh SEE ALSO\n.Xr berth 1 ,\n.Xr berth-status 1\n");
}
