/* calendar: durations and points in time as text and as fields, as Go's package time has them. */
#ifndef CEL_CALENDAR_H
#define CEL_CALENDAR_H

#include "scheduler/cel/value.h"

/* A point in time on the clock and the calendar of one zone. */
struct calendar_fields {
    int64_t year;
    uint32_t month, day;  /* from 1 on */
    uint32_t day_of_year; /* from 0 on */
    uint32_t weekday;     /* 0: Sunday */
    uint32_t hour, minute, second;
};

/* time.ParseDuration: false for what it refuses; nanoseconds. */
bool calendar_read_duration(struct str s, int64_t *nanos);
/* "1.5s": seconds in the shortest way. */
void calendar_print_duration(struct buffer *b, int64_t nanos);
/* Whole units of so many nanoseconds by way of a double, which may round up, as upstream. */
int64_t calendar_units(int64_t nanos, int64_t unit);
/* time.Parse(time.RFC3339, s), with all that it forgives; false for what it refuses. */
bool calendar_read_stamp(struct str s, struct stamp *out);
/* Whether it is a day, written as 2006-01-02. */
bool calendar_is_date(struct str s);
/* time.RFC3339Nano, in the stamp's zone. */
void calendar_print_stamp(struct buffer *b, const struct stamp *stamp);
/* seconds since 1970 in UTC, seen so many seconds east of it. */
struct calendar_fields calendar_fields_of(int64_t seconds, int64_t offset);

#endif
