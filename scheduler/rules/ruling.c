/* ruling: collects why a node is rejected. What must stay true: the code is the worst of what was
 * said, and reasons stay in the order in which they were given. */
#include "scheduler/rules/ruling.h"

#include "proto/base/must.h"

enum verdict_code code_verdict(enum code code)
{
    must((unsigned)code <= CODE_unresolvable);
    return (enum verdict_code)(VERDICT_success + code); /* they stand in one order */
}

const char *code_name(enum code code)
{
    return words_text(&verdict_code_words, code_verdict(code)).at;
}

void ruling_reject(struct ruling *r, enum code code, const char *text, struct str what)
{
    must(r->count < r->room);
    r->reasons[r->count++] = (struct reason){text, what};
    if (code > r->code)
        r->code = code;
}
