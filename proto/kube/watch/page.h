/* page: cuts a page of a list, in JSON or in protobuf, that arrives in pieces into its objects, so
 * that no more than one of them is held at a time.
 *
 *   page_feed(&p, piece);
 *   while ((step = page_next(&p, &text)) == PAGE_head || step == PAGE_item) …
 *
 * The API server writes a list's metadata in front of its items. Where it stands behind them, as in
 * lists of custom resources, the page is kept whole: it has no head then, and no items of its own.
 */
#ifndef KUBE_WATCH_PAGE_H
#define KUBE_WATCH_PAGE_H

#include "proto/base/buffer.h"

enum page_form { PAGE_unknown, PAGE_json, PAGE_protobuf };

/* Zero-initialise and set max. */
struct page {
    size_t max;         /* longest item, in bytes; also of what is around the items */
    struct str rest;    /* what of the current piece is not cut yet */
    struct buffer torn; /* the beginning of what has not come whole yet */
    struct buffer kept; /* JSON: all but the items; protobuf: the list's metadata */
    enum page_form form;
    int state;
    bool metadata, headed; /* metadata has come; and was told */
    bool lent;             /* torn is what was given out last */
    /* JSON */
    uint32_t depth;           /* of open containers */
    bool quoted, escaped;     /* in a string; behind a backslash */
    size_t name_at, name_end; /* the last string of the list itself, in kept */
    /* protobuf */
    struct buffer type;  /* what the envelope says of itself */
    struct buffer body;  /* the head as it was told */
    bool begun;          /* behind the first bytes */
    bool opened;         /* behind the number and the length of a field, */
    bool numbered;       /* which is no text or message, */
    uint32_t field;      /* of this number, */
    uint64_t need, left; /* and of this length; bytes of the list that have not come */
};

/* Gives it the next piece (borrowed until page_next has returned PAGE_more or an error). */
void page_feed(struct page *p, struct str piece);
enum page_step { PAGE_more, PAGE_head, PAGE_item, PAGE_too_long, PAGE_malformed };
/* PAGE_head: the list without items, as a body of its own, once, before the first item. PAGE_item:
 * one object, as JSON or as a message without envelope. Both are borrowed until the next call. */
enum page_step page_next(struct page *p, struct str *text);
/* At the end of the answer: the list without the items that were told, as a body of its own,
 * borrowed until the next call; false when the answer was cut off. */
bool page_end(struct page *p, struct str *text);
/* For the next page. */
void page_reset(struct page *p);
void page_free(struct page *p);

#endif
