/* release: what a Kubernetes release is to the scheduler.
 *
 * A release is one table (release_1_36.def, release_1_37.def): feature gates with their stage and
 * default, what each needs, the order of rules where it is another, and points that rules do not
 * extend in it. What a decision depends on goes with every profile as a struct features
 * (proto/messages.def), so that it is the same for all who decide. */
#ifndef KUBE_RELEASE_RELEASE_H
#define KUBE_RELEASE_RELEASE_H

#include "proto/messages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RELEASE_OLDEST = 36, RELEASE_NEWEST = 37 };

/* What becomes of a gate's other value than its default. */
enum gate_effect {
    GATE_LOCKED,    /* kube-scheduler refuses it, too */
    GATE_REFUSED,   /* it would change what the scheduler does, and that is not supported */
    GATE_HONOURED,  /* both values do what they do with kube-scheduler */
    GATE_SAME,      /* the scheduler reads it, and decides the same with either value */
    GATE_LIBRARY,   /* only libraries that kube-scheduler is linked from read it */
    GATE_ELSEWHERE, /* nothing in kube-scheduler reads it */
};

struct release_gate {
    const char *name, *stage; /* "", ALPHA, BETA or DEPRECATED */
    bool by_default;
    enum gate_effect otherwise;
};

/* A gate that is on takes another one that is on; in the order of names. */
struct release_need {
    const char *name, *need;
};

/* Which member of struct features (a bool) a gate is. */
struct release_feature {
    const char *gate;
    size_t offset;
};

/* In the default list first comes before second, other than in proto/plugins.def. */
struct release_order {
    const char *first, *second;
};

/* A plugin of proto/plugins.def that does not extend one of its points. */
struct release_without {
    const char *plugin, *point;
};

struct kube_release {
    int64_t minor;
    const char *version; /* "1.36" */
    const char *full;    /* "1.36.3": whose decisions these are */
    size_t without_count;
    size_t gate_count, need_count, feature_count, order_count, lack_count;
    const struct release_gate *gates; /* in the order of names */
    const struct release_need *needs;
    const struct release_feature *features;
    const struct release_order *orders;
    const char *const *lacks; /* fields of a configuration */
    const struct release_without *without;
};

/* The release of that minor version, or the nearest one that there is a table for. */
const struct kube_release *release_of(int64_t minor);
/* "1.36", also behind "kube=": its minor version, which there is a table for. False for any other.
 */
bool release_read(const char *text, int64_t *minor);
/* Whether a configuration of that release may have a field of that name, which some release has. */
bool release_knows(int64_t minor, const char *field);
/* Whether a plugin extends a point, by its field's name, which it extends in some release; point
 * "": whether there is that plugin, which there is in some release. */
bool release_extends(int64_t minor, struct str plugin, const char *point);
/* What decides in that release with every gate at its default. */
struct features release_features(int64_t minor);

#endif
