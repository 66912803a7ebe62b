/* ruling: what the filters say of one node, as numbers and pointers; words come later, and only for
 * what is shown (the record verdict of messages.def). */
#ifndef SCHEDULER_RULES_RULING_H
#define SCHEDULER_RULES_RULING_H

#include "proto/messages.h"

#include <stdint.h>

/* Status codes with upstream's numbers, in the order of the words of verdict_code. */
enum code {
    CODE_success = 0,
    CODE_error = 1,
    CODE_unschedulable = 2, /* removing pods may help */
    CODE_unresolvable = 3,  /* UnschedulableAndUnresolvable: removing pods cannot help */
};

/* The same as a word of a verdict, and its text. */
enum verdict_code code_verdict(enum code code);
const char *code_name(enum code code);

/* A constant text with, for some, a name behind it ("Insufficient " + "example.com/gpu"). Two
 * reasons of one cycle are the same when both pointers are, so that counting compares no bytes. */
struct reason {
    const char *text;
    struct str what;
};

/* A cycle owns one and reuses it for every node; room is enough for the pod at hand. */
struct ruling {
    enum code code;
    uint32_t plugin;  /* index in framework.filter of the first that rejected */
    uint64_t plugins; /* bits of all that did; more than one only if the profile checks all */
    uint32_t count, room;
    struct reason *reasons;
};

/* Adds a reason; the code becomes the worse of the two. what may be empty. */
void ruling_reject(struct ruling *r, enum code code, const char *text, struct str what);

#endif
