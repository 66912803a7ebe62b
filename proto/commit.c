/* commit: what the Makefile says in COMMIT, which is what git describes a tree by: a hash, and
 * "-dirty" behind it where files differ.
 *
 * What must stay true: only programs are linked with an object that knows the commit. The archive
 * that tests are linked with has this file without it, so that a commit does not link them all
 * again. */
#include "proto/commit.h"

#include <stdio.h>
#include <string.h>

#ifndef COMMIT
#define COMMIT ""
#endif

#define DIRTY       "-dirty"
#define HASH_MAX    64 /* SHA-256's */
#define SHOWN_MAX   12
#define HEXADECIMAL "0123456789abcdef"

static size_t hash_length(void)
{
    size_t len = strspn(COMMIT, HEXADECIMAL);
    return len <= HASH_MAX ? len : 0;
}

const char *commit_hash(void)
{
    static char hash[HASH_MAX + 1];
    memcpy(hash, COMMIT, hash_length());
    return hash;
}

const char *commit_tree(void)
{
    size_t len = hash_length();
    if (len == 0)
        return "";
    return strcmp(&COMMIT[len], DIRTY) == 0 ? "dirty" : "clean";
}

const char *commit_text(void)
{
    static char text[64];
    if (hash_length() > 0)
        snprintf(text, sizeof(text), " (commit %.*s%s)", SHOWN_MAX, commit_hash(),
                 strcmp(commit_tree(), "dirty") == 0 ? ", modified" : "");
    return text;
}
