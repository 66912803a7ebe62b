/* regex_class: sets of characters as ranges, for patterns: by hand, by ASCII's names and by
 * Unicode's. What must stay true: a class that is negated has what it is folded with taken out,
 * too, as in Go; the tables (unicode.def) are of the version of Unicode that kube-scheduler's Go
 * has. */
#include "scheduler/cel/regex_tree.h"

#include <string.h>

struct code_run {
    uint32_t first, last, stride;
};

/* ---- Unicode's tables ---- */

#define CATEGORY(name)         static const struct code_run runs_##name[] = {
#define SCRIPT(name)           static const struct code_run runs_##name[] = {
#define R(first, last)         {first, last, 1},
#define S(first, last, stride) {first, last, stride},
#define FOLD(first, last, stride, to)
#define END(name)                                                                                  \
    }                                                                                              \
    ;
#include "scheduler/cel/unicode.def"
#undef CATEGORY
#undef SCRIPT
#undef R
#undef S
#undef FOLD
#undef END

static const struct code_class {
    const char *name;
    bool script;
    const struct code_run *runs;
    size_t count;
} code_classes[] = {
#define CATEGORY(name) {#name, false, runs_##name, sizeof(runs_##name) / sizeof(struct code_run)},
#define SCRIPT(name)   {#name, true, runs_##name, sizeof(runs_##name) / sizeof(struct code_run)},
#define R(first, last)
#define S(first, last, stride)
#define FOLD(first, last, stride, to)
#define END(name)
#include "scheduler/cel/unicode.def"
#undef CATEGORY
#undef SCRIPT
#undef R
#undef S
#undef FOLD
#undef END
};

/* By first; every ordered pair of those that are the same. */
static const struct code_fold {
    uint32_t first, last, stride;
    int32_t to;
} folds[] = {
#define CATEGORY(name)
#define SCRIPT(name)
#define R(first, last)
#define S(first, last, stride)
#define FOLD(first, last, stride, to) {first, last, stride, to},
#define END(name)
#include "scheduler/cel/unicode.def"
#undef CATEGORY
#undef SCRIPT
#undef R
#undef S
#undef FOLD
#undef END
};

/* Other names of categories, as Go has made them ready to be looked up. */
static const struct {
    const char *name, *category;
} aliases[] = {
    {"Casedletter", "Lc"},
    {"Closepunctuation", "Pe"},
    {"Combiningmark", "M"},
    {"Connectorpunctuation", "Pc"},
    {"Control", "Cc"},
    {"Currencysymbol", "Sc"},
    {"Dashpunctuation", "Pd"},
    {"Decimalnumber", "Nd"},
    {"Enclosingmark", "Me"},
    {"Finalpunctuation", "Pf"},
    {"Format", "Cf"},
    {"Initialpunctuation", "Pi"},
    {"Letter", "L"},
    {"Letternumber", "Nl"},
    {"Lineseparator", "Zl"},
    {"Lowercaseletter", "Ll"},
    {"Mark", "M"},
    {"Mathsymbol", "Sm"},
    {"Modifierletter", "Lm"},
    {"Modifiersymbol", "Sk"},
    {"Nonspacingmark", "Mn"},
    {"Number", "N"},
    {"Openpunctuation", "Ps"},
    {"Other", "C"},
    {"Otherletter", "Lo"},
    {"Othernumber", "No"},
    {"Otherpunctuation", "Po"},
    {"Othersymbol", "So"},
    {"Paragraphseparator", "Zp"},
    {"Privateuse", "Co"},
    {"Punctuation", "P"},
    {"Separator", "Z"},
    {"Spaceseparator", "Zs"},
    {"Spacingmark", "Mc"},
    {"Surrogate", "Cs"},
    {"Symbol", "S"},
    {"Titlecaseletter", "Lt"},
    {"Unassigned", "Cn"},
    {"Uppercaseletter", "Lu"},
    {"Cntrl", "Cc"},
    {"Digit", "Nd"},
    {"Punct", "P"},
};

/* ---- ranges ---- */

struct regex_class *regex_class_new(struct pool *p)
{
    return pool_take(p, sizeof(struct regex_class));
}

void regex_class_add(struct pool *p, struct regex_class *c, uint32_t first, uint32_t last)
{
    if (first > last)
        return;
    if (c->count == c->room) {
        uint32_t room = c->room == 0 ? 4 : 2 * c->room;
        struct regex_range *grown = pool_take_array(p, room, sizeof(*grown));
        if (c->count > 0)
            memcpy(grown, c->at, c->count * sizeof(*grown));
        c->at = grown;
        c->room = room;
    }
    c->at[c->count++] = (struct regex_range){first, last};
}

/* What the fold leads to from the range. */
static void add_fold(struct pool *p, struct regex_class *c, const struct code_fold *f,
                     struct regex_range range)
{
    uint32_t last = range.last < f->last ? range.last : f->last, first = f->first;
    if (range.first > first)
        first += (range.first - first + f->stride - 1) / f->stride * f->stride;
    if (f->stride == 1 && first <= last) {
        regex_class_add(p, c, first + (uint32_t)f->to, last + (uint32_t)f->to);
        return;
    }
    for (; first <= last; first += f->stride)
        regex_class_add(p, c, first + (uint32_t)f->to, first + (uint32_t)f->to);
}

void regex_class_add_folded(struct pool *p, struct regex_class *c, uint32_t first, uint32_t last,
                            bool fold)
{
    const struct code_fold *end = folds + sizeof(folds) / sizeof(folds[0]);
    regex_class_add(p, c, first, last);
    for (const struct code_fold *f = folds; fold && f < end && f->first <= last; f++)
        if (f->last >= first)
            add_fold(p, c, f, (struct regex_range){first, last});
}

static void merge(struct regex_range *to, const struct regex_range *from, const uint32_t span[3])
{
    uint32_t a = span[0], b = span[1], at = span[0];
    while (a < span[1] || b < span[2])
        to[at++] =
            a == span[1] || (b < span[2] && from[b].first < from[a].first) ? from[b++] : from[a++];
}

static void class_sort(struct pool *p, struct regex_class *c)
{
    uint32_t sorted = 1;
    while (sorted < c->count && c->at[sorted - 1].first <= c->at[sorted].first)
        sorted++;
    if (sorted >= c->count)
        return;
    struct regex_range *spare = pool_take_array(p, c->count, sizeof(*spare));
    for (uint64_t width = 1; width < c->count; width *= 2) {
        for (uint64_t from = 0; from < c->count; from += 2 * width) {
            uint64_t middle = from + width < c->count ? from + width : c->count;
            uint64_t end = from + 2 * width < c->count ? from + 2 * width : c->count;
            const uint32_t span[3] = {(uint32_t)from, (uint32_t)middle, (uint32_t)end};
            merge(spare, c->at, span);
        }
        struct regex_range *swap = c->at;
        c->at = spare;
        spare = swap;
    }
    c->room = c->count;
}

void regex_class_finish(struct pool *p, struct regex_class *c)
{
    uint32_t kept = 0;
    class_sort(p, c);
    for (uint32_t i = 0; i < c->count; i++) {
        if (kept > 0 && c->at[i].first <= c->at[kept - 1].last + 1) {
            if (c->at[i].last > c->at[kept - 1].last)
                c->at[kept - 1].last = c->at[i].last;
        } else {
            c->at[kept++] = c->at[i];
        }
    }
    c->count = kept;
}

void regex_class_add_all(struct pool *p, struct regex_class *to, struct regex_class *from,
                         bool negated)
{
    uint32_t next = 0;
    for (uint32_t i = 0; !negated && i < from->count; i++)
        regex_class_add(p, to, from->at[i].first, from->at[i].last);
    if (!negated)
        return;
    regex_class_finish(p, from);
    for (uint32_t i = 0; i < from->count; i++) {
        if (from->at[i].first > next)
            regex_class_add(p, to, next, from->at[i].first - 1);
        next = from->at[i].last + 1;
    }
    regex_class_add(p, to, next, REGEX_RUNE_MAX);
}

/* ---- ASCII's names ---- */

static const struct {
    const char *name, *ranges; /* pairs of first and last */
} named_classes[] = {
    {"alnum", "09AZaz"},
    {"alpha", "AZaz"},
    {"ascii", "\x01\x7f"},
    {"blank", "\t\t  "},
    {"cntrl", "\x01\x1f\x7f\x7f"},
    {"digit", "09"},
    {"graph", "!~"},
    {"lower", "az"},
    {"print", " ~"},
    {"punct", "!/:@[`{~"},
    {"space", "\t\r  "},
    {"upper", "AZ"},
    {"word", "09AZaz__"},
    {"xdigit", "09AFaf"},
    /* \d \s \w */
    {"\\d", "09"},
    {"\\s", "\t\n\f\r  "},
    {"\\w", "09AZaz__"},
};

bool regex_class_add_named(struct pool *p, struct regex_class *c, struct str name,
                           struct regex_sense sense)
{
    struct regex_class *own = regex_class_new(p);
    for (size_t i = 0; i < sizeof(named_classes) / sizeof(named_classes[0]); i++) {
        if (!str_is(name, named_classes[i].name))
            continue;
        const char *at = named_classes[i].ranges;
        for (; *at != '\0'; at += 2)
            regex_class_add_folded(p, own, (unsigned char)at[0], (unsigned char)at[1], sense.fold);
        if (str_is(name, "ascii") || str_is(name, "cntrl"))
            regex_class_add(p, own, 0, 0);
        regex_class_add_all(p, c, own, sense.negated);
        return true;
    }
    return false;
}

/* ---- Unicode's names ---- */

/* As Go makes it ready to be looked up: without spaces, _ and -, the first letter alone a capital.
 */
static struct str canonical(struct pool *p, struct str name)
{
    char *out = pool_take(p, (size_t)name.len + 1);
    uint32_t len = 0;
    for (uint32_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (c == '_' || c == '-' || c == ' ')
            continue;
        bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z';
        out[len] = (char)(len == 0 && lower ? c - 32 : len > 0 && upper ? c + 32 : c);
        len++;
    }
    return (struct str){out, len};
}

static void add_runs(struct pool *p, struct regex_class *c, const struct code_class *from,
                     bool fold)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct code_run *run = &from->runs[i];
        if (run->stride == 1)
            regex_class_add_folded(p, c, run->first, run->last, fold);
        for (uint32_t at = run->first; run->stride > 1 && at <= run->last; at += run->stride)
            regex_class_add_folded(p, c, at, at, fold);
    }
}

/* The categories that begin with the letters, or are one of cased letters (Lc). */
static bool in_category(const struct code_class *class, struct str name)
{
    if (class->script)
        return false;
    if (str_is(name, "Lc"))
        return strcmp(class->name, "Lu") == 0 || strcmp(class->name, "Ll") == 0 ||
               strcmp(class->name, "Lt") == 0;
    return (name.len == 1 || name.len == 2) && strncmp(class->name, name.at, name.len) == 0;
}

/* What is in no category. */
static void add_unassigned(struct pool *p, struct regex_class *c, bool negated)
{
    struct regex_class *all = regex_class_new(p);
    for (size_t i = 0; i < sizeof(code_classes) / sizeof(code_classes[0]); i++)
        if (!code_classes[i].script)
            add_runs(p, all, &code_classes[i], false);
    regex_class_add_all(p, c, all, !negated);
}

static bool add_table(struct pool *p, struct regex_class *c, struct str name, bool fold)
{
    bool found = false;
    for (size_t i = 0; i < sizeof(code_classes) / sizeof(code_classes[0]); i++) {
        const struct code_class *class = &code_classes[i];
        if (in_category(class, name) || (class->script && str_is(name, class->name))) {
            add_runs(p, c, class, fold);
            found = true;
        }
    }
    return found;
}

bool regex_class_add_unicode(struct pool *p, struct regex_class *c, struct str name,
                             struct regex_sense sense)
{
    struct regex_class *own = regex_class_new(p);
    bool found = true;
    name = canonical(p, name);
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (str_is(name, aliases[i].name))
            name = str_of(aliases[i].category);
    if (str_is(name, "Any"))
        regex_class_add(p, own, 0, REGEX_RUNE_MAX);
    else if (str_is(name, "Ascii"))
        regex_class_add_folded(p, own, 0, 0x7F, sense.fold);
    else if (str_is(name, "Assigned") || str_is(name, "Cn"))
        add_unassigned(p, own, str_is(name, "Assigned"));
    else /* Go has no letters that cased ones are folded with */
        found = add_table(p, own, name, sense.fold && !str_is(name, "Lc"));
    if (str_is(name, "C"))
        add_unassigned(p, own, false);
    regex_class_add_all(p, c, own, sense.negated);
    return found;
}
