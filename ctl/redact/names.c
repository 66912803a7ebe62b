/* names: a text is cut into words, which are what changes, and its words are put together to the
 * longest names that were noted. What must stay true: a name is changed to the same wherever it
 * stands, also as a part of what was made of it, so that a core that puts texts together gets what
 * was changed in the text that it put together. */
#include "ctl/redact/names.h"

#include "ctl/redact/order.h"
#include "ctl/redact/said.h"
#include "ctl/redact/vocabulary.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"

#include <string.h>

#define UID_LEN     36
#define NUMBERS_MAX 64
#define UNITS_MAX   64 /* words of one text without a blank that are put together */

struct names {
    bool changes;
    bool uids_stay;
    uint64_t count;              /* of names that change */
    struct map *known, *made_up; /* names: noted, and what they become */
    struct map *staying;         /* words that are to stay */
    struct order *words, *uids, *addresses;
    struct {
        uint64_t was, becomes;
    } numbers[NUMBERS_MAX];
    size_t number_count;
};

/* A word, a UID or an address in a text. */
struct unit {
    uint32_t at, len;
    struct order *order;
};

/* Units with nothing but - _ and . between them. */
struct token {
    struct unit units[UNITS_MAX];
    uint32_t count;
};

struct names *names_new(void)
{
    struct names *n = memory_take(sizeof(*n));
    n->known = map_new();
    n->made_up = map_new();
    n->staying = map_new();
    n->words = order_new(ORDER_words);
    n->uids = order_new(ORDER_hex);
    n->addresses = order_new(ORDER_address);
    return n;
}

void names_free(struct names **names)
{
    struct names *n = *names;
    if (n == NULL)
        return;
    map_free(&n->known);
    map_free(&n->made_up);
    map_free(&n->staying);
    order_free(&n->words);
    order_free(&n->uids);
    order_free(&n->addresses);
    memory_free(n);
    *names = NULL;
}

bool names_change(const struct names *n)
{
    return n->changes;
}

uint64_t names_count(const struct names *n)
{
    return n->count;
}

void names_stay(struct names *n, struct str word)
{
    map_set(n->staying, word, n);
}

void names_keep_uids(struct names *n)
{
    n->uids_stay = true;
}

bool names_learn_number(struct names *n, uint64_t was, uint64_t becomes)
{
    if (n->number_count == NUMBERS_MAX || was == becomes || names_number(n, was) != was)
        return false;
    n->numbers[n->number_count].was = was;
    n->numbers[n->number_count++].becomes = becomes;
    return true;
}

uint64_t names_number(const struct names *n, uint64_t was)
{
    for (size_t i = 0; i < n->number_count; i++)
        if (n->numbers[i].was == was)
            return n->numbers[i].becomes;
    return was;
}

/* ---- words ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
    return is_digit(c) || is_letter(c);
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool joins(char c)
{
    return c == '-' || c == '.' || c == '_';
}

static bool is_uid(struct str s, uint32_t at)
{
    if (s.len - at < UID_LEN)
        return false;
    for (uint32_t i = 0; i < UID_LEN; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s.at[at + i] != '-' : !is_hex(s.at[at + i]))
            return false;
    }
    return at + UID_LEN == s.len || !is_word(s.at[at + UID_LEN]);
}

/* The length of a dotted IPv4 address; 0: it is none, or one that is the same everywhere. */
static uint32_t address_len(struct str s, uint32_t at)
{
    uint32_t i = at;
    for (int part = 0; part < 4; part++) {
        unsigned value = 0;
        uint32_t digits = 0;
        for (; i < s.len && is_digit(s.at[i]) && digits < 4; i++, digits++)
            value = 10 * value + (unsigned)(s.at[i] - '0');
        if (digits == 0 || digits > 3 || value > 255)
            return 0;
        if (part < 3 && (i == s.len || s.at[i++] != '.'))
            return 0;
    }
    bool longer = i < s.len &&
                  (is_word(s.at[i]) || (s.at[i] == '.' && i + 1 < s.len && is_word(s.at[i + 1])));
    struct str address = {s.at + at, i - at};
    bool everywhere = str_is(address, "0.0.0.0") || str_is(address, "127.0.0.1");
    return longer || everywhere ? 0 : address.len;
}

/* What is behind a sign that a JSON string escapes. */
static uint32_t skip_escape(struct str s, uint32_t at)
{
    uint32_t len = at + 1 < s.len && s.at[at + 1] == 'u' ? 6 : 2;
    return at + len < s.len ? at + len : s.len;
}

static struct unit unit_at(const struct names *n, struct str s, uint32_t at)
{
    uint32_t len = 0;
    if (is_hex(s.at[at]) && is_uid(s, at))
        return (struct unit){at, UID_LEN, n->uids};
    if (is_digit(s.at[at]) && (at == 0 || s.at[at - 1] != '.') && (len = address_len(s, at)) > 0)
        return (struct unit){at, len, n->addresses};
    while (at + len < s.len && is_word(s.at[at + len]))
        len++;
    return (struct unit){at, len, n->words};
}

/* The next token from *at on; false: there is none. */
static bool next_token(const struct names *n, struct str s, bool escaped, uint32_t *at,
                       struct token *t)
{
    uint32_t i = *at;
    t->count = 0;
    while (i < s.len && t->count < UNITS_MAX) {
        char c = s.at[i];
        if (is_word(c)) {
            struct unit *u = &t->units[t->count++];
            *u = unit_at(n, s, i);
            i += u->len;
        } else if (t->count > 0 && !joins(c)) {
            break;
        } else {
            i = escaped && c == '\\' ? skip_escape(s, i) : i + 1;
        }
    }
    *at = i;
    return t->count > 0;
}

static struct str unit_text(struct str s, const struct unit *u)
{
    return (struct str){s.at + u->at, u->len};
}

/* From one unit to another. */
static struct str span_of_units(struct str s, const struct token *t, uint32_t first, uint32_t last)
{
    const struct unit *a = &t->units[first], *b = &t->units[last];
    return (struct str){s.at + a->at, b->at + b->len - a->at};
}

static bool is_measure_unit(struct str letters)
{
    static const char *const all[] = {"n",  "u",  "m",  "k",  "M",  "G",  "T",  "P",  "E", "Ki",
                                      "Mi", "Gi", "Ti", "Pi", "Ei", "ns", "us", "ms", "s", "h"};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (str_is(letters, all[i]))
            return true;
    return false;
}

/* Units behind digits, as in 100m, 2Gi and 10m0s. */
static bool is_measure(struct str word)
{
    uint32_t at = 0;
    while (at < word.len) {
        uint32_t digits = at, letters;
        while (at < word.len && is_digit(word.at[at]))
            at++;
        letters = at;
        while (at < word.len && is_letter(word.at[at]))
            at++;
        if (letters == digits || !is_measure_unit((struct str){word.at + letters, at - letters}))
            return false;
    }
    return word.len > 0;
}

/* Numbers are no names, unless they are long. */
static bool is_amount(struct str word)
{
    uint32_t digits = 0;
    while (digits < word.len && is_digit(word.at[digits]))
        digits++;
    return digits == word.len ? digits < 8 : is_measure(word);
}

static bool stays(struct str word, const struct unit *u, const struct names *n)
{
    return u->order == n->words &&
           (is_amount(word) || vocabulary_stays(word) || map_get(n->staying, word) != NULL);
}

/* ---- noting ---- */

static void note_units(struct names *n, struct str s, const struct token *t, bool all_stay)
{
    bool changes = false;
    for (uint32_t i = 0; i < t->count; i++) {
        struct str word = unit_text(s, &t->units[i]);
        bool kept = all_stay || stays(word, &t->units[i], n);
        order_add(t->units[i].order, word, kept);
        changes = changes || !kept;
    }
    if (changes)
        map_set(n->known, span_of_units(s, t, 0, t->count - 1), n);
}

static void note_all(struct names *n, struct str s, bool escaped, bool all_stay)
{
    struct token t;
    for (uint32_t at = 0; next_token(n, s, escaped, &at, &t);)
        note_units(n, s, &t, all_stay);
}

/* As a whole, or what stands between slashes, such as a group and its version; a path of files is
 * nothing that berth knows. */
static bool is_known_option(struct str whole, struct str piece)
{
    bool path = whole.len > 0 && *whole.at == '/';
    return vocabulary_has(whole) || (!path && vocabulary_has(piece));
}

static void note_option(struct names *n, struct str s)
{
    struct token t;
    for (uint32_t at = 0; next_token(n, s, false, &at, &t);)
        if (!is_known_option(s, span_of_units(s, &t, 0, t.count - 1)))
            note_units(n, s, &t, false);
}

/* api.example.internal, but not 1.5, v1.Pod or what berth says itself. */
static bool is_host(struct str s, const struct token *t)
{
    const struct unit *last = &t->units[t->count - 1];
    struct str whole = span_of_units(s, t, 0, t->count - 1);
    if (t->count < 2 || last->len < 2 || vocabulary_has(whole))
        return false;
    for (uint32_t i = last->at; i < last->at + last->len; i++)
        if (s.at[i] < 'a' || s.at[i] > 'z')
            return false;
    return s.at[last->at - 1] == '.';
}

static void note_hosts(struct names *n, struct str s, bool escaped)
{
    struct token t;
    for (uint32_t at = 0; next_token(n, s, escaped, &at, &t);)
        if (is_host(s, &t))
            note_units(n, s, &t, false);
}

/* Kubernetes' own, with a domain or a path before it. */
static bool is_well_known(struct str text)
{
    bool composed = str_find(text, '/') >= 0 || str_find(text, '.') >= 0;
    return composed && vocabulary_has(text);
}

/* So that it is cut at slashes, and what berth knows of it stays. */
static struct str behind_slash(struct str path)
{
    uint32_t skip = path.len > 0 && *path.at == '/';
    return (struct str){path.at + skip, path.len - skip};
}

/* A host is one whatever it is called; what berth itself knows of a path is none. */
static void note_said(struct names *n, struct str s)
{
    struct str name, own = {s.at, said_by_others(s)};
    bool path;
    for (uint32_t at = 0; said_next(own, &at, &name, &path);)
        if (path)
            note_option(n, behind_slash(name));
        else
            note_all(n, name, false, is_well_known(name));
}

static void note_expression(struct names *n, struct str s, bool escaped)
{
    struct str name;
    for (uint32_t at = 0; said_in_expression(s, &at, &name);)
        note_all(n, name, escaped, is_well_known(name));
}

/* UIDs and addresses are known wherever they stand. */
static void note_marks(struct names *n, struct str s, bool escaped)
{
    struct token t;
    for (uint32_t at = 0; next_token(n, s, escaped, &at, &t);)
        for (uint32_t i = 0; i < t.count; i++)
            if (t.units[i].order != n->words)
                order_add(t.units[i].order, unit_text(s, &t.units[i]), false);
}

/* 2026-01-01T00:00:00.000000Z, 1.5Gi, 1e3, 12345678 */
static bool is_figure(struct str s)
{
    uint32_t end = s.len;
    while (end > 0 && is_letter(s.at[end - 1]))
        end--;
    struct str letters = {s.at + end, s.len - end};
    for (uint32_t i = 0; i < end; i++)
        if (!is_digit(s.at[i]) && strchr(".:+-TeE", s.at[i]) == NULL)
            return false;
    bool unit = letters.len == 0 || str_is(letters, "Z") || is_measure_unit(letters);
    return unit && end > 0 && !is_letter(*s.at);
}

static enum text_class class_of(struct str text, enum text_class class)
{
    if (class != TEXT_figure)
        return class;
    return is_figure(text) ? TEXT_words : TEXT_key;
}

static void note(struct names *n, struct str text, enum text_class class, bool escaped)
{
    switch (class_of(text, class)) {
    case TEXT_figure: break; /* is one of the others */
    case TEXT_expression:
        note_expression(n, text, escaped);
        note_marks(n, text, escaped);
        break;
    case TEXT_name:
    case TEXT_key: note_all(n, text, escaped, is_well_known(text)); break;
    case TEXT_option: note_option(n, text); break;
    case TEXT_hosts:
        note_said(n, text);
        note_hosts(n, text, escaped);
        note_marks(n, text, escaped);
        break;
    case TEXT_words:
    case TEXT_derived: note_marks(n, text, escaped); break;
    case TEXT_unread: break;
    }
}

/* ---- changing ---- */

static void change_unit(const struct names *n, struct str s, const struct unit *u)
{
    if (n->uids_stay && u->order == n->uids)
        return;
    struct str word = unit_text(s, u), made = order_of(u->order, word);
    if (made.at != word.at)
        memcpy((char *)word.at, made.at, made.len);
}

static void change_units(const struct names *n, struct str s, const struct token *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (!stays(unit_text(s, &t->units[i]), &t->units[i], n))
            change_unit(n, s, &t->units[i]);
}

static void change_all(const struct names *n, struct str s, bool escaped)
{
    struct token t;
    for (uint32_t at = 0; next_token(n, s, escaped, &at, &t);)
        change_units(n, s, &t);
}

static void change_option(const struct names *n, struct str s)
{
    struct str whole = str_keep(s); /* what it was while it changes */
    struct token t;
    for (uint32_t at = 0; next_token(n, s, false, &at, &t);) {
        struct str piece = span_of_units(s, &t, 0, t.count - 1);
        bool name = t.count > 1 && map_get(n->known, piece) != NULL;
        if (name || !is_known_option(whole, piece))
            change_units(n, s, &t);
    }
    str_drop(&whole);
}

static bool quotes(char c)
{
    return c == '"' || c == '\'' || c == '`' || c == '/' || c == '\\';
}

/* One plain word, which berth also says for itself. */
static bool is_ambiguous(struct str name)
{
    for (uint32_t i = 0; i < name.len; i++)
        if (!is_letter(name.at[i]))
            return false;
    return vocabulary_has(name);
}

/* What stands around it without a blank, which may be a text that berth says. */
static bool is_said(struct str s, struct str name)
{
    uint32_t from = (uint32_t)(name.at - s.at), end = from + name.len;
    while (from > 0 && (is_word(s.at[from - 1]) || joins(s.at[from - 1]) || s.at[from - 1] == '/'))
        from--;
    while (end < s.len && (is_word(s.at[end]) || joins(s.at[end]) || s.at[end] == '/'))
        end++;
    while (end > from && !is_word(s.at[end - 1]))
        end--;
    while (from < end && !is_word(s.at[from]))
        from++;
    return end - from > name.len && vocabulary_has((struct str){s.at + from, end - from});
}

/* Where berth puts a name without quotes. */
static bool is_behind_phrase(struct str s, struct str name)
{
    static const char *const phrases[] = {" on node ", "device class ", "request "};
    struct str before = {s.at, (uint32_t)(name.at - s.at)};
    for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
        size_t len = strlen(phrases[i]);
        if (before.len >= len && memcmp(name.at - len, phrases[i], len) == 0)
            return true;
    }
    bool last = name.at + name.len == s.at + s.len;
    return last && str_starts_with(s, "Successfully assigned ");
}

/* Such a word is a name where a name is put: in quotes, beside a slash, behind what names one. */
static bool is_put(struct str s, struct str name)
{
    const char *end = name.at + name.len;
    bool before = name.at > s.at && quotes(name.at[-1]);
    bool behind = end < s.at + s.len && quotes(*end);
    bool put = (before && behind) || (before && name.at[-1] == '/') || (behind && *end == '/');
    return (put && !is_said(s, name)) || is_behind_phrase(s, name);
}

static bool is_name(const struct names *n, struct str s, struct str part, bool derived)
{
    return map_get(n->known, part) != NULL && (derived || !is_ambiguous(part) || is_put(s, part));
}

/* The last unit of the longest name that begins with this one; UINT32_MAX: none does. */
static uint32_t longest_name(const struct names *n, struct str s, const struct token *t,
                             uint32_t first, bool derived)
{
    for (uint32_t last = t->count; last-- > first;)
        if (is_name(n, s, span_of_units(s, t, first, last), derived))
            return last;
    return UINT32_MAX;
}

static void change_names(const struct names *n, struct str s, bool escaped, bool derived)
{
    struct token t;
    for (uint32_t at = 0; next_token(n, s, escaped, &at, &t);)
        for (uint32_t i = 0; i < t.count; i++) {
            uint32_t last = longest_name(n, s, &t, i, derived);
            for (uint32_t k = i; last != UINT32_MAX && k <= last; k++)
                if (!stays(unit_text(s, &t.units[k]), &t.units[k], n))
                    change_unit(n, s, &t.units[k]);
            if (last != UINT32_MAX)
                i = last;
            else if (t.units[i].order != n->words)
                change_unit(n, s, &t.units[i]);
        }
}

static void blot_out(struct str s, bool escaped)
{
    char *at = (char *)s.at;
    for (uint32_t i = 0; i < s.len;) {
        uint32_t next = escaped && at[i] == '\\' ? skip_escape(s, i) : i + 1;
        if (next == i + 1 && (is_word(at[i]) || (unsigned char)at[i] >= 0x80))
            at[i] = 'x';
        i = next;
    }
}

/* Names in it; what another program says goes. */
static void change_said(const struct names *n, struct str text, bool escaped)
{
    uint32_t own = said_by_others(text);
    change_names(n, (struct str){text.at, own}, escaped, false);
    blot_out((struct str){text.at + own, text.len - own}, escaped);
}

/* Where a name stands it is changed even if berth says that word as well. */
static void change_expression(const struct names *n, struct str s, bool escaped)
{
    struct str name;
    uint32_t done = 0;
    for (uint32_t at = 0; said_in_expression(s, &at, &name); done = at) {
        uint32_t from = (uint32_t)(name.at - s.at);
        change_names(n, (struct str){s.at + done, from - done}, escaped, false);
        if (!is_well_known(name))
            change_all(n, name, escaped);
    }
    change_names(n, (struct str){s.at + done, s.len - done}, escaped, false);
}

static void change(const struct names *n, struct str text, enum text_class class, bool escaped)
{
    switch (class_of(text, class)) {
    case TEXT_figure: break; /* is one of the others */
    case TEXT_expression: change_expression(n, text, escaped); break;
    case TEXT_name:
    case TEXT_key:
        if (!is_well_known(text))
            change_all(n, text, escaped);
        break;
    case TEXT_option: change_option(n, text); break;
    case TEXT_hosts:
    case TEXT_words: change_said(n, text, escaped); break;
    case TEXT_derived: change_names(n, text, escaped, true); break;
    case TEXT_unread: blot_out(text, escaped); break;
    }
}

void names_take(struct names *n, struct str text, enum text_class class, bool escaped)
{
    if (n->changes)
        change(n, text, class, escaped);
    else
        note(n, text, class, escaped);
}

/* ---- between both ---- */

/* Of a name of which every word stays after all that is the name itself. */
static void note_made_up(struct names *n)
{
    size_t at = 0;
    struct str name;
    void *value;
    map_free(&n->made_up);
    n->made_up = map_new();
    n->count = 0;
    while (map_next(n->known, &at, &name, &value)) {
        struct str copy = str_keep(name);
        change_all(n, copy, false);
        n->count += !str_equal(copy, name);
        map_set(n->made_up, copy, n);
        str_drop(&copy);
    }
}

void names_draw(struct names *n, uint64_t seed)
{
    order_draw(n->words, seed);
    order_draw(n->uids, seed);
    order_draw(n->addresses, seed);
    note_made_up(n);
    n->number_count = 0;
    n->changes = true;
}

void names_ambiguous(const struct names *n, struct buffer *out)
{
    size_t at = 0;
    struct str name;
    void *value;
    while (map_next(n->known, &at, &name, &value))
        if (is_ambiguous(name) && !vocabulary_stays(name))
            buffer_print(out, "%s%.*s", out->len > 0 ? "," : "", STR_ARG(name));
}

/* ---- what is left ---- */

static bool is_left(const struct names *n, struct str part)
{
    if (n->uids_stay && part.len == UID_LEN && is_uid(part, 0))
        return false;
    return part.len >= NAMES_SHORT && map_get(n->known, part) != NULL &&
           map_get(n->made_up, part) == NULL && !is_ambiguous(part);
}

struct str names_left(const struct names *n, struct str bytes)
{
    struct token t;
    for (uint32_t at = 0; next_token(n, bytes, false, &at, &t);)
        for (uint32_t i = 0; i < t.count; i++)
            for (uint32_t last = t.count; last-- > i;) {
                struct str part = span_of_units(bytes, &t, i, last);
                struct str rest = {part.at + 1, part.len - 1}; /* behind a byte of its length */
                if (is_left(n, part) || is_left(n, rest))
                    return is_left(n, part) ? part : rest;
            }
    return (struct str){NULL, 0};
}
