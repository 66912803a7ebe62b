/* order: words sorted and walked through letter by letter: of all words that begin alike the next
 * letters are drawn together, in their order. What must stay true: two words get different made-up
 * ones, in the same order, which begin alike as far as they do; a word that stays gets itself. */
#include "ctl/redact/order.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS_KEPT 5  /* of a long number; what is behind them is drawn */
#define TRIES       16 /* for letters of which few are what they were */
#define LETTERS     64 /* that may follow a beginning: 62, a dash and a dot */

struct word {
    struct str from;
    char *to;
    bool stays;
};

/* Words that begin alike: of these letters. */
struct range {
    size_t first, end;
    uint32_t depth;
};

struct order {
    enum order_kind kind;
    struct map *known; /* a word's text to it */
    struct word **at;
    size_t count, room;
    struct range *todo;
    size_t todo_count, todo_room;
    struct random random;
    bool secret; /* what is drawn follows from no seed */
};

/* One of the letters that follow a beginning. */
struct letter {
    unsigned char from, to, least, most; /* it is drawn from least to most */
    bool stays;
    size_t first, end; /* the words */
};

struct order *order_new(enum order_kind kind)
{
    struct order *o = memory_take(sizeof(*o));
    o->kind = kind;
    o->known = map_new();
    return o;
}

void order_free(struct order **order)
{
    struct order *o = *order;
    size_t at = 0;
    void *value;
    if (o == NULL)
        return;
    while (map_next(o->known, &at, NULL, &value)) {
        struct word *w = value;
        str_drop(&w->from);
        memory_free(w->to);
        memory_free(w);
    }
    map_free(&o->known);
    memory_free(o->at);
    memory_free(o->todo);
    memory_free(o);
    *order = NULL;
}

void order_add(struct order *o, struct str word, bool stays)
{
    struct word *w = map_get(o->known, word);
    if (w == NULL) {
        w = memory_take(sizeof(*w));
        w->from = str_keep(word);
        w->to = memory_copy(word.at, word.len);
        map_set(o->known, word, w);
    }
    w->stays = w->stays || stays;
}

bool order_changes(const struct order *o, struct str word)
{
    const struct word *w = map_get(o->known, word);
    return w != NULL && !w->stays && memcmp(w->to, w->from.at, w->from.len) != 0;
}

struct str order_of(const struct order *o, struct str word)
{
    const struct word *w = map_get(o->known, word);
    return w != NULL ? (struct str){w->to, word.len} : word;
}

/* ---- which letters there may be ---- */

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static void allow(struct letter *l, unsigned char least, unsigned char most)
{
    l->least = least;
    l->most = most;
}

/* What a word begins with is digits only, and enough of them. */
static bool in_long_number(const struct word *w, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++)
        if (!is_digit((unsigned char)w->from.at[i]))
            return false;
    return depth >= DIGITS_KEPT;
}

static void allow_in_word(const struct order *o, struct letter *l, uint32_t depth)
{
    if (l->from >= 'a' && l->from <= 'z')
        allow(l, 'a', 'z');
    else if (l->from >= 'A' && l->from <= 'Z')
        allow(l, 'A', 'Z');
    else if (is_digit(l->from) && in_long_number(o->at[l->first], depth))
        allow(l, '0', '9');
    else
        l->stays = true;
}

static void allow_in_hex(struct letter *l)
{
    if (l->from >= 'a' && l->from <= 'f')
        allow(l, 'a', 'f');
    else if (l->from >= 'A' && l->from <= 'F')
        allow(l, 'A', 'F');
    else if (is_digit(l->from))
        allow(l, '0', '9');
    else
        l->stays = true;
}

/* The number around a place of an address: where it begins, and how many digits it has. */
static void octet_at(const struct word *w, uint32_t depth, uint32_t *start, uint32_t *len)
{
    uint32_t end = depth;
    for (*start = depth; *start > 0 && is_digit((unsigned char)w->from.at[*start - 1]);)
        --*start;
    while (end < w->from.len && is_digit((unsigned char)w->from.at[end]))
        end++;
    *len = end - *start;
}

/* Numbers stay below 256 and begin with no 0. */
static void allow_in_address(const struct order *o, struct letter *l, uint32_t depth)
{
    uint32_t start, len;
    if (!is_digit(l->from)) {
        l->stays = true;
        return;
    }
    allow(l, '0', '9');
    for (size_t i = l->first; i < l->end; i++) {
        const char *from = o->at[i]->from.at;
        octet_at(o->at[i], depth, &start, &len);
        bool large = from[start] == '2' && len == 3;
        if (depth == start && (len == 3 || l->from == '0'))
            l->stays = true; /* 1 or 2; or nothing but 0 */
        else if (depth == start && l->least < '1')
            l->least = '1';
        else if (depth == start + 1 && from[start] == '2' && l->from >= '5')
            l->stays = l->stays || len == 3 || l->from == '5';
        else if (depth == start + 1 && from[start] == '2')
            l->most = '4';
        else if (depth == start + 2 && large && from[start + 1] == '5')
            l->most = '5';
    }
}

static void allow_letter(const struct order *o, struct letter *l, uint32_t depth)
{
    l->to = l->from;
    for (size_t i = l->first; i < l->end; i++)
        l->stays = l->stays || o->at[i]->stays;
    switch (o->kind) {
    case ORDER_words: allow_in_word(o, l, depth); break;
    case ORDER_hex: allow_in_hex(l); break;
    case ORDER_address: allow_in_address(o, l, depth); break;
    }
}

/* ---- drawing ---- */

/* So many of the letters from least to most, in their order, each set of them as likely. */
static void choose(struct random *random, unsigned least, unsigned most, size_t count,
                   unsigned char *chosen)
{
    size_t left = count;
    for (unsigned c = least; c <= most && left > 0; c++)
        if (random_below(random, most - c + 1) < left)
            chosen[count - left--] = (unsigned char)c;
    must(left == 0);
}

/* Letters that are drawn together, between what bounds them. */
static void draw_run(struct order *o, struct letter *at, size_t count, unsigned least,
                     unsigned most)
{
    unsigned char chosen[LETTERS];
    size_t fewest = count + 1;
    for (int i = 0; i < TRIES && fewest > 0; i++) {
        size_t same = 0;
        choose(&o->random, least, most, count, chosen);
        for (size_t k = 0; k < count; k++)
            same += chosen[k] == at[k].from;
        for (size_t k = 0; k < count && same < fewest; k++)
            at[k].to = chosen[k];
        fewest = same < fewest ? same : fewest;
    }
}

static void draw_letters(struct order *o, struct letter *at, size_t count)
{
    size_t i = 0;
    while (i < count) {
        size_t end = i + 1;
        unsigned least = at[i].least, most = at[i].most;
        if (at[i].stays) {
            i++;
            continue;
        }
        while (end < count && !at[end].stays && at[end].least == least && at[end].most == most)
            end++;
        if (i > 0 && at[i - 1].to >= least)
            least = at[i - 1].to + 1U;
        /* The next letter that stays, or is drawn from others, bounds them as well. */
        unsigned bound = end < count ? at[end].stays ? at[end].from : at[end].least : 256;
        if (bound > least && bound <= most && bound > at[end - 1].from)
            most = bound - 1;
        draw_run(o, at + i, end - i, least, most);
        i = end;
    }
}

static void put_off(struct order *o, struct range range)
{
    if (o->todo_count == o->todo_room) {
        o->todo_room = o->todo_room > 0 ? 2 * o->todo_room : 64;
        o->todo = memory_resize(o->todo, o->todo_room * sizeof(*o->todo));
    }
    o->todo[o->todo_count++] = range;
}

/* The letters that follow; a word that ends here is the first of the range. */
static size_t find_letters(const struct order *o, struct range r, struct letter *letters)
{
    size_t count = 0;
    for (size_t i = r.first; i < r.end; i++) {
        if (o->at[i]->from.len == r.depth)
            continue;
        unsigned char c = (unsigned char)o->at[i]->from.at[r.depth];
        if (count == 0 || letters[count - 1].from != c) {
            must(count < LETTERS);
            letters[count++] = (struct letter){.from = c, .first = i};
        }
        letters[count - 1].end = i + 1;
    }
    return count;
}

static void draw_range(struct order *o, struct range r)
{
    struct letter letters[LETTERS];
    size_t count = find_letters(o, r, letters);
    if (o->secret)
        o->random = (struct random){random_seed()};
    for (size_t k = 0; k < count; k++)
        allow_letter(o, &letters[k], r.depth);
    draw_letters(o, letters, count);
    for (size_t k = 0; k < count; k++) {
        for (size_t i = letters[k].first; i < letters[k].end; i++)
            o->at[i]->to[r.depth] = (char)letters[k].to;
        put_off(o, (struct range){letters[k].first, letters[k].end, r.depth + 1});
    }
}

static int by_text(const void *one, const void *other)
{
    const struct word *const *a = one, *const *b = other;
    return str_compare((*a)->from, (*b)->from);
}

static void sort_words(struct order *o)
{
    size_t at = 0;
    void *value;
    o->count = 0;
    o->room = map_count(o->known);
    o->at = memory_resize(o->at, (o->room + 1) * sizeof(struct word *));
    while (map_next(o->known, &at, NULL, &value))
        o->at[o->count++] = value;
    qsort(o->at, o->count, sizeof(struct word *), by_text);
}

void order_draw(struct order *o, uint64_t seed)
{
    o->random = (struct random){seed};
    o->secret = seed == ORDER_SECRET;
    sort_words(o);
    put_off(o, (struct range){0, o->count, 0});
    while (o->todo_count > 0)
        draw_range(o, o->todo[--o->todo_count]);
}
