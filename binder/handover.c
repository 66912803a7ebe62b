/* handover: the words of the annotation, and who may say which. What must stay true: a lease is
 * given up only behind an answer to the wish of this very term, which is so because every write of
 * a leader that does not wish takes the annotation away, and an offer can only replace a wish. */
#include "binder/handover.h"

#define WISH  "relief wanted by "
#define OFFER "relief offered by "

struct span handover_leaves(struct span duration, struct span retry_period)
{
    return (struct span){duration.ns + 2 * retry_period.ns};
}

bool handover_asks(const struct handover *h, struct moment now, struct span duration)
{
    struct moment earliest = moment_after(h->led_since, (struct span){2 * duration.ns});
    return h->sick != NULL && moment_reached(now, earliest);
}

void handover_put_wish(struct buffer *out, const char *identity)
{
    buffer_print(out, WISH "%s", identity);
}

void handover_put_offer(struct buffer *out, const char *identity)
{
    buffer_print(out, OFFER "%s", identity);
}

/* Who else says that; empty: nobody. */
static struct str says(struct str annotation, const char *what, const char *identity)
{
    struct str head = str_of(what);
    if (!str_starts_with(annotation, what))
        return (struct str){NULL, 0};
    struct str who = {annotation.at + head.len, annotation.len - head.len};
    return str_is(who, identity) ? (struct str){NULL, 0} : who;
}

bool handover_answers(const struct handover *h, struct str annotation, struct str holder,
                      const char *identity)
{
    struct str who = says(annotation, WISH, identity);
    return h->ready && who.len > 0 && str_equal(who, holder);
}

bool handover_offered(struct str annotation, const char *identity)
{
    return says(annotation, OFFER, identity).len > 0;
}
