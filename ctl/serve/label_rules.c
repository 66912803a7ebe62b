/* label_rules: a small table of which values a label may have. The one idea: the flags are read as
 * upstream's flag library reads them, a line of CSV, so that one command line means the same to
 * both. What must stay true: what upstream refuses is refused, before anything starts. */
#include "ctl/serve/label_rules.h"

#include "proto/kube/access/access.h"
#include "proto/kube/documents/json.h"

#include <ctype.h>
#include <string.h>

/* ---- CSV ---- */

static bool quoted(struct str *rest, struct str *field, struct arena *a)
{
    char *text = arena_take(a, rest->len + 1);
    uint32_t at = 1;
    *field = (struct str){text, 0};
    for (; at < rest->len; at++) {
        if (rest->at[at] == '"' && (at + 1 == rest->len || rest->at[at + 1] != '"'))
            break;
        at += rest->at[at] == '"';
        text[field->len++] = rest->at[at];
    }
    bool closed = at < rest->len;
    at += closed;
    *rest = (struct str){rest->at + at, rest->len - at};
    return closed && (rest->len == 0 || rest->at[0] == ',');
}

static bool plain(struct str *rest, struct str *field)
{
    int64_t comma = str_find(*rest, ',');
    *field = (struct str){rest->at, comma < 0 ? rest->len : (uint32_t)comma};
    *rest = (struct str){rest->at + field->len, rest->len - field->len};
    return str_find(*field, '"') < 0;
}

/* One line; an empty one has no fields. */
static bool csv(struct str line, struct strs *fields, struct arena *a)
{
    struct str rest = line;
    *fields = (struct strs){0, arena_take(a, (line.len + 1) * sizeof(struct str))};
    while (rest.len > 0) {
        struct str *field = &fields->at[fields->count++];
        if (!(rest.at[0] == '"' ? quoted(&rest, field, a) : plain(&rest, field)))
            return false;
        bool more = rest.len > 0;
        if (more)
            rest = (struct str){rest.at + 1, rest.len - 1};
        if (more && rest.len == 0)
            fields->at[fields->count++] = (struct str){"", 0};
    }
    return true;
}

/* ---- names ---- */

static bool is_name(struct str s, const char *also)
{
    for (uint32_t i = 0; i < s.len; i++) {
        bool digit = isdigit((unsigned char)s.at[i]) && i > 0;
        if (!isalpha((unsigned char)s.at[i]) && !digit && strchr(also, s.at[i]) == NULL)
            return false;
    }
    return s.len > 0;
}

bool label_rules_names(struct str flag, struct strs *names, struct arena *a, struct str *why)
{
    if (!csv(flag, names, a)) {
        *why = STR_LITERAL("a quote stands where none may");
        return false;
    }
    for (uint32_t i = 0; i < names->count; i++)
        if (!is_name(names->at[i], "_:")) {
            *why = arena_print(a, "must be fully qualified metric names, got \"%.*s\"",
                               STR_ARG(names->at[i]));
            return false;
        }
    return true;
}

/* ---- rules ---- */

static struct allowed_label *rule_for(struct label_rules *r, struct str metric, struct str label)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (str_equal(r->at[i].metric, metric) && str_equal(r->at[i].label, label))
            return &r->at[i];
    return r->count < LABEL_RULES_MAX ? &r->at[r->count++] : NULL;
}

static bool add(struct label_rules *r, struct str key, struct str values, struct arena *a,
                struct str *why)
{
    int64_t comma = str_find(key, ',');
    struct str metric = {key.at, comma < 0 ? 0 : (uint32_t)comma};
    struct str label = {key.at + metric.len + 1, comma < 0 ? 0 : key.len - metric.len - 1};
    if (!is_name(metric, "_:") || !is_name(label, "_")) {
        *why = arena_print(a, "must have keys with format `metricName,labelName`, got \"%.*s\"",
                           STR_ARG(key));
        return false;
    }
    struct allowed_label *rule = rule_for(r, metric, label);
    if (rule == NULL) {
        *why = arena_print(a, "more than %d labels", LABEL_RULES_MAX);
        return false;
    }
    struct str rest = values, value;
    *rule = (struct allowed_label){arena_copy(a, metric),
                                   arena_copy(a, label),
                                   {0, arena_take(a, (values.len + 1) * sizeof(rest))}};
    if (values.len == 0)
        rule->values.at[rule->values.count++] = (struct str){"", 0};
    while (values.len > 0 && str_split(&rest, ",", &value))
        rule->values.at[rule->values.count++] = arena_copy(a, value);
    return true;
}

static bool add_pair(struct label_rules *r, struct str pair, struct arena *a, struct str *why)
{
    int64_t equals = str_find(pair, '=');
    if (equals < 0) {
        *why = arena_print(a, "%.*s must be formatted as key=value", STR_ARG(pair));
        return false;
    }
    struct str key = {pair.at, (uint32_t)equals};
    struct str values = {pair.at + equals + 1, pair.len - (uint32_t)equals - 1};
    return add(r, key, values, a, why);
}

static struct str without_quotes(struct str s)
{
    while (s.len > 0 && s.at[0] == '"')
        s = (struct str){s.at + 1, s.len - 1};
    while (s.len > 0 && s.at[s.len - 1] == '"')
        s.len--;
    return s;
}

/* With a single = the whole is one pair, whatever commas it has. */
bool label_rules_read(struct label_rules *rules, struct str flag, struct arena *a, struct str *why)
{
    uint32_t equals = 0;
    struct strs pairs;
    for (uint32_t i = 0; i < flag.len; i++)
        equals += flag.at[i] == '=';
    if (equals < 2)
        return add_pair(rules, without_quotes(flag), a, why);
    if (!csv(flag, &pairs, a)) {
        *why = STR_LITERAL("a quote stands where none may");
        return false;
    }
    for (uint32_t i = 0; i < pairs.count; i++)
        if (!add_pair(rules, pairs.at[i], a, why))
            return false;
    return true;
}

/* ---- the manifest ---- */

static bool add_member(struct label_rules *r, const struct kube_json *member, struct arena *a,
                       struct str *why)
{
    struct buffer text = {0};
    if (kube_json_is_object(member) || kube_json_is_array(member)) {
        *why = arena_print(a, "failed to parse allow list manifest: %.*s has %s, not a text",
                           STR_ARG(kube_json_name(member)), kube_json_kind(member));
        return false;
    }
    struct str values = kube_json_text(member);
    if (!kube_json_is_string(member) && !kube_json_is_null(member)) {
        kube_json_write(member, &text);
        values = buffer_str(&text);
    }
    bool good = add(r, kube_json_name(member), values, a, why);
    buffer_free(&text);
    return good;
}

bool label_rules_read_file(struct label_rules *rules, const char *path, struct arena *a,
                           struct str *why)
{
    struct buffer text = {0};
    struct str error = {0};
    char reason[512];
    bool good = kube_file_read(path, &text, reason, sizeof(reason));
    if (!good)
        *why = arena_print(a, "failed to read allow list manifest: %s", reason);
    struct kube_json *all = good ? kube_json_parse_yaml(buffer_str(&text), &error, a) : NULL;
    if (good && all == NULL)
        *why = arena_print(a, "failed to parse allow list manifest: %.*s", STR_ARG(error));
    else if (good && !kube_json_is_object(all) && !kube_json_is_null(all))
        *why = arena_print(a, "failed to parse allow list manifest: it is %s", kube_json_kind(all));
    good = all != NULL && (kube_json_is_object(all) || kube_json_is_null(all));
    const struct kube_json *i = kube_json_is_object(all) ? kube_json_first(all) : NULL;
    for (; good && i != NULL; i = kube_json_next(i))
        good = add_member(rules, i, a, why);
    kube_json_free(&all);
    buffer_free(&text);
    return good;
}

/* ---- what is shown ---- */

struct str label_rules_apply(const struct label_rules *rules, const char *metric, const char *label,
                             struct str value)
{
    for (uint32_t i = 0; rules != NULL && i < rules->count; i++) {
        const struct allowed_label *r = &rules->at[i];
        if (!str_is(r->metric, metric) || !str_is(r->label, label))
            continue;
        for (uint32_t k = 0; k < r->values.count; k++)
            if (str_equal(r->values.at[k], value))
                return value;
        return STR_LITERAL("unexpected");
    }
    return value;
}
