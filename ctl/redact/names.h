/* names: what a recording calls the things of a cluster, and what it calls them when it is
 * redacted. All texts of a recording are shown twice: first to be noted, then, behind names_draw,
 * to be changed where they stand; a text keeps its length. */
#ifndef CTL_REDACT_NAMES_H
#define CTL_REDACT_NAMES_H

#include "proto/base/buffer.h"

/* What a text is. */
enum text_class {
    TEXT_name,       /* names: each of its words is changed, but for those that always stay */
    TEXT_key,        /* of a label, a resource and the like: the same, and what Kubernetes or berth
                      * itself knows stays as a whole */
    TEXT_option,     /* of a configuration: stays if berth knows it, else it is a name */
    TEXT_words,      /* something said: names in it are changed, all else stays */
    TEXT_derived,    /* put together of names that stand elsewhere, such as a path */
    TEXT_figure,     /* a time or an amount stays, all else is a name */
    TEXT_expression, /* of CEL: names stand where it has any, all else is as something said */
    TEXT_hosts,      /* as TEXT_words, and what it says of hosts, files and programs is a name */
    TEXT_unread      /* nobody reads it: nothing of it is kept but its length */
};

struct names;

struct names *names_new(void);
void names_free(struct names **names);
/* A word (letters and digits) that is to stay; before anything is noted. */
void names_stay(struct names *n, struct str word);
/* UIDs are not changed from now on: where a core tells things in the order of their hashes, that is
 * another one under other UIDs. */
void names_keep_uids(struct names *n);
/* Notes the names in a text, or changes them in it. escaped: it stands in a JSON string, with
 * backslashes. */
void names_take(struct names *n, struct str text, enum text_class class, bool escaped);
/* Whether names_take changes a text, which must be in memory that may be written to then. */
bool names_change(const struct names *n);
/* Ends the noting; once more: others are drawn. The same seed and the same texts give the same
 * made-up names; ORDER_SECRET (order.h): nobody knows which. */
void names_draw(struct names *n, uint64_t seed);
/* A number that follows from names, such as a hash of the configuration, and what it becomes.
 * False: that was known. */
bool names_learn_number(struct names *n, uint64_t was, uint64_t becomes);
/* What a number becomes that may follow from names: most stay. */
uint64_t names_number(const struct names *n, uint64_t was);
/* Names that change and are words that berth says itself as well, with commas. */
void names_ambiguous(const struct names *n, struct buffer *out);
/* How many names there are that change. */
uint64_t names_count(const struct names *n);
/* A name of the cluster that stands in these bytes and is none of the made-up ones: none may,
 * behind names_draw. Words that berth says itself, and names of fewer than NAMES_SHORT bytes, which
 * other bytes may happen to be, are not looked for. Empty: there is none. Borrowed from the bytes.
 */
struct str names_left(const struct names *n, struct str bytes);
#define NAMES_SHORT 5

#endif
