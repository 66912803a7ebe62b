/* label_syntax: the two grammars by hand instead of by regular expression. What must stay true: the
 * same verdict as upstream's for every byte string. */
#include "scheduler/label_syntax.h"

#define NAME_MAX_LEN   63
#define PREFIX_MAX_LEN 253

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9], 1 to 63 bytes */
static bool is_name(struct str s)
{
    if (s.len == 0 || s.len > NAME_MAX_LEN || !is_alnum(s.at[0]) || !is_alnum(s.at[s.len - 1]))
        return false;
    for (uint32_t i = 0; i < s.len; i++)
        if (!is_alnum(s.at[i]) && s.at[i] != '-' && s.at[i] != '_' && s.at[i] != '.')
            return false;
    return true;
}

/* Labels of lower-case letters, digits and inner hyphens, joined by dots. */
static bool is_subdomain(struct str s)
{
    if (s.len == 0 || s.len > PREFIX_MAX_LEN)
        return false;
    char before = '.';
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        bool edge = before == '.';
        if (c == '.' ? (edge || before == '-') : !is_lower_alnum(c) && (c != '-' || edge))
            return false;
        before = c;
    }
    return is_lower_alnum(before);
}

bool label_key_valid(struct str key)
{
    int64_t slash = str_find(key, '/');
    if (slash < 0)
        return is_name(key);
    struct str prefix = {key.at, (uint32_t)slash};
    struct str name = {key.at + slash + 1, key.len - (uint32_t)slash - 1};
    return is_subdomain(prefix) && is_name(name);
}

bool label_value_valid(struct str value)
{
    return value.len == 0 || is_name(value);
}
