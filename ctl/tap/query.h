/* query: what `berth tap --where` asks of a message, as a small language over the fields that
 * messages.def declares:
 *
 *     query      := term { "or" term }
 *     term       := factor { "and" factor }
 *     factor     := "not" factor | "(" query ")" | field [ operator value ]
 *     operator   := "==" | "!=" | "<" | "<=" | ">" | ">=" | "~"
 *     value      := word | number | "true" | "false" | "text in quotes" | 'the same'
 *
 * A field is one of query_names, or a field of a message, or of a record in it, however deep:
 * "reason", "pod.priority"; "body.cycle" is one of the message's own. A field may have several
 * values (those of lists, or of several records): == < <= > >= and ~ hold if one value fulfils
 * them, != if there is a value and none is that. A field alone holds if a value is not zero or
 * empty. */
#ifndef CTL_TAP_QUERY_H
#define CTL_TAP_QUERY_H

#include "proto/base/buffer.h"
#include "proto/messages.h"

#define QUERY_TEXT_MAX  4096 /* bytes of a query */
#define QUERY_DEPTH_MAX 32   /* of parentheses and nots */

struct query;

/* One message, with what is known beside its body. */
struct query_subject {
    const struct message *message;
    const struct envelope *envelope;
    const struct tapped *tapped;
    const int64_t *attempts; /* numbers of the attempts that it belongs to */
    size_t attempt_count;
};

/* NULL when it makes no sense; error is then "column N: …" without a line end, and column N,
 * counted in characters from 1. */
struct query *query_parse(const char *text, struct buffer *error, uint32_t *column);
void query_free(struct query **query);
bool query_holds(const struct query *query, const struct query_subject *subject);
/* Whether it makes a difference which attempt a message belongs to. */
bool query_asks_attempts(const struct query *query);

#endif
