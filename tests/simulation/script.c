/* script: prints plans as scripts and reads them. The one idea: traits.def says of each word of
 * the start line where it is kept and what is plain, so that printing, reading and shrinking agree.
 * What must stay true: what is printed is read as the same plan, and nothing else than a plan is
 * read. */
#include "tests/simulation/script.h"

#include "proto/base/memory.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_MAX  9  /* of a duration, before and behind the point */
#define SHOWN_MAX   40 /* of a word that is wrong */
#define NOTE_COLUMN 50

enum word_kind { NUMBER, LONG, FLAG, TIME, TIE_BREAK };

static const struct word {
    const char *name;
    enum word_kind kind;
    size_t at; /* in struct plan */
    int64_t plain, least, most;
} words[] = {
    {"dice", LONG, offsetof(struct plan, seed), 1, INT64_MIN, INT64_MAX},
#define TRAIT(kind, field, name, plain, least, most)                                               \
    {name, kind, offsetof(struct plan, traits.field), plain, least, most},
#include "tests/simulation/traits.def"
#undef TRAIT
};
#define WORDS (sizeof(words) / sizeof(words[0]))

static const char *const tie_breaks[] = {"first", "random", "round-robin"};

static int64_t get(const struct plan *plan, const struct word *w)
{
    const void *at = (const char *)plan + w->at;
    switch (w->kind) {
    case NUMBER: return *(const uint32_t *)at;
    case FLAG: return *(const bool *)at;
    case TIE_BREAK:
        for (int64_t i = 0; i < 3; i++)
            if (strcmp(*(const char *const *)at, tie_breaks[i]) == 0)
                return i;
        return 0;
    default: return *(const int64_t *)at;
    }
}

static void set(struct plan *plan, const struct word *w, int64_t value)
{
    void *at = (char *)plan + w->at;
    switch (w->kind) {
    case NUMBER: *(uint32_t *)at = (uint32_t)value; break;
    case FLAG: *(bool *)at = value != 0; break;
    case TIE_BREAK: *(const char **)at = tie_breaks[value]; break;
    default: *(int64_t *)at = value; break;
    }
}

/* Two instances without a lease would both bind, as they are told to. */
static bool is_possible(const struct plan *plan)
{
    return plan->traits.groups == 1 || plan->traits.elect;
}

uint32_t script_words(void)
{
    return WORDS;
}

bool script_plainer(struct plan *plan, uint32_t word, bool half)
{
    const struct word *w = &words[word];
    int64_t is = get(plan, w);
    bool can_half = w->kind == NUMBER || w->kind == TIME;
    if (half && !can_half)
        return false;
    int64_t wanted = half ? is + (w->plain - is) / 2 : w->plain;
    set(plan, w, wanted);
    return wanted != is && is_possible(plan);
}

/* ---- printing ---- */

/* 12s, 12.34s */
static void print_time(struct buffer *to, int64_t ns)
{
    int64_t part = ns % SECOND;
    int digits = part == 0 ? 0 : 9;
    while (digits > 0 && part % 10 == 0) {
        part /= 10;
        digits--;
    }
    buffer_print(to, "%" PRId64, ns / SECOND);
    if (digits > 0)
        buffer_print(to, ".%0*" PRId64, digits, part);
    buffer_add_text(to, "s");
}

static void print_word(struct buffer *to, const struct plan *plan, const struct word *w)
{
    int64_t value = get(plan, w);
    buffer_print(to, " %s=", w->name);
    switch (w->kind) {
    case FLAG: buffer_add_text(to, value ? "yes" : "no"); break;
    case TIE_BREAK: buffer_add_text(to, tie_breaks[value]); break;
    case TIME:
        if (value % MS == 0 && value < SECOND)
            buffer_print(to, "%" PRId64 "ms", value / MS);
        else
            print_time(to, value);
        break;
    default: buffer_print(to, "%" PRId64, value);
    }
}

static void print_action(struct buffer *to, const struct action *x, const char *note)
{
    const struct {
        char name;
        uint32_t value;
    } dice[] = {{'a', x->a}, {'b', x->b}, {'c', x->c}};
    size_t begin = to->len;
    buffer_add_text(to, "at ");
    print_time(to, x->at);
    buffer_print(to, " %s", action_name(x->kind));
    for (size_t i = 0; i < 3; i++)
        if (dice[i].value != 0)
            buffer_print(to, " %c=%" PRIu32, dice[i].name, dice[i].value);
    if (note[0] != 0) {
        int pad = NOTE_COLUMN - (int)(to->len - begin);
        buffer_print(to, "%*s # %s", pad > 0 ? pad : 0, "", note);
    }
    buffer_add_text(to, "\n");
}

void script_print_start(struct buffer *to, const struct plan *plan)
{
    buffer_add_text(to, "start");
    for (size_t i = 0; i < WORDS; i++)
        print_word(to, plan, &words[i]);
}

void script_print(struct buffer *to, const struct plan *plan, const char *expect)
{
    script_print_start(to, plan);
    buffer_add_text(to, "\n");
    for (uint32_t i = 0; i < plan->count; i++)
        print_action(to, &plan->at[i], plan->notes != NULL ? plan->notes[i].text : "");
    buffer_print(to, "expect %s\n", expect);
}

/* ---- reading ---- */

struct reader {
    struct script *script;
    struct buffer *error;
    uint32_t line;
    bool started, ended;
};

static bool complain(const struct reader *r, const char *why, struct str word)
{
    buffer_print(r->error, "line %" PRIu32 ": %s", r->line, why);
    if (word.len > 0)
        buffer_add_text(r->error, ": ");
    for (uint32_t i = 0; i < word.len && i < SHOWN_MAX; i++)
        buffer_print(r->error, "%c", word.at[i] < ' ' || word.at[i] > '~' ? '?' : word.at[i]);
    return false;
}

/* The next word of a line; empty at its end, which a comment is as well. */
static struct str next_word(struct str *line)
{
    uint32_t i = 0;
    *line = str_trim(*line);
    while (i < line->len && line->at[i] != ' ' && line->at[i] != '\t')
        i++;
    if (line->len > 0 && line->at[0] == '#')
        *line = (struct str){line->at, 0};
    struct str word = {line->at, i < line->len ? i : line->len};
    *line = (struct str){line->at + word.len, line->len - word.len};
    return word;
}

/* Digits at the beginning of a text, at most DIGITS_MAX; returns how many there are. */
static uint32_t read_digits(struct str *text, int64_t *value)
{
    uint32_t n = 0;
    for (*value = 0; n < text->len && text->at[n] >= '0' && text->at[n] <= '9'; n++)
        if (n < DIGITS_MAX)
            *value = *value * 10 + (text->at[n] - '0');
    *text = (struct str){text->at + n, text->len - n};
    return n <= DIGITS_MAX ? n : 0;
}

static bool read_time(struct str word, int64_t *ns)
{
    int64_t whole, part = 0, unit;
    uint32_t behind = 0;
    if (read_digits(&word, &whole) == 0)
        return false;
    if (word.len > 0 && word.at[0] == '.') {
        word = (struct str){word.at + 1, word.len - 1};
        if ((behind = read_digits(&word, &part)) == 0)
            return false;
    }
    unit = str_is(word, "s") ? SECOND : str_is(word, "ms") ? MS : 0;
    for (uint32_t i = 0; i < behind && unit > 0; i++) {
        whole = whole * 10;
        unit = unit % 10 == 0 ? unit / 10 : 0; /* there is nothing finer than a nanosecond */
    }
    *ns = unit > 0 && whole + part <= INT64_MAX / unit ? (whole + part) * unit : -1;
    return *ns >= 0;
}

static bool read_value(const struct word *w, struct str text, int64_t *value)
{
    switch (w->kind) {
    case TIME: return read_time(text, value);
    case FLAG: *value = str_is(text, "yes"); return *value || str_is(text, "no");
    case TIE_BREAK:
        for (*value = 0; *value < 3; ++*value)
            if (str_is(text, tie_breaks[*value]))
                return true;
        return false;
    default: return str_to_i64(text, value);
    }
}

/* key=value */
static bool split(struct str word, struct str *key, struct str *value)
{
    int64_t eq = str_find(word, '=');
    uint32_t at = eq < 0 ? 0 : (uint32_t)eq;
    *key = (struct str){word.at, at};
    *value = (struct str){word.at + at + 1, at > 0 ? word.len - at - 1 : 0};
    return eq > 0;
}

static bool read_start_word(const struct reader *r, struct str word, bool *seen)
{
    struct str key, text;
    int64_t value;
    if (!split(word, &key, &text))
        return complain(r, "want key=value", word);
    for (size_t i = 0; i < WORDS; i++) {
        const struct word *w = &words[i];
        if (!str_is(key, w->name))
            continue;
        if (seen[i])
            return complain(r, "given twice", word);
        if (!read_value(w, text, &value) || value < w->least || value > w->most)
            return complain(r, "no such value", word);
        set(&r->script->plan, w, value);
        seen[i] = true;
        return true;
    }
    return complain(r, "unknown word", word);
}

static bool read_start(struct reader *r, struct str line)
{
    bool seen[WORDS] = {false};
    struct str word;
    if (r->started)
        return complain(r, "started twice", (struct str){0});
    r->started = true;
    while ((word = next_word(&line)).len > 0)
        if (!read_start_word(r, word, seen))
            return false;
    return is_possible(&r->script->plan) ||
           complain(r, "two instances need a lease", (struct str){0});
}

static bool read_die(const struct reader *r, struct action *x, struct str word)
{
    struct str key, text;
    int64_t value;
    if (!split(word, &key, &text) || key.len != 1 || key.at[0] < 'a' || key.at[0] > 'c')
        return complain(r, "want a=, b= or c=", word);
    if (!str_to_i64(text, &value) || value < 0 || value > UINT32_MAX)
        return complain(r, "no such number", word);
    *(key.at[0] == 'a' ? &x->a : key.at[0] == 'b' ? &x->b : &x->c) = (uint32_t)value;
    return true;
}

static bool read_action(struct reader *r, struct str line)
{
    struct plan *plan = &r->script->plan;
    struct action x = {.kind = 0};
    struct str word = next_word(&line);
    if (!read_time(word, &x.at))
        return complain(r, "this is no time", word);
    if (plan->count > 0 && x.at < plan->at[plan->count - 1].at)
        return complain(r, "time goes backwards", word);
    word = next_word(&line);
    while (x.kind < ACTIONS && !str_is(word, action_name(x.kind)))
        x.kind++;
    if (x.kind == ACTIONS)
        return complain(r, "no such action", word);
    while ((word = next_word(&line)).len > 0)
        if (!read_die(r, &x, word))
            return false;
    plan->at[plan->count++] = x;
    return true;
}

/* An invariant's name may be more than one word. */
static bool read_expect(struct reader *r, struct str line)
{
    char *expect = r->script->expect;
    size_t len = 0;
    struct str word;
    r->ended = true;
    while ((word = next_word(&line)).len > 0) {
        if (len + word.len + 2 > EXPECT_ROOM)
            return complain(r, "too long", word);
        len += (size_t)snprintf(expect + len, EXPECT_ROOM - len, "%s%.*s", len > 0 ? " " : "",
                                STR_ARG(word));
    }
    return len > 0 || complain(r, "expect what?", (struct str){0});
}

static bool read_line(struct reader *r, struct str line)
{
    struct str word = next_word(&line);
    if (word.len == 0)
        return true;
    if (r->ended)
        return complain(r, "nothing stands behind expect", word);
    if (str_is(word, "start"))
        return read_start(r, line);
    if (!r->started)
        return complain(r, "a script begins with start", word);
    if (str_is(word, "at"))
        return read_action(r, line);
    if (str_is(word, "expect"))
        return read_expect(r, line);
    return complain(r, "want at or expect", word);
}

bool script_parse(struct str text, struct script *script, struct buffer *error)
{
    struct reader r = {.script = script, .error = error};
    struct str rest = text, line;
    uint32_t lines = 1;
    bool ok = true;
    for (uint32_t i = 0; i < text.len; i++)
        lines += text.at[i] == '\n';
    *script = (struct script){.plan.at = memory_take_array(lines, sizeof(struct action))};
    for (size_t i = 0; i < WORDS; i++)
        set(&script->plan, &words[i], words[i].plain);
    while (ok && text.len > 0 && str_split(&rest, "\n", &line)) {
        r.line++;
        ok = read_line(&r, line);
    }
    if (ok && !r.ended)
        ok = complain(&r, r.started ? "expect what?" : "a script begins with start",
                      (struct str){0});
    if (!ok)
        plan_free(&script->plan);
    return ok;
}
