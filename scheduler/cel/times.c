/* times: duration() and timestamp(), and the parts of both. What must stay true: without a zone,
 * and with one whose name is UTC, a timestamp's fields are those of UTC, whatever zone it was
 * written in. */
#include "scheduler/cel/calendar.h"
#include "scheduler/cel/functions.h"
#include "scheduler/cel/number.h"
#include "scheduler/cel/text.h"
#include "scheduler/cel/zones.h"

#include <string.h>

#define SECONDS_MIN (-INT64_C(62135596800)) /* 0001-01-01T00:00:00Z */
#define SECONDS_MAX INT64_C(253402300799)   /* 9999-12-31T23:59:59Z */
#define MILLISECOND INT64_C(1000000)
#define SECOND      (1000 * MILLISECOND)
#define MINUTE      (60 * SECOND)
#define HOUR        (60 * MINUTE)

static struct value refused(const struct call *c, const char *to)
{
    return (struct value){.kind = V_error,
                          .text = pool_print(c->pool, "type conversion error from '%s' to '%s'",
                                             value_type_name(c->args[0]), to)};
}

struct value fn_convert_to_duration(const struct call *c)
{
    struct value v = c->args[0], out = {.kind = V_duration};
    if (v.kind == V_duration)
        return v;
    if (v.kind != V_string || !calendar_read_duration(v.text, &out.number))
        return refused(c, "google.protobuf.Duration");
    return out;
}

struct value fn_convert_to_timestamp(const struct call *c)
{
    struct value v = c->args[0];
    struct stamp *stamp = pool_take(c->pool, sizeof(*stamp));
    if (v.kind == V_timestamp)
        return v;
    if (v.kind == V_int)
        stamp->seconds = v.number;
    else if (v.kind != V_string || !calendar_read_stamp(v.text, stamp))
        return refused(c, "google.protobuf.Timestamp");
    if (stamp->seconds < SECONDS_MIN || stamp->seconds > SECONDS_MAX)
        return value_error("timestamp overflow");
    return (struct value){.kind = V_timestamp, .stamp = stamp};
}

/* ---- the parts of a duration: each is all of it ---- */

struct value fn_duration_hours(const struct call *c)
{
    return value_int(calendar_units(c->args[0].number, HOUR));
}

struct value fn_duration_minutes(const struct call *c)
{
    return value_int(calendar_units(c->args[0].number, MINUTE));
}

struct value fn_duration_seconds(const struct call *c)
{
    return value_int(calendar_units(c->args[0].number, SECOND));
}

struct value fn_duration_milliseconds(const struct call *c)
{
    return value_int(c->args[0].number / MILLISECOND);
}

/* ---- zones ---- */

static bool all_digits(struct str s)
{
    uint32_t at = s.len > 0 && (s.at[0] == '-' || s.at[0] == '+'), first = at;
    while (at < s.len && s.at[at] >= '0' && s.at[at] <= '9')
        at++;
    return at == s.len && at > first;
}

static bool read_int(struct pool *p, struct str s, int64_t *number, struct value *error)
{
    if (number_parse_int(s, number))
        return true;
    *error = (struct value){
        .kind = V_error,
        .text = pool_print(p, "strconv.Atoi: parsing %.*s: %s", STR_ARG(text_quoted(p, s)),
                           all_digits(s) ? "value out of range" : "invalid syntax")};
    return false;
}

/* A path out of the database is none of its names. kube-scheduler's own zone is UTC. */
static bool read_zone_name(const struct call *c, struct str name, int64_t *offset,
                           struct value *error)
{
    if (name.len == 0 || str_is(name, "UTC") || str_is(name, "Local"))
        return true;
    bool odd = name.at[0] == '/' || name.at[0] == '\\' || text_find(name, STR_LITERAL("..")) >= 0;
    *error = value_error("time: invalid location name");
    return !odd && zones_offset(c->pool, name, c->args[0].stamp->seconds, offset, &error->text);
}

/* A zone by its name, or hours and minutes from it, whose sums wrap in upstream. */
static bool read_zone(const struct call *c, int64_t *offset, struct value *error)
{
    struct str zone = c->count > 1 ? c->args[1].text : STR_LITERAL("UTC");
    int64_t hours = 0, minutes = 0, colon = text_find(zone, STR_LITERAL(":"));
    *offset = 0;
    if (colon < 0)
        return read_zone_name(c, zone, offset, error);
    if (!read_int(c->pool, text_first(zone, (uint32_t)colon), &hours, error) ||
        !read_int(c->pool, text_from(zone, (uint32_t)colon + 1), &minutes, error))
        return false;
    uint64_t sum = (uint64_t)hours * 60;
    sum = zone.at[0] == '-' ? sum - (uint64_t)minutes : sum + (uint64_t)minutes;
    *offset = calendar_units((int64_t)(sum * (uint64_t)MINUTE), SECOND);
    return true;
}

/* ---- the fields of a timestamp ---- */

enum field { YEAR, MONTH, DAY_OF_YEAR, DAY_OF_MONTH, DATE, DAY_OF_WEEK, HOURS, MINUTES, SECONDS };

static struct value field_of(const struct call *c, enum field field)
{
    struct value error = {.kind = V_null};
    int64_t offset = 0;
    if (!read_zone(c, &offset, &error))
        return error;
    const struct calendar_fields f = calendar_fields_of(c->args[0].stamp->seconds, offset);
    switch (field) {
    case YEAR: return value_int(f.year);
    case MONTH: return value_int((int64_t)f.month - 1);
    case DAY_OF_YEAR: return value_int(f.day_of_year);
    case DAY_OF_MONTH: return value_int((int64_t)f.day - 1);
    case DATE: return value_int(f.day);
    case DAY_OF_WEEK: return value_int(f.weekday);
    case HOURS: return value_int(f.hour);
    case MINUTES: return value_int(f.minute);
    default: return value_int(f.second);
    }
}

struct value fn_time_full_year(const struct call *c)
{
    return field_of(c, YEAR);
}

struct value fn_time_month(const struct call *c)
{
    return field_of(c, MONTH);
}

struct value fn_time_day_of_year(const struct call *c)
{
    return field_of(c, DAY_OF_YEAR);
}

struct value fn_time_day_of_month(const struct call *c)
{
    return field_of(c, DAY_OF_MONTH);
}

struct value fn_time_date(const struct call *c)
{
    return field_of(c, DATE);
}

struct value fn_time_day_of_week(const struct call *c)
{
    return field_of(c, DAY_OF_WEEK);
}

struct value fn_time_hours(const struct call *c)
{
    return field_of(c, HOURS);
}

struct value fn_time_minutes(const struct call *c)
{
    return field_of(c, MINUTES);
}

struct value fn_time_seconds(const struct call *c)
{
    return field_of(c, SECONDS);
}

struct value fn_time_milliseconds(const struct call *c)
{
    struct value seconds = field_of(c, SECONDS); /* for the errors of a zone */
    return seconds.kind == V_error ? seconds : value_int(c->args[0].stamp->nanos / MILLISECOND);
}
