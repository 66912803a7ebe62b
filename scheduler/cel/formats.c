/* formats: what is wrong with a text that is no label, name, URL, UUID, date or base64, in the
 * words of Kubernetes' validation. What must stay true: a fault's words, its order among others and
 * the pattern in it are upstream's, since expressions may look at them. */
#include "scheduler/cel/formats.h"

#include "proto/base/must.h"
#include "scheduler/cel/calendar.h"
#include "scheduler/cel/functions.h"
#include "scheduler/cel/regex.h"
#include "scheduler/cel/text.h"
#include "scheduler/cel/url.h"

#include <stdio.h>
#include <string.h>

#define LABEL     "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN LABEL "(\\." LABEL ")*"
#define OLD_LABEL "[a-z]([-a-z0-9]*[a-z0-9])?"
#define KEY       "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define VALUE     "(" KEY ")?"
#define UUID      "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"
#define BASE64                                                                                     \
    "^(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})$"
#define CLOCK "^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$"

#define LABEL_MAX     63u
#define SUBDOMAIN_MAX 253u

static bool fits(struct pool *p, const char *pattern, struct str text)
{
    struct str error = {NULL, 0};
    const struct regex *re = regex_compile(p, str_of(pattern), &error);
    must(re != NULL);
    return regex_matches(p, re, text);
}

static struct value fault(struct pool *p, struct value faults, struct str text)
{
    return list_append(p, faults, value_string(text));
}

static struct value longer(struct pool *p, struct value faults, uint32_t max, const char *unit)
{
    return fault(p, faults, pool_print(p, "must be no more than %u %s", max, unit));
}

/* The part before the last character gives way to a letter, as for names that get a suffix. */
static struct str prefix_of(struct pool *p, struct str name)
{
    if (name.len < 2 || name.at[name.len - 1] != '-')
        return name;
    return pool_print(p, "%.*sa", (int)name.len - 2, name.at);
}

/* ---- names ---- */

static struct value check_label(struct pool *p, struct str s, struct value faults)
{
    if (s.len > LABEL_MAX)
        faults = longer(p, faults, LABEL_MAX, "characters");
    if (fits(p, "^" LABEL "$", s))
        return faults;
    if (fits(p, "^" SUBDOMAIN "$", s))
        return fault(p, faults, STR_LITERAL("must not contain dots"));
    return fault(p, faults,
                 STR_LITERAL("a lowercase RFC 1123 label must consist of lower case alphanumeric "
                             "characters or '-', and must start and end with an alphanumeric "
                             "character (e.g. 'my-name',  or '123-abc', regex used for "
                             "validation is '" LABEL "')"));
}

static struct value check_label_prefix(struct pool *p, struct str s, struct value faults)
{
    return check_label(p, prefix_of(p, s), faults);
}

#define NO_SUBDOMAIN                                                                               \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "   \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "  \
    "for validation is '" SUBDOMAIN "')"

static struct value check_subdomain(struct pool *p, struct str s, struct value faults)
{
    if (s.len > SUBDOMAIN_MAX)
        faults = longer(p, faults, SUBDOMAIN_MAX, "characters");
    return fits(p, "^" SUBDOMAIN "$", s) ? faults : fault(p, faults, STR_LITERAL(NO_SUBDOMAIN));
}

static struct value check_subdomain_prefix(struct pool *p, struct str s, struct value faults)
{
    return check_subdomain(p, prefix_of(p, s), faults);
}

static struct value check_old_label(struct pool *p, struct str s, struct value faults)
{
    if (s.len > LABEL_MAX)
        faults = longer(p, faults, LABEL_MAX, "characters");
    if (fits(p, "^" OLD_LABEL "$", s))
        return faults;
    return fault(p, faults,
                 STR_LITERAL("a DNS-1035 label must consist of lower case alphanumeric characters "
                             "or '-', start with an alphabetic character, and end with an "
                             "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used "
                             "for validation is '" OLD_LABEL "')"));
}

static struct value check_old_label_prefix(struct pool *p, struct str s, struct value faults)
{
    return check_old_label(p, prefix_of(p, s), faults);
}

/* ---- label keys and values ---- */

#define NO_KEY                                                                                     \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "    \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "         \
    "validation is '" KEY "')"

static struct value check_key_prefix(struct pool *p, struct str s, struct value faults)
{
    if (s.len == 0)
        return fault(p, faults, STR_LITERAL("prefix part must be non-empty"));
    if (s.len > SUBDOMAIN_MAX)
        faults = fault(p, faults,
                       pool_print(p, "prefix part must be no more than %u bytes", SUBDOMAIN_MAX));
    if (fits(p, "^" SUBDOMAIN "$", s))
        return faults;
    return fault(p, faults, STR_LITERAL("prefix part " NO_SUBDOMAIN));
}

static struct value check_qualified_name(struct pool *p, struct str s, struct value faults)
{
    int64_t slash = str_find(s, '/');
    struct str name = slash < 0 ? s : text_from(s, (uint32_t)slash + 1);
    if (str_find(name, '/') >= 0)
        return fault(p, faults,
                     STR_LITERAL("a valid label key " NO_KEY
                                 " with an optional DNS subdomain prefix and '/' (e.g. "
                                 "'example.com/MyName')"));
    if (slash >= 0)
        faults = check_key_prefix(p, text_first(s, (uint32_t)slash), faults);
    if (name.len == 0)
        faults = fault(p, faults, STR_LITERAL("name part must be non-empty"));
    else if (name.len > LABEL_MAX)
        faults =
            fault(p, faults, pool_print(p, "name part must be no more than %u bytes", LABEL_MAX));
    return fits(p, "^" KEY "$", name) ? faults : fault(p, faults, STR_LITERAL("name part " NO_KEY));
}

static struct value check_label_value(struct pool *p, struct str s, struct value faults)
{
    if (s.len > LABEL_MAX)
        faults = longer(p, faults, LABEL_MAX, "bytes");
    if (fits(p, "^" VALUE "$", s))
        return faults;
    return fault(p, faults,
                 STR_LITERAL("a valid label must be an empty string or consist of alphanumeric "
                             "characters, '-', '_' or '.', and must start and end with an "
                             "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
                             "'12345', regex used for validation is '" VALUE "')"));
}

/* ---- the formats of schemas ---- */

static struct value check_uri(struct pool *p, struct str s, struct value faults)
{
    struct str error = {NULL, 0};
    return url_check(p, s, &error) ? faults : fault(p, faults, error);
}

static struct value check_uuid(struct pool *p, struct str s, struct value faults)
{
    return fits(p, UUID, s) ? faults
                            : fault(p, faults, STR_LITERAL("does not match the UUID format"));
}

static struct value check_byte(struct pool *p, struct str s, struct value faults)
{
    return fits(p, BASE64, s) ? faults : fault(p, faults, STR_LITERAL("invalid base64"));
}

static struct value check_date(struct pool *p, struct str s, struct value faults)
{
    return calendar_is_date(s) ? faults : fault(p, faults, STR_LITERAL("invalid date"));
}

/* A date and, behind the first t, a time whose numbers are compared as texts; what stands behind a
 * second t is not looked at. */
static bool is_datetime(struct pool *p, struct str s)
{
    char *lower = pool_take(p, (size_t)s.len + 1);
    for (uint32_t i = 0; i < s.len; i++)
        lower[i] = (char)(s.at[i] >= 'A' && s.at[i] <= 'Z' ? s.at[i] + 32 : s.at[i]);
    struct str text = {lower, s.len};
    int64_t t = str_find(text, 't');
    if (t < 0 || !calendar_is_date(text_first(text, (uint32_t)t)))
        return false;
    struct str clock = text_from(text, (uint32_t)t + 1);
    t = str_find(clock, 't');
    clock = t < 0 ? clock : text_first(clock, (uint32_t)t);
    return fits(p, CLOCK, clock) && memcmp(clock.at, "23", 2) <= 0 &&
           memcmp(clock.at + 3, "59", 2) <= 0 && memcmp(clock.at + 6, "59", 2) <= 0;
}

static struct value check_datetime(struct pool *p, struct str s, struct value faults)
{
    return is_datetime(p, s) ? faults : fault(p, faults, STR_LITERAL("invalid datetime"));
}

static const struct format formats[] = {
    {"dns1123Label", 30, check_label},
    {"dns1123Subdomain", 60, check_subdomain},
    {"dns1035Label", 30, check_old_label},
    {"qualifiedName", 60, check_qualified_name},
    {"dns1123LabelPrefix", 30, check_label_prefix},
    {"dns1123SubdomainPrefix", 60, check_subdomain_prefix},
    {"dns1035LabelPrefix", 30, check_old_label_prefix},
    {"labelValue", 40, check_label_value},
    {"uri", 1103, check_uri}, /* upstream checks no pattern either, and counts a long one */
    {"uuid", sizeof(UUID) - 1, check_uuid},
    {"byte", 84, check_byte},
    {"date", sizeof(CLOCK) - 1, check_date},
    {"datetime", sizeof(CLOCK) - 1, check_datetime},
};

const struct format *format_named(struct str name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (str_is(name, formats[i].name))
            return &formats[i];
    return NULL;
}

/* ---- calls ---- */

/* format.NAME(), which the checker has found by its name. */
struct value fn_format(const struct call *c)
{
    const char *name = c->node->candidates[0].overload->function;
    return (struct value){.kind = V_format,
                          .format = format_named(str_of(name + sizeof("format.") - 1))};
}

struct value fn_format_named(const struct call *c)
{
    struct value v = {.kind = V_format, .format = format_named(c->args[0].text)};
    return v.format == NULL ? value_none() : value_some(c->pool, v);
}

struct value fn_format_validate(const struct call *c)
{
    struct value faults = list_new(c->pool, 0);
    faults = c->args[0].format->check(c->pool, c->args[1].text, faults);
    return faults.list->count == 0 ? value_none() : value_some(c->pool, faults);
}
