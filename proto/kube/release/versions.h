/* versions: kube-scheduler's --emulated-version and --min-compatibility-version. */
#ifndef KUBE_RELEASE_VERSIONS_H
#define KUBE_RELEASE_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both as given, `1.36` or `kube=1.36`; NULL or "": not given. What the newest release's
 * kube-scheduler takes is taken, if there is a table for it, and what it refuses is refused in its
 * words. *release: the minor version to decide as; 0: none was named. */
bool versions_read(const char *emulated, const char *compatible, int64_t *release, char *error,
                   size_t room);

#endif
