/* kube_flags: those of kube-scheduler's flags that `berth run` takes besides its own, so that a
 * manifest for kube-scheduler starts berth with nothing but the image changed. */
#ifndef CTL_KUBE_FLAGS_H
#define CTL_KUBE_FLAGS_H

#include "ctl/policy_source.h"
#include "proto/bus/options.h"

#include <stdbool.h>
#include <stddef.h>

/* Texts are borrowed from argv; zero means not given. */
struct kube_flags {
    struct policy_flags policy; /* first: policy_source.h asks for it */
    const char *write_config_to;
    const char *unschedulable_max;     /* --pod-max-in-unschedulable-pods-duration */
    const char *gates;                 /* --feature-gates */
    const char *emulated, *compatible; /* --emulated-version, --min-compatibility-version */
    int64_t release;                   /* that the former names: a minor version; 0: none */
    struct {
        size_t count;
        const char *at[64];
    } unused; /* names of flags that were given and have no effect; a few more are not listed */
    char error[512];     /* why a value was refused */
    struct arena memory; /* of lists that were given in parts */
};

/* Which release the versions name; false, with the reason in f->error, when they are not taken. */
bool kube_flags_versions(struct kube_flags *f);

/* For options_read; the state is a struct kube_flags. */
extern const struct own_option kube_flag_options[];

#endif
