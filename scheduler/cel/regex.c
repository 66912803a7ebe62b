/* regex: a pattern's tree as a program for a machine that tries all ways at once (Pike's), so that
 * a search takes the time of text times program and never more. What must stay true: ways are kept
 * in the order in which Perl would try them, which decides the match that find() gives; the program
 * is not written to while it runs. */
#include "scheduler/cel/regex.h"

#include "scheduler/cel/functions.h"
#include "scheduler/cel/regex_tree.h"
#include "scheduler/cel/text.h"

#include <string.h>

#define STEPS_MAX 200000u

enum step_kind { STEP_class, STEP_assert, STEP_split, STEP_jump, STEP_match };

struct step {
    enum step_kind kind;
    enum regex_place place;
    const struct regex_class *class;
    uint32_t a, b; /* where to go on; of a split a first */
};

struct regex {
    struct step *steps;
    uint32_t count;
};

struct program {
    struct pool *pool;
    struct step *steps;
    uint32_t count, room;
};

static uint32_t add(struct program *g, struct step step)
{
    if (g->count == g->room) {
        uint32_t room = g->room == 0 ? 32 : 2 * g->room;
        struct step *grown = pool_take_array(g->pool, room, sizeof(*grown));
        if (g->count > 0)
            memcpy(grown, g->steps, g->count * sizeof(*grown));
        g->steps = grown;
        g->room = room;
    }
    g->steps[g->count] = step;
    return g->count++;
}

/* As deep as the pattern nests and is long; a sequence leans to the left.
 * NOLINTBEGIN(misc-no-recursion) */
static void emit(struct program *g, const struct regex_tree *t);

/* A split that goes into what follows first, or past it first (lazy); the other way is set later.
 */
static uint32_t add_split(struct program *g)
{
    return add(g, (struct step){.kind = STEP_split});
}

static void set_split(struct program *g, uint32_t split, uint32_t past, bool lazy)
{
    g->steps[split].a = lazy ? past : split + 1;
    g->steps[split].b = lazy ? split + 1 : past;
}

/* Whether it may match without a character. */
static bool may_be_empty(const struct regex_tree *t)
{
    switch (t->kind) {
    case RE_empty:
    case RE_assert: return true;
    case RE_class: return false;
    case RE_cat: return may_be_empty(t->a) && may_be_empty(t->b);
    case RE_alternate: return may_be_empty(t->a) || may_be_empty(t->b);
    case RE_repeat: return t->min == 0 || may_be_empty(t->a);
    }
    return false;
}

/* Once or more often: what is repeated, and behind it the way back. */
static void emit_plus(struct program *g, const struct regex_tree *t)
{
    uint32_t from = g->count;
    emit(g, t->a);
    uint32_t split = add_split(g);
    g->steps[split].a = t->lazy ? split + 1 : from;
    g->steps[split].b = t->lazy ? from : split + 1;
}

/* As Go, for which x* of an x that may be empty is (x+)?, so that ways keep their order. */
static void emit_unlimited(struct program *g, const struct regex_tree *t)
{
    uint32_t split = 0;
    for (uint32_t i = 1; i < t->min; i++)
        emit(g, t->a);
    if (t->min == 0)
        split = add_split(g);
    if (t->min > 0 || may_be_empty(t->a)) {
        emit_plus(g, t);
    } else {
        emit(g, t->a);
        add(g, (struct step){.kind = STEP_jump, .a = split});
    }
    if (t->min == 0)
        set_split(g, split, g->count, t->lazy);
}

static void emit_repeat(struct program *g, const struct regex_tree *t)
{
    if (t->max == REGEX_UNLIMITED) {
        emit_unlimited(g, t);
        return;
    }
    for (uint32_t i = 0; i < t->min; i++)
        emit(g, t->a);
    uint32_t optional = t->max - t->min, last = 0;
    uint32_t *splits = pool_take_array(g->pool, optional, sizeof(*splits));
    for (uint32_t i = 0; i < optional; i++) {
        splits[i] = add_split(g);
        emit(g, t->a);
    }
    last = g->count;
    for (uint32_t i = 0; i < optional; i++)
        set_split(g, splits[i], last, t->lazy);
}

static void emit(struct program *g, const struct regex_tree *t)
{
    if (g->count > STEPS_MAX)
        return;
    switch (t->kind) {
    case RE_empty: break;
    case RE_class: add(g, (struct step){.kind = STEP_class, .class = t->class}); break;
    case RE_assert: add(g, (struct step){.kind = STEP_assert, .place = t->place}); break;
    case RE_cat:
        emit(g, t->a);
        emit(g, t->b);
        break;
    case RE_repeat: emit_repeat(g, t); break;
    case RE_alternate: {
        uint32_t split = add_split(g);
        emit(g, t->a);
        uint32_t jump = add(g, (struct step){.kind = STEP_jump});
        set_split(g, split, g->count, false);
        emit(g, t->b);
        g->steps[jump].a = g->count;
        break;
    }
    }
}
/* NOLINTEND(misc-no-recursion) */

const struct regex *regex_compile(struct pool *p, struct str pattern, struct str *error)
{
    struct program g = {.pool = p};
    struct regex_tree *t = regex_parse(p, pattern, error);
    if (t == NULL)
        return NULL;
    emit(&g, t);
    add(&g, (struct step){.kind = STEP_match});
    if (g.count > STEPS_MAX) {
        *error =
            pool_print(p, "error parsing regexp: expression too large: `%.*s`", STR_ARG(pattern));
        return NULL;
    }
    struct regex *re = pool_take(p, sizeof(*re));
    *re = (struct regex){g.steps, g.count};
    return re;
}

/* ---- searching ---- */

struct way {
    uint32_t step, begin;
};

struct ways {
    struct way *at;
    uint32_t count;
};

struct search {
    const struct regex *re;
    struct str text;
    uint32_t *seen; /* by step: place + 1 when it was last added */
    uint32_t *todo; /* steps whose second way is still to be followed */
    uint32_t marks; /* of seen: grows with each place */
};

static bool is_word(struct str text, int64_t at)
{
    if (at < 0 || at >= text.len)
        return false;
    char c = text.at[at];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool holds(enum regex_place place, struct str text, uint32_t at)
{
    switch (place) {
    case PLACE_text_begin: return at == 0;
    case PLACE_text_end: return at == text.len;
    case PLACE_line_begin: return at == 0 || text.at[at - 1] == '\n';
    case PLACE_line_end: return at == text.len || text.at[at] == '\n';
    case PLACE_word: return is_word(text, (int64_t)at - 1) != is_word(text, at);
    default: return is_word(text, (int64_t)at - 1) == is_word(text, at);
    }
}

/* Adds a way and all that it leads to without a character, in order. */
static void follow(struct search *s, struct ways *ways, struct way way, uint32_t at)
{
    uint32_t depth = 0;
    s->todo[depth++] = way.step;
    while (depth > 0) {
        uint32_t i = s->todo[--depth];
        const struct step *step = &s->re->steps[i];
        if (s->seen[i] == s->marks)
            continue;
        s->seen[i] = s->marks;
        switch (step->kind) {
        case STEP_jump: s->todo[depth++] = step->a; break;
        case STEP_split:
            s->todo[depth++] = step->b;
            s->todo[depth++] = step->a;
            break;
        case STEP_assert:
            if (holds(step->place, s->text, at))
                s->todo[depth++] = i + 1;
            break;
        default: ways->at[ways->count++] = (struct way){i, way.begin}; break;
        }
    }
}

static bool class_has(const struct regex_class *c, uint32_t rune)
{
    uint32_t low = 0, high = c->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (c->at[middle].first <= rune)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && c->at[low - 1].last >= rune;
}

/* One place of the text: which ways go on, and whether one of them is a match. Ways behind a match
 * are worse than it. */
static bool advance(struct search *s, const struct ways *now, struct ways *next, uint32_t at,
                    uint32_t span[2])
{
    uint32_t len = 0, rune = 0;
    if (at < s->text.len)
        rune = text_decode(text_from(s->text, at), &len);
    s->marks++;
    next->count = 0;
    for (uint32_t i = 0; i < now->count; i++) {
        const struct step *step = &s->re->steps[now->at[i].step];
        if (step->kind == STEP_match) {
            span[0] = now->at[i].begin;
            span[1] = at;
            return true;
        }
        if (len > 0 && class_has(step->class, rune))
            follow(s, next, (struct way){now->at[i].step + 1, now->at[i].begin}, at + len);
    }
    return false;
}

bool regex_search(struct pool *p, const struct regex *re, struct str text, uint32_t from,
                  uint32_t span[2])
{
    struct way *room = pool_take_array(p, re->count, 2 * sizeof(*room));
    struct ways now = {room, 0}, next = {room + re->count, 0};
    struct search s = {.re = re, .text = text, .marks = 1};
    s.seen = pool_take_array(p, re->count, sizeof(*s.seen));
    s.todo = pool_take_array(p, re->count, 3 * sizeof(*s.todo));
    bool found = false;
    uint32_t len = 0;
    for (uint32_t at = from; at <= text.len; at += len) {
        /* The marks of the ways that were added for this place still hold: a new way comes last. */
        if (!found)
            follow(&s, &now, (struct way){0, at}, at);
        if (now.count == 0 && found)
            break;
        found = advance(&s, &now, &next, at, span) || found;
        struct ways swap = now;
        now = next;
        next = swap;
        len = 1;
        if (at < text.len)
            text_decode(text_from(text, at), &len);
    }
    return found;
}

bool regex_matches(struct pool *p, const struct regex *re, struct str text)
{
    uint32_t span[2];
    return regex_search(p, re, text, 0, span);
}

/* ---- what expressions call ---- */

static const struct regex *pattern_of(const struct call *c, struct value *error)
{
    struct str why = {NULL, 0};
    if (c->node->regex != NULL)
        return c->node->regex;
    const struct regex *re = regex_compile(c->pool, c->args[1].text, &why);
    if (re == NULL)
        *error = (struct value){.kind = V_error,
                                .text = pool_print(c->pool, "Illegal regex: %.*s", STR_ARG(why))};
    return re;
}

struct value fn_regex_find(const struct call *c)
{
    struct value error;
    uint32_t span[2] = {0, 0};
    if (c->args[0].kind != V_string)
        return value_no_overload();
    const struct regex *re = pattern_of(c, &error);
    if (re == NULL)
        return error;
    struct str text = c->args[0].text;
    regex_search(c->pool, re, text, 0, span);
    return value_string((struct str){text.at + span[0], span[1] - span[0]});
}

struct value fn_regex_find_all(const struct call *c)
{
    struct value error, list = list_new(c->pool, 4);
    struct str text = c->args[0].text;
    int64_t most = c->count > 2 ? c->args[2].number : -1, last = -1;
    if (c->args[0].kind != V_string || (c->count > 2 && c->args[2].kind != V_int))
        return value_no_overload();
    const struct regex *re = pattern_of(c, &error);
    uint32_t span[2];
    if (re == NULL)
        return error;
    for (uint32_t at = 0; at <= text.len && (most < 0 || list.list->count < most);) {
        if (!regex_search(c->pool, re, text, at, span))
            break;
        bool empty = span[0] == span[1];
        if (!empty || span[0] != last) /* an empty match right behind another does not count */
            list = list_append(c->pool, list,
                               value_string((struct str){text.at + span[0], span[1] - span[0]}));
        last = span[1];
        uint32_t len = 1;
        if (span[1] < text.len)
            text_decode(text_from(text, span[1]), &len);
        at = empty ? span[1] + len : span[1];
    }
    return list;
}
