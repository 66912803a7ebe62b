/* faces: how a Kubernetes release shows a metric. Processes count whatever any release counts; what
 * of it is on the page, and in which words, is decided here, when the page is made. */
#ifndef SERVE_FACES_H
#define SERVE_FACES_H

#include "proto/base/arena.h"
#include "proto/kube/release/release.h"
#include "proto/metrics.h"

/* Who looks: as which release, with which feature gates, which were checked before, and whether
 * what the release hides was asked for. */
struct release_view {
    const struct kube_release *release;
    const char *gates; /* "": all by default */
    bool hidden;
};

struct face {
    const char *stability, *help;
    const char *deprecated; /* since which version; NULL: it is not */
};

/* False: it is not on the page. */
bool face_of(const struct release_view *view, enum metric metric, struct face *face);
/* How many the release hides. */
int64_t faces_hidden(const struct release_view *view);
/* Whether the series is on the page, by its labels' values in the order of the declaration. */
bool face_shows(const struct release_view *view, enum metric metric, const struct str *labels);
/* The value of a label in the release's words; in the arena where it is another. */
struct str face_word(const struct release_view *view, const char *label, struct str value,
                     struct arena *a);

#endif
