/* regex_parse: Go's pattern syntax (package regexp/syntax with Perl's extensions) into a tree. What
 * must stay true: nesting and repetition are bounded as in Go (1000 each), so that the tree is
 * walked and the program stays small; errors are in Go's words. Of Unicode's classes only general
 * categories of letters and digits in ASCII are known: others are refused by name. */
#include "scheduler/cel/regex_tree.h"
#include "scheduler/cel/text.h"

#include <string.h>

#define NEST_MAX   1000u
#define REPEAT_MAX 1000u
#define RUNE_MAX   0x10FFFFu

struct flags {
    bool fold, multi_line, dot_all, swap_greed;
};

struct reader {
    struct pool *pool;
    struct str pattern;
    uint32_t at;
    uint32_t nest;
    struct flags flags;
    struct str error; /* at is NULL while all is well */
};

static bool more(const struct reader *r)
{
    return r->at < r->pattern.len;
}

static char peek(const struct reader *r, uint32_t ahead)
{
    if (r->at + ahead < r->pattern.len)
        return r->pattern.at[r->at + ahead];
    return '\0';
}

static bool take(struct reader *r, const char *text)
{
    if (!str_starts_with(text_from(r->pattern, r->at), text))
        return false;
    r->at += (uint32_t)strlen(text);
    return true;
}

static struct regex_tree *refuse(struct reader *r, const char *why, struct str where)
{
    if (r->error.at == NULL)
        r->error = pool_print(r->pool, "error parsing regexp: %s: `%.*s`", why, STR_ARG(where));
    r->at = r->pattern.len;
    return NULL;
}

static struct str since(const struct reader *r, uint32_t from)
{
    return (struct str){r->pattern.at + from, r->at - from};
}

static uint32_t take_rune(struct reader *r)
{
    uint32_t len = 0, rune = text_decode(text_from(r->pattern, r->at), &len);
    r->at += len;
    return rune;
}

static struct regex_tree *tree(struct reader *r, enum regex_kind kind, struct regex_tree *a,
                               struct regex_tree *b)
{
    struct regex_tree *t = pool_take(r->pool, sizeof(*t));
    t->kind = kind;
    t->a = a;
    t->b = b;
    return t;
}

/* ---- classes ---- */

static struct regex_class *class_new(struct reader *r)
{
    return pool_take(r->pool, sizeof(struct regex_class));
}

static void class_add(struct reader *r, struct regex_class *c, uint32_t first, uint32_t last)
{
    if (first > last)
        return;
    if (c->count == c->room) {
        uint32_t room = c->room == 0 ? 4 : 2 * c->room;
        struct regex_range *grown = pool_take_array(r->pool, room, sizeof(*grown));
        if (c->count > 0)
            memcpy(grown, c->at, c->count * sizeof(*grown));
        c->at = grown;
        c->room = room;
    }
    c->at[c->count++] = (struct regex_range){first, last};
}

/* A range and, when case does not count, its letters of the other case. */
static void class_add_folded(struct reader *r, struct regex_class *c, uint32_t first, uint32_t last)
{
    class_add(r, c, first, last);
    if (!r->flags.fold)
        return;
    uint32_t a = first > 'a' ? first : 'a', z = last < 'z' ? last : 'z';
    if (a <= z)
        class_add(r, c, a - 32, z - 32);
    a = first > 'A' ? first : 'A';
    z = last < 'Z' ? last : 'Z';
    if (a <= z)
        class_add(r, c, a + 32, z + 32);
    if (first <= 'k' && last >= 'k')
        class_add(r, c, 0x212A, 0x212A); /* the Kelvin sign is a k */
    if (first <= 's' && last >= 's')
        class_add(r, c, 0x17F, 0x17F); /* the long s is an s */
}

static void class_sort(struct regex_class *c)
{
    for (uint32_t i = 1; i < c->count; i++)
        for (uint32_t j = i; j > 0 && c->at[j].first < c->at[j - 1].first; j--) {
            struct regex_range t = c->at[j];
            c->at[j] = c->at[j - 1];
            c->at[j - 1] = t;
        }
}

static void class_add_all(struct reader *r, struct regex_class *to, struct regex_class *from,
                          bool negated)
{
    uint32_t next = 0;
    for (uint32_t i = 0; !negated && i < from->count; i++)
        class_add(r, to, from->at[i].first, from->at[i].last);
    if (!negated)
        return;
    class_sort(from);
    for (uint32_t i = 0; i < from->count; i++) {
        if (from->at[i].first > next)
            class_add(r, to, next, from->at[i].first - 1);
        if (from->at[i].last + 1 > next)
            next = from->at[i].last + 1;
    }
    class_add(r, to, next, RUNE_MAX);
}

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

static bool add_named(struct reader *r, struct regex_class *c, struct str name, bool negated)
{
    struct regex_class *own = class_new(r);
    for (size_t i = 0; i < sizeof(named_classes) / sizeof(named_classes[0]); i++) {
        if (!str_is(name, named_classes[i].name))
            continue;
        const char *at = named_classes[i].ranges;
        for (; *at != '\0'; at += 2)
            class_add_folded(r, own, (unsigned char)at[0], (unsigned char)at[1]);
        if (str_is(name, "ascii") || str_is(name, "cntrl"))
            class_add(r, own, 0, 0);
        class_add_all(r, c, own, negated);
        return true;
    }
    return false;
}

/* \d and its like, also negated by a capital letter. */
static bool perl_class(struct reader *r, struct regex_class *c)
{
    char letter = peek(r, 1);
    if (peek(r, 0) != '\\' || letter == '\0' || strchr("dswDSW", letter) == NULL)
        return false;
    char name[3] = {'\\', (char)(letter | 0x20), '\0'};
    add_named(r, c, (struct str){name, 2}, letter < 'a');
    r->at += 2;
    return true;
}

static bool posix_class(struct reader *r, struct regex_class *c)
{
    struct str rest = text_from(r->pattern, r->at);
    if (!str_starts_with(rest, "[:"))
        return false;
    int64_t end = text_find(rest, STR_LITERAL(":]"));
    if (end < 0)
        return false;
    struct str name = {rest.at + 2, (uint32_t)end - 2};
    bool negated = name.len > 0 && name.at[0] == '^';
    if (negated)
        name = text_from(name, 1);
    if (!add_named(r, c, name, negated))
        refuse(r, "invalid character class range", text_first(rest, (uint32_t)end + 2));
    else
        r->at += (uint32_t)end + 2;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \x41 and \x{10FFFF}, the reader behind the x. */
static bool hex_escape(struct reader *r, uint32_t *rune)
{
    *rune = 0;
    if (take(r, "{")) {
        uint32_t digits = 0;
        for (; hex_digit(peek(r, 0)) >= 0 && *rune <= RUNE_MAX; r->at++, digits++)
            *rune = *rune * 16 + (uint32_t)hex_digit(peek(r, 0));
        return digits > 0 && *rune <= RUNE_MAX && take(r, "}");
    }
    for (int i = 0; i < 2; i++, r->at++) {
        if (hex_digit(peek(r, 0)) < 0)
            return false;
        *rune = *rune * 16 + (uint32_t)hex_digit(peek(r, 0));
    }
    return true;
}

static bool octal_escape(struct reader *r, char first, uint32_t *rune)
{
    if (first != '0' && (peek(r, 0) < '0' || peek(r, 0) > '7'))
        return false;
    *rune = (uint32_t)(first - '0');
    for (int i = 1; i < 3 && peek(r, 0) >= '0' && peek(r, 0) <= '7'; i++, r->at++)
        *rune = *rune * 8 + (uint32_t)(peek(r, 0) - '0');
    return true;
}

/* An escape that stands for one character; 0 and an error when it is none. */
static uint32_t escaped_rune(struct reader *r)
{
    static const char letters[] = "aftnrv", means[] = "\a\f\t\n\r\v";
    uint32_t from = r->at++, rune = 0;
    if (!more(r)) {
        refuse(r, "trailing backslash at end of expression", STR_LITERAL(""));
        return 0;
    }
    char c = peek(r, 0);
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    rune = take_rune(r);
    if (rune < 0x80 && !letter)
        return rune; /* any sign stands for itself */
    const char *at = strchr(letters, c);
    if (at != NULL)
        return (unsigned char)means[at - letters];
    if (c == 'x' && hex_escape(r, &rune))
        return rune;
    if (c >= '0' && c <= '7' && octal_escape(r, c, &rune))
        return rune;
    refuse(r, "invalid escape sequence", since(r, from));
    return 0;
}

static uint32_t class_rune(struct reader *r, uint32_t from)
{
    if (!more(r)) {
        refuse(r, "missing closing ]", text_from(r->pattern, from));
        return 0;
    }
    return peek(r, 0) == '\\' ? escaped_rune(r) : take_rune(r);
}

static bool unicode_class(struct reader *r)
{
    if (peek(r, 0) != '\\' || (peek(r, 1) != 'p' && peek(r, 1) != 'P'))
        return false;
    refuse(r, "not supported by berth: classes of Unicode", text_from(r->pattern, r->at));
    return true;
}

static struct regex_tree *class_tree(struct reader *r, struct regex_class *c)
{
    struct regex_tree *t = tree(r, RE_class, NULL, NULL);
    class_sort(c);
    t->class = c;
    return t;
}

static struct regex_tree *parse_class(struct reader *r)
{
    uint32_t from = r->at++;
    bool negated = take(r, "^"), first = true;
    struct regex_class *c = class_new(r), *out = class_new(r);
    if (negated) /* without (?s) a negated class still has the line's end, as in Go */
        first = true;
    for (; r->error.at == NULL && (first || peek(r, 0) != ']' || !more(r)); first = false) {
        uint32_t begin = r->at;
        if (perl_class(r, c) || posix_class(r, c) || unicode_class(r))
            continue;
        uint32_t low = class_rune(r, from), high = low;
        if (peek(r, 0) == '-' && peek(r, 1) != ']' && r->at + 1 < r->pattern.len) {
            r->at++;
            high = class_rune(r, from);
            if (high < low && r->error.at == NULL)
                return refuse(r, "invalid character class range", since(r, begin));
        }
        class_add_folded(r, c, low, high);
    }
    r->at++;
    class_add_all(r, out, c, negated);
    return r->error.at != NULL ? NULL : class_tree(r, out);
}

/* ---- the rest ---- */

/* Bounded by NEST_MAX. NOLINTBEGIN(misc-no-recursion) */
static struct regex_tree *parse_alternatives(struct reader *r);

static struct regex_tree *literal(struct reader *r, uint32_t rune)
{
    struct regex_class *c = class_new(r);
    class_add_folded(r, c, rune, rune);
    return class_tree(r, c);
}

static struct regex_tree *place(struct reader *r, enum regex_place where)
{
    struct regex_tree *t = tree(r, RE_assert, NULL, NULL);
    t->place = where;
    return t;
}

/* \Q...\E */
static struct regex_tree *quoted(struct reader *r)
{
    struct regex_tree *all = NULL;
    while (more(r) && !take(r, "\\E")) {
        struct regex_tree *one = literal(r, take_rune(r));
        all = all == NULL ? one : tree(r, RE_cat, all, one);
    }
    return all != NULL ? all : tree(r, RE_empty, NULL, NULL);
}

static struct regex_tree *parse_escape(struct reader *r)
{
    static const char letters[] = "AzbB";
    static const enum regex_place places[] = {PLACE_text_begin, PLACE_text_end, PLACE_word,
                                              PLACE_no_word};
    struct regex_class *c = class_new(r);
    if (perl_class(r, c))
        return class_tree(r, c);
    if (unicode_class(r))
        return NULL;
    if (take(r, "\\Q"))
        return quoted(r);
    const char *at = peek(r, 1) == '\0' ? NULL : strchr(letters, peek(r, 1));
    if (at != NULL) {
        r->at += 2;
        return place(r, places[at - letters]);
    }
    uint32_t rune = escaped_rune(r);
    return r->error.at != NULL ? NULL : literal(r, rune);
}

/* The flags of (?i-s) or (?i:...), the reader behind the (?. *group: a group begins. */
static bool parse_flags(struct reader *r, uint32_t from, bool *group)
{
    struct flags flags = r->flags;
    bool on = true, any = false;
    for (; more(r); r->at++) {
        char c = peek(r, 0);
        if (c == ')' || c == ':') {
            if (!on && !any)
                break;
            *group = c == ':';
            r->flags = flags;
            r->at++;
            return true;
        }
        if (c == '-' && on) {
            on = false;
            any = false;
            continue;
        }
        any = true;
        if (c == 'i')
            flags.fold = on;
        else if (c == 'm')
            flags.multi_line = on;
        else if (c == 's')
            flags.dot_all = on;
        else if (c == 'U')
            flags.swap_greed = on;
        else
            break;
    }
    if (!more(r)) {
        refuse(r, "missing closing )", r->pattern);
        return false;
    }
    r->at++;
    refuse(r, "invalid or unsupported Perl syntax", since(r, from));
    return false;
}

/* (?P<name> and (?<name>; the reader behind the <. */
static bool parse_name(struct reader *r, uint32_t from)
{
    uint32_t begin = r->at;
    while (more(r) && peek(r, 0) != '>')
        r->at++;
    struct str name = since(r, begin);
    bool good = name.len > 0 && more(r);
    if (!more(r)) {
        refuse(r, "invalid named capture", text_from(r->pattern, from));
        return false;
    }
    r->at++;
    for (uint32_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        good = good && (letter || (c >= '0' && c <= '9'));
    }
    if (!good)
        refuse(r, "invalid named capture", since(r, from));
    return good;
}

static struct regex_tree *parse_group(struct reader *r)
{
    uint32_t from = r->at++;
    struct flags outer = r->flags;
    bool group = true;
    if (take(r, "?P<") || take(r, "?<")) {
        if (!parse_name(r, from))
            return NULL;
    } else if (take(r, "?")) {
        if (!parse_flags(r, from, &group))
            return NULL;
        if (!group) { /* the flags hold for the rest of the group around */
            struct regex_tree *nothing = tree(r, RE_empty, NULL, NULL);
            nothing->is_operator = true;
            return nothing;
        }
    }
    struct regex_tree *t = parse_alternatives(r);
    r->flags = outer;
    if (t != NULL && !take(r, ")"))
        return refuse(r, "missing closing )", r->pattern);
    return t;
}

static struct regex_tree *parse_dot(struct reader *r)
{
    struct regex_class *c = class_new(r);
    r->at++;
    if (r->flags.dot_all) {
        class_add(r, c, 0, RUNE_MAX);
    } else {
        class_add(r, c, 0, '\n' - 1);
        class_add(r, c, '\n' + 1, RUNE_MAX);
    }
    return class_tree(r, c);
}

static struct regex_tree *parse_atom(struct reader *r)
{
    switch (peek(r, 0)) {
    case '(': return parse_group(r);
    case '[': return parse_class(r);
    case '\\': return parse_escape(r);
    case '.': return parse_dot(r);
    case '^': r->at++; return place(r, r->flags.multi_line ? PLACE_line_begin : PLACE_text_begin);
    case '$': r->at++; return place(r, r->flags.multi_line ? PLACE_line_end : PLACE_text_end);
    default: return literal(r, take_rune(r));
    }
}

static bool take_number(struct reader *r, uint32_t *number)
{
    uint32_t from = r->at;
    *number = 0;
    while (peek(r, 0) >= '0' && peek(r, 0) <= '9') {
        *number = *number * 10 + (uint32_t)(peek(r, 0) - '0');
        if (*number > REPEAT_MAX)
            *number = REPEAT_MAX + 1;
        r->at++;
    }
    bool zeros = r->at > from + 1 && r->pattern.at[from] == '0';
    return r->at > from && !zeros;
}

/* How often, at the reader; false when there is no repetition (and nothing is read). */
static bool take_repetition(struct reader *r, uint32_t *min, uint32_t *max)
{
    uint32_t from = r->at;
    *min = 0;
    *max = REGEX_UNLIMITED;
    if (take(r, "*"))
        return true;
    if (take(r, "+")) {
        *min = 1;
        return true;
    }
    if (take(r, "?")) {
        *max = 1;
        return true;
    }
    if (take(r, "{") && take_number(r, min)) {
        *max = *min;
        if (take(r, ",") && !take_number(r, max))
            *max = REGEX_UNLIMITED;
        if (take(r, "}"))
            return true;
    }
    r->at = from;
    return false;
}

/* Whether nested repetitions stay within so many. */
static bool within(const struct regex_tree *t, uint32_t most)
{
    if (t == NULL)
        return true;
    if (t->kind == RE_repeat) {
        uint32_t times = t->max == REGEX_UNLIMITED ? t->min : t->max;
        if (times > most)
            return false;
        if (times > 0)
            most /= times;
    }
    return within(t->a, most) && within(t->b, most);
}

static struct regex_tree *parse_repeated(struct reader *r)
{
    uint32_t from = r->at, min = 0, max = 0;
    if (take_repetition(r, &min, &max))
        return refuse(r, "missing argument to repetition operator", since(r, from));
    struct regex_tree *t = parse_atom(r);
    while (t != NULL) {
        uint32_t begin = r->at;
        if (!take_repetition(r, &min, &max))
            return t;
        bool counted = r->pattern.at[begin] == '{';
        bool lazy = take(r, "?");
        if (t->kind == RE_empty && t->is_operator)
            return refuse(r, "missing argument to repetition operator", since(r, begin));
        if (t->kind == RE_repeat && t->is_operator)
            return refuse(r, "invalid nested repetition operator", since(r, from));
        bool odd = max != REGEX_UNLIMITED && (max > REPEAT_MAX || min > max);
        if (counted && (min > REPEAT_MAX || odd))
            return refuse(r, "invalid repeat count", since(r, begin));
        struct regex_tree *repeat = tree(r, RE_repeat, t, NULL);
        repeat->min = min;
        repeat->max = max;
        repeat->lazy = lazy != r->flags.swap_greed;
        repeat->is_operator = true;
        if (counted && (min >= 2 || (max >= 2 && max != REGEX_UNLIMITED)) &&
            !within(repeat, REPEAT_MAX))
            return refuse(r, "invalid repeat count", since(r, begin));
        t = repeat;
        from = begin;
    }
    return NULL;
}

static struct regex_tree *parse_sequence(struct reader *r)
{
    struct regex_tree *all = NULL;
    while (more(r) && peek(r, 0) != '|' && peek(r, 0) != ')') {
        struct regex_tree *one = parse_repeated(r);
        if (one == NULL)
            return NULL;
        one->is_operator = false;
        all = all == NULL ? one : tree(r, RE_cat, all, one);
    }
    return all != NULL ? all : tree(r, RE_empty, NULL, NULL);
}

static struct regex_tree *parse_alternatives(struct reader *r)
{
    if (++r->nest > NEST_MAX)
        return refuse(r, "expression nests too deeply", r->pattern);
    struct regex_tree *all = parse_sequence(r);
    while (all != NULL && take(r, "|")) {
        struct regex_tree *next = parse_sequence(r);
        all = next == NULL ? NULL : tree(r, RE_alternate, all, next);
    }
    r->nest--;
    return all;
}
/* NOLINTEND(misc-no-recursion) */

struct regex_tree *regex_parse(struct pool *p, struct str pattern, struct str *error)
{
    struct reader r = {.pool = p, .pattern = pattern};
    struct regex_tree *t = NULL;
    if (!text_is_utf8(pattern))
        refuse(&r, "invalid UTF-8", pattern);
    else
        t = parse_alternatives(&r);
    if (t != NULL && more(&r))
        t = refuse(&r, "unexpected )", pattern);
    *error = r.error;
    return r.error.at == NULL ? t : NULL;
}
