/* coverage: a table of counters for what a run has reached, found by their words with a hash. */
#include "tests/simulation/coverage.h"

#include "proto/base/str.h"

#include <stdlib.h>
#include <string.h>

static struct coverage *into;

void coverage_into(struct coverage *c)
{
    into = c;
}

static struct covered *add(struct coverage *c, const char *kind, const char *name)
{
    if (c->count == COVERAGE_MAX)
        return NULL;
    struct covered *added = &c->at[c->count++];
    added->count = 0;
    snprintf(added->kind, sizeof(added->kind), "%s", kind);
    snprintf(added->name, sizeof(added->name), "%s", name);
    return added;
}

static struct covered *find(struct coverage *c, const char *kind, const char *name)
{
    uint64_t at = str_hash(str_of(name)) + str_hash(str_of(kind));
    for (;; at++) {
        uint16_t *slot = &c->slots[at % COVERAGE_SLOTS];
        struct covered *there = *slot != 0 ? &c->at[*slot - 1] : NULL;
        if (there == NULL) {
            there = add(c, kind, name);
            *slot = there != NULL ? (uint16_t)c->count : 0;
            return there;
        }
        if (strcmp(there->name, name) == 0 && strcmp(there->kind, kind) == 0)
            return there;
    }
}

void cover(const char *kind, const char *name)
{
    struct covered *found = into != NULL ? find(into, kind, name) : NULL;
    if (found != NULL)
        found->count++;
}

void coverage_known(const char *kind, const char *name)
{
    if (into != NULL)
        find(into, kind, name);
}

void coverage_add(struct coverage *to, const struct coverage *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        struct covered *found = find(to, from->at[i].kind, from->at[i].name);
        if (found != NULL)
            found->count += from->at[i].count;
    }
}

static int by_words(const void *a, const void *b)
{
    const struct covered *one = a, *other = b;
    int kinds = strcmp(one->kind, other->kind);
    return kinds != 0 ? kinds : strcmp(one->name, other->name);
}

uint32_t coverage_missing(const struct coverage *c)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < c->count; i++)
        missing += c->at[i].count == 0;
    return missing;
}

void coverage_print(struct coverage *c, FILE *to)
{
    memset(c->slots, 0, sizeof(c->slots)); /* nobody counts any more */
    qsort(c->at, c->count, sizeof(c->at[0]), by_words);
    for (uint32_t i = 0; i < c->count; i++)
        fprintf(to, "  %-22s %-38s %12llu%s\n", c->at[i].kind, c->at[i].name,
                (unsigned long long)c->at[i].count, c->at[i].count == 0 ? "  NEVER" : "");
}
