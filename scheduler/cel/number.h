/* number: numbers as text and as each other, as Go's strconv and cel-go do it. */
#ifndef CEL_NUMBER_H
#define CEL_NUMBER_H

#include "proto/base/buffer.h"
#include "proto/base/str.h"

/* The shortest text that reads back as the same double, in Go's %g: 1e+06, 0.1, NaN, +Inf. */
void number_print_double(struct buffer *b, double d);
/* The same without an exponent, as strconv.FormatFloat(d, 'f', -1, 64). */
void number_print_plain(struct buffer *b, double d);
/* Whether it is a whole number within the range; sets it. */
bool number_double_is_int(double d, int64_t *whole);
bool number_double_is_uint(double d, uint64_t *whole);
/* strconv.ParseInt(s, 10, 64) and its like: false for anything else and for what is out of range.
 */
bool number_parse_int(struct str s, int64_t *value);
bool number_parse_uint(struct str s, uint32_t base, uint64_t *value);
bool number_parse_double(struct str s, double *value);
/* Go's math.Pow10. */
double number_power_of_ten(int exponent);

#endif
