/* order: made-up words for words, one for each, so that everything that compares words finds what
 * it found before. A made-up word is as long as its word, has a lower-case letter, an upper-case
 * letter and a digit where that has one, begins like another's exactly as far as their words begin
 * alike, and stands in the order of bytes where its word stands. Texts that are put together of
 * words and of signs that stay therefore keep their order, their beginnings and their lengths. */
#ifndef CTL_REDACT_ORDER_H
#define CTL_REDACT_ORDER_H

#include "proto/base/str.h"

enum order_kind {
    ORDER_words,  /* letters and digits; digits stay, but for those behind five digits */
    ORDER_hex,    /* UIDs: digits among digits, a to f among these */
    ORDER_address /* dotted IPv4 addresses, which become such */
};

struct order;

struct order *order_new(enum order_kind kind);
void order_free(struct order **order);
/* A word that is to have a made-up one; one that stays takes part, so that the others keep their
 * order to it. Before order_draw. */
void order_add(struct order *o, struct str word, bool stays);
/* Whether it was added, and does not stay. */
bool order_changes(const struct order *o, struct str word);
/* Draws all made-up words. The same seed gives the same ones; ORDER_SECRET draws them from the
 * operating system, so that nobody who guesses a word can try whether it gives a made-up one. */
#define ORDER_SECRET 0
void order_draw(struct order *o, uint64_t seed);
/* The made-up word of a word, as long as that; the word itself where it was not added. Behind
 * order_draw. */
struct str order_of(const struct order *o, struct str word);

#endif
