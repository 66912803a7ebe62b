/* semver: semantic versions 2.0.0 as github.com/blang/semver reads and orders them. */
#ifndef CEL_SEMVER_H
#define CEL_SEMVER_H

#include "scheduler/cel/pool.h"

struct semver {
    uint64_t major, minor, patch;
    struct str pre;   /* what stands between - and +: "rc.1"; empty when there is none */
    struct str build; /* what stands behind the +: the same */
};

/* NULL and *error when it is none. Borrows the text. */
const struct semver *semver_parse(struct pool *p, struct str text, struct str *error);
/* Reads also v1, 1.2 and leading zeros, as semver(text, true) does. */
const struct semver *semver_parse_loose(struct pool *p, struct str text, struct str *error);
/* As upstream writes it. */
struct str semver_text(struct pool *p, const struct semver *v);
/* -1, 0, 1; build data does not count. */
int semver_compare(const struct semver *a, const struct semver *b);

#endif
