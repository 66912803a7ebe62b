/* json_string: the only place that writes strings in JSON, whoever reads them: the API server, an
 * extender, the log, a person.
 *
 * The quote, the backslash and bytes below 0x20 are escaped, as \" \\ \b \f \n \r \t and else
 * \u00XX; so does cJSON, and so does Go without its escapes for HTML. Each byte that is no part of
 * a UTF-8 character (utf8.h) is \ufffd, as in Go, so that what comes out is valid JSON whatever
 * goes in. All else stays as it is. A zero byte is \u0000, which cJSON's tree cannot hold. */
#ifndef JSON_STRING_H
#define JSON_STRING_H

#include "proto/base/buffer.h"

/* Most bytes that one byte of a text becomes. */
#define JSON_STRING_GROWTH 6

/* The text as a string, with its quotes: at most JSON_STRING_GROWTH bytes a byte and two. */
void json_string(struct buffer *out, struct str text);

/* The same bit by bit and without quotes, for who has no buffer: what the front of the text
 * becomes, either bytes of the text itself or an escape in room. Moves text on; call it until
 * nothing is left. */
struct str json_string_piece(struct str *text, char room[static JSON_STRING_GROWTH]);

#endif
