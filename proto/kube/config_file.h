/* config_file: KubeSchedulerConfiguration v1 (YAML or JSON), checked, defaulted and expanded.
 *
 * Decoding is strict, defaults and error texts are upstream's. What this scheduler cannot honour
 * yet is refused by name ("not supported yet: …") rather than ignored; what is accepted without
 * having an effect is listed in the notes. */
#ifndef KUBE_CONFIG_FILE_H
#define KUBE_CONFIG_FILE_H

#include "proto/base/buffer.h"
#include "proto/base/moment.h"
#include "proto/kube/json.h"
#include "proto/messages.h"

/* Extension points, in the order in which upstream walks them. */
enum config_point {
    POINT_pre_filter,
    POINT_filter,
    POINT_post_filter,
    POINT_reserve,
    POINT_pre_score,
    POINT_score,
    POINT_pre_bind,
    POINT_bind,
    POINT_post_bind,
    POINT_permit,
    POINT_pre_enqueue,
    POINT_queue_sort,
    POINT_placement_generate,
    POINT_placement_score,
    POINT_COUNT
};

/* Arguments of plugins after defaulting; what deciding needs is in struct profile, too. */
struct plugin_args {
    int64_t preemption_percentage, preemption_absolute;
    int64_t hard_pod_affinity_weight;
    bool ignore_preferred_terms;
    struct str spread_defaulting; /* System or List */
    struct {
        uint32_t count;
        struct spread_constraint *at;
    } spread_constraints;
    int64_t volume_bind_timeout_s;
    struct span claim_filter_timeout, claim_binding_timeout;
};

/* The rest of a profile: what runs at points that struct profile does not carry, and arguments. */
struct profile_details {
    struct strs points[POINT_COUNT];
    struct plugin_args args;
};

struct scheduler_config {
    bool leader_elect;
    struct span lease_duration, renew_deadline, retry_period;
    struct str resource_lock; /* "leases" whenever leader_elect */
    struct str lease_name, lease_namespace;
    struct str kubeconfig; /* clientConnection.kubeconfig; empty: none */
    struct str content_type,
        accept_content_types; /* accepted; requests are JSON whatever it says */
    double qps;               /* negative: unlimited */
    int64_t burst;
    int64_t parallelism; /* accepted; the number of workers decides */
    int64_t percentage_of_nodes_to_score;
    int64_t pod_initial_backoff_s, pod_max_backoff_s;
    bool profiling, contention_profiling; /* accepted, without effect */
    struct {
        uint32_t count; /* at least 1 */
        struct profile *at;
    } profiles;
    struct profile_details *details; /* one a profile */
    struct strs notes; /* one line each for what was accepted without effect; worth a warning */
};

/* Reads a file; path NULL gives the defaults. Everything in config lives in the arena. On failure
 * returns false, with the reason (which begins with the path) in error. */
bool scheduler_config_load(const char *path, struct scheduler_config *config, struct arena *a,
                           struct str *error);
/* The same from text, and from a document that is parsed already. */
bool scheduler_config_parse(struct str text, struct scheduler_config *config, struct arena *a,
                            struct str *error);
bool scheduler_config_parse_json(const struct kube_json *document, struct scheduler_config *config,
                                 struct arena *a, struct str *error);
/* The whole configuration as YAML that reads back as the same: every default written out, every
 * plugin at the points where it runs. */
void scheduler_config_print(const struct scheduler_config *config, struct buffer *out);
/* Checks that depend on values the command line may have changed: upstream's leader election
 * checks. False with error. */
bool scheduler_config_check_leader(const struct scheduler_config *config, struct arena *a,
                                   struct str *error);

#endif
