/* regex_parse: Go's pattern syntax (package regexp/syntax with Perl's extensions) into a tree. What
 * must stay true: nesting and repetition are bounded as in Go (1000 each), so that the tree is
 * walked and the program stays small; errors are in Go's words. */
#include "scheduler/cel/regex_tree.h"
#include "scheduler/cel/text.h"

#include <string.h>

#define NEST_MAX   1000u
#define REPEAT_MAX 1000u

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

/* \d and its like, also negated by a capital letter. */
static bool perl_class(struct reader *r, struct regex_class *c)
{
    char letter = peek(r, 1);
    if (peek(r, 0) != '\\' || letter == '\0' || strchr("dswDSW", letter) == NULL)
        return false;
    char name[3] = {'\\', (char)(letter | 0x20), '\0'};
    regex_class_add_named(r->pool, c, (struct str){name, 2},
                          (struct regex_sense){letter < 'a', r->flags.fold});
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
    if (!regex_class_add_named(r->pool, c, name, (struct regex_sense){negated, r->flags.fold}))
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
        for (; hex_digit(peek(r, 0)) >= 0 && *rune <= REGEX_RUNE_MAX; r->at++, digits++)
            *rune = *rune * 16 + (uint32_t)hex_digit(peek(r, 0));
        return digits > 0 && *rune <= REGEX_RUNE_MAX && take(r, "}");
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

/* \pL and \p{Greek}, \P and \p{^ negated. */
static bool unicode_class(struct reader *r, struct regex_class *c)
{
    uint32_t from = r->at;
    if (peek(r, 0) != '\\' || (peek(r, 1) != 'p' && peek(r, 1) != 'P'))
        return false;
    bool negated = peek(r, 1) == 'P';
    r->at += 2;
    bool braced = take(r, "{");
    int64_t end = braced ? str_find(text_from(r->pattern, r->at), '}') : -1;
    if (braced && end < 0) {
        refuse(r, "invalid character class range", text_from(r->pattern, from));
        return true;
    }
    struct str name = text_from(r->pattern, r->at);
    if (!braced && more(r))
        take_rune(r);
    name.len = braced ? (uint32_t)end : (uint32_t)(r->at - from - 2);
    r->at += braced ? (uint32_t)end + 1 : 0;
    if (name.len > 0 && name.at[0] == '^') {
        negated = !negated;
        name = text_from(name, 1);
    }
    if (!regex_class_add_unicode(r->pool, c, name, (struct regex_sense){negated, r->flags.fold}))
        refuse(r, "invalid character class range", since(r, from));
    return true;
}

static struct regex_tree *class_tree(struct reader *r, struct regex_class *c)
{
    struct regex_tree *t = tree(r, RE_class, NULL, NULL);
    regex_class_finish(r->pool, c);
    t->class = c;
    return t;
}

static struct regex_tree *parse_class(struct reader *r)
{
    uint32_t from = r->at++;
    bool negated = take(r, "^"), first = true;
    struct regex_class *c = regex_class_new(r->pool), *out = regex_class_new(r->pool);
    if (negated) /* without (?s) a negated class still has the line's end, as in Go */
        first = true;
    for (; r->error.at == NULL && (first || peek(r, 0) != ']' || !more(r)); first = false) {
        uint32_t begin = r->at;
        if (perl_class(r, c) || posix_class(r, c) || unicode_class(r, c))
            continue;
        uint32_t low = class_rune(r, from), high = low;
        if (peek(r, 0) == '-' && peek(r, 1) != ']' && r->at + 1 < r->pattern.len) {
            r->at++;
            high = class_rune(r, from);
            if (high < low && r->error.at == NULL)
                return refuse(r, "invalid character class range", since(r, begin));
        }
        regex_class_add_folded(r->pool, c, low, high, r->flags.fold);
    }
    r->at++;
    regex_class_add_all(r->pool, out, c, negated);
    return r->error.at != NULL ? NULL : class_tree(r, out);
}

/* ---- the rest ---- */

/* Bounded by NEST_MAX. NOLINTBEGIN(misc-no-recursion) */
static struct regex_tree *parse_alternatives(struct reader *r);

static struct regex_tree *literal(struct reader *r, uint32_t rune)
{
    struct regex_class *c = regex_class_new(r->pool);
    regex_class_add_folded(r->pool, c, rune, rune, r->flags.fold);
    return class_tree(r, c);
}

static struct regex_tree *place(struct reader *r, enum regex_place where)
{
    struct regex_tree *t = tree(r, RE_assert, NULL, NULL);
    t->place = where;
    return t;
}

static struct regex_tree *parse_escape(struct reader *r)
{
    static const char letters[] = "AzbB";
    static const enum regex_place places[] = {PLACE_text_begin, PLACE_text_end, PLACE_word,
                                              PLACE_no_word};
    struct regex_class *c = regex_class_new(r->pool);
    if (perl_class(r, c))
        return class_tree(r, c);
    if (unicode_class(r, c))
        return r->error.at != NULL ? NULL : class_tree(r, c);
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

/* What (?i) is: nothing at all, so that a repetition behind it is of what stands before it. */
static struct regex_tree flags_alone = {.kind = RE_empty};

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
            return &flags_alone;
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
    struct regex_class *c = regex_class_new(r->pool);
    r->at++;
    if (r->flags.dot_all) {
        regex_class_add(r->pool, c, 0, REGEX_RUNE_MAX);
    } else {
        regex_class_add(r->pool, c, 0, '\n' - 1);
        regex_class_add(r->pool, c, '\n' + 1, REGEX_RUNE_MAX);
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
        bool open = take(r, ","), unlimited = open && peek(r, 0) == '}';
        bool good = !open || unlimited || take_number(r, max);
        *max = unlimited ? REGEX_UNLIMITED : *max;
        if (good && take(r, "}"))
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

/* What stands behind each other; a repetition is of the last of it alone. */
struct sequence {
    struct regex_tree *before, *last; /* NULL: nothing */
    uint32_t repetition;              /* where the one that was just read begins, or NOT_REPEATED */
};

#define NOT_REPEATED UINT32_MAX

static void push(struct reader *r, struct sequence *q, struct regex_tree *one)
{
    if (q->last != NULL)
        q->before = q->before == NULL ? q->last : tree(r, RE_cat, q->before, q->last);
    q->last = one;
}

/* Puts the repetition that begins there around the last one; false with an error. */
static bool repeat(struct reader *r, struct sequence *q, uint32_t begin, uint32_t min, uint32_t max)
{
    bool counted = r->pattern.at[begin] == '{', unlimited = max == REGEX_UNLIMITED;
    if (counted && (min > REPEAT_MAX || (!unlimited && (max > REPEAT_MAX || min > max))))
        return refuse(r, "invalid repeat count", since(r, begin)) != NULL;
    bool lazy = take(r, "?");
    if (q->repetition != NOT_REPEATED)
        return refuse(r, "invalid nested repetition operator", since(r, q->repetition)) != NULL;
    if (q->last == NULL)
        return refuse(r, "missing argument to repetition operator", since(r, begin)) != NULL;
    q->last = tree(r, RE_repeat, q->last, NULL);
    q->last->min = min;
    q->last->max = max;
    q->last->lazy = lazy != r->flags.swap_greed;
    q->repetition = begin;
    if (counted && (min >= 2 || (max >= 2 && !unlimited)) && !within(q->last, REPEAT_MAX))
        return refuse(r, "invalid repeat count", since(r, begin)) != NULL;
    return true;
}

/* Flags push nothing, and quoted characters each by itself. */
static bool parse_item(struct reader *r, struct sequence *q)
{
    q->repetition = NOT_REPEATED;
    if (take(r, "\\Q")) {
        while (more(r) && !take(r, "\\E"))
            push(r, q, literal(r, take_rune(r)));
        return true;
    }
    struct regex_tree *one = parse_atom(r);
    if (one != NULL && one != &flags_alone)
        push(r, q, one);
    return one != NULL;
}

static struct regex_tree *parse_sequence(struct reader *r)
{
    struct sequence q = {.repetition = NOT_REPEATED};
    while (more(r) && peek(r, 0) != '|' && peek(r, 0) != ')') {
        uint32_t begin = r->at, min = 0, max = 0;
        bool good =
            take_repetition(r, &min, &max) ? repeat(r, &q, begin, min, max) : parse_item(r, &q);
        if (!good)
            return NULL;
    }
    push(r, &q, NULL);
    return q.before != NULL ? q.before : tree(r, RE_empty, NULL, NULL);
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
