/* commit: which commit of its sources a program was built from. The Makefile asks git, or is told
 * (BERTH_COMMIT=…); nothing is known of a build outside of git that was told nothing. */
#ifndef COMMIT_H
#define COMMIT_H

/* The full hash; "" when it is not known. */
const char *commit_hash(void);
/* Whether tracked files differed from it: "clean" or "dirty", as git calls it; "" when it is not
 * known. */
const char *commit_tree(void);
/* What follows the version where that is shown: " (commit 0123456789ab)", with ", modified" in it
 * where files differed; "" when the commit is not known. */
const char *commit_text(void);

#endif
