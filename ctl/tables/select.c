/* select: reads a label selector. The one idea: each part is one requirement of a selector as pods
 * have them, which proto/kube matches. What must stay true: what is not understood is refused. */
#include "ctl/tables/select.h"

#include "proto/kube/objects/selector.h"

/* The next part, up to a comma that is in no parentheses. */
static bool next_part(struct str *rest, struct str *part)
{
    int depth = 0;
    uint32_t i = 0;
    if (rest->at == NULL)
        return false;
    for (; i < rest->len && (rest->at[i] != ',' || depth > 0); i++)
        depth += (rest->at[i] == '(') - (rest->at[i] == ')');
    *part = str_trim((struct str){rest->at, i});
    *rest = i < rest->len ? (struct str){rest->at + i + 1, rest->len - i - 1} : (struct str){0};
    return true;
}

static bool is_key(struct str key)
{
    for (uint32_t i = 0; i < key.len; i++)
        if (key.at[i] <= ' ' || key.at[i] == '(' || key.at[i] == ')' || key.at[i] == '!' ||
            key.at[i] == '=')
            return false;
    return key.len > 0;
}

static void set(struct requirement *r, struct str key, const char *operator_name)
{
    r->key = str_trim(key);
    r->operator_name = str_of(operator_name);
}

static struct str behind(struct str text, uint32_t from)
{
    return (struct str){text.at + from, text.len - from};
}

/* a=b, a==b, a!=b */
static bool read_equal(struct str part, uint32_t equal, struct requirement *r, struct arena *a)
{
    bool other = equal > 0 && part.at[equal - 1] == '!';
    bool twice = equal + 1 < part.len && part.at[equal + 1] == '=' && !other;
    set(r, (struct str){part.at, equal - other}, other ? "NotIn" : "In");
    r->values.at = arena_take(a, sizeof(struct str));
    r->values.at[r->values.count++] = str_trim(behind(part, equal + 1 + twice));
    return is_key(r->key) && str_find(r->values.at[0], '=') < 0;
}

/* a in (b,c), a notin (b) */
static bool read_set(struct str part, uint32_t open, struct requirement *r, struct arena *a)
{
    struct str head = str_trim((struct str){part.at, open});
    int64_t blank = str_find(head, ' ');
    if (blank < 0 || part.at[part.len - 1] != ')')
        return false;
    struct str word = str_trim(behind(head, (uint32_t)blank));
    struct str values = {part.at + open + 1, part.len - open - 2}, value;
    if (!str_is(word, "in") && !str_is(word, "notin"))
        return false;
    set(r, (struct str){head.at, (uint32_t)blank}, str_is(word, "in") ? "In" : "NotIn");
    r->values.at = arena_take(a, (values.len + 1) * sizeof(struct str));
    while (next_part(&values, &value))
        r->values.at[r->values.count++] = value;
    return is_key(r->key);
}

static bool read_part(struct str part, struct requirement *r, struct arena *a)
{
    int64_t open = str_find(part, '('), equal = str_find(part, '=');
    *r = (struct requirement){.key = {0}};
    if (part.len == 0)
        return false;
    if (open >= 0)
        return read_set(part, (uint32_t)open, r, a);
    if (equal >= 0)
        return read_equal(part, (uint32_t)equal, r, a);
    bool absent = part.at[0] == '!';
    set(r, behind(part, absent), absent ? "DoesNotExist" : "Exists");
    return is_key(r->key);
}

bool select_read(struct str text, struct selector *selector, struct arena *a)
{
    struct str rest = text, part;
    *selector = (struct selector){.present = true};
    selector->expressions.at = arena_take(a, (text.len + 1) * sizeof(struct requirement));
    while (next_part(&rest, &part))
        if (!read_part(part, &selector->expressions.at[selector->expressions.count++], a))
            return false;
    return label_selector_check(selector, NULL);
}
