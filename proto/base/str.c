/* str: comparing, hashing and copying borrowed bytes. Nothing here owns what it looks at, and
 * nothing expects a zero byte at the end. */
#include "proto/base/str.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <string.h>

struct str str_of(const char *zero_terminated)
{
    size_t len = zero_terminated ? strlen(zero_terminated) : 0;
    must(len <= UINT32_MAX);
    return (struct str){zero_terminated, (uint32_t)len};
}

bool str_equal(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

bool str_is(struct str a, const char *zero_terminated)
{
    return str_equal(a, str_of(zero_terminated));
}

int str_compare(struct str a, struct str b)
{
    uint32_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.at, b.at, common) : 0;
    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

int64_t str_find(struct str s, char c)
{
    const char *hit = s.len ? memchr(s.at, c, s.len) : NULL;
    return hit ? hit - s.at : -1;
}

bool str_starts_with(struct str s, const char *prefix)
{
    size_t len = strlen(prefix);
    return s.len >= len && (len == 0 || memcmp(s.at, prefix, len) == 0);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
    while (s.len > 0 && is_space(s.at[0]))
        s = (struct str){s.at + 1, s.len - 1};
    while (s.len > 0 && is_space(s.at[s.len - 1]))
        s.len--;
    return s;
}

bool str_split(struct str *rest, const char *separator, struct str *piece)
{
    size_t len = strlen(separator);
    if (rest->at == NULL)
        return false;
    for (uint32_t i = 0; i + len <= rest->len; i++)
        if (memcmp(rest->at + i, separator, len) == 0) {
            *piece = (struct str){rest->at, i};
            *rest = (struct str){rest->at + i + len, (uint32_t)(rest->len - i - len)};
            return true;
        }
    *piece = *rest;
    *rest = (struct str){0};
    return true;
}

char *str_copy(struct str s)
{
    return memory_copy(s.at, s.len);
}

struct str str_keep(struct str s)
{
    return (struct str){str_copy(s), s.len};
}

void str_drop(struct str *kept)
{
    memory_free((char *)kept->at); /* const only to those who borrow it */
    *kept = (struct str){0};
}

static uint64_t word_at(const char *at, size_t size)
{
    uint64_t word = 0;
    memcpy(&word, at, size);
    return word;
}

/* Of so much that no part of the hash is without a part of the word. */
static uint64_t stirred(uint64_t hash)
{
    hash *= 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/* Eight bytes at a time; the last ones may be read twice. The length keeps those apart that differ
 * in nothing else. */
uint64_t str_hash(struct str s)
{
    uint64_t hash = 1469598103934665603u + s.len;
    uint32_t i = 0;
    for (; i + 8 < s.len; i += 8)
        hash = stirred(hash ^ word_at(s.at + i, 8));
    if (s.len >= 8)
        return stirred(stirred(hash ^ word_at(s.at + s.len - 8, 8)));
    if (s.len >= 4)
        return stirred(stirred(hash ^ word_at(s.at, 4) << 32 ^ word_at(s.at + s.len - 4, 4)));
    for (; i < s.len; i++)
        hash ^= (uint64_t)(unsigned char)s.at[i] << 8 * i;
    return stirred(stirred(hash));
}

bool str_to_i64(struct str s, int64_t *value)
{
    uint32_t i = s.len > 0 && (s.at[0] == '-' || s.at[0] == '+');
    bool negative = i == 1 && s.at[0] == '-';
    if (i == s.len)
        return false;
    int64_t sum = 0; /* kept negative, because INT64_MIN has no positive twin */
    for (; i < s.len; i++) {
        int digit = s.at[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_sub_overflow(sum, digit, &sum))
            return false;
    }
    if (!negative && sum == INT64_MIN)
        return false;
    *value = negative ? sum : -sum;
    return true;
}
