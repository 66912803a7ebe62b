/* config_file: KubeSchedulerConfiguration v1 (YAML or JSON), checked, defaulted and expanded; older
 * versions are read as what they are in v1.
 *
 * Decoding is strict, defaults and error texts are upstream's. What this scheduler cannot honour
 * yet is refused by name ("not supported yet: …") rather than ignored; what is accepted without
 * having an effect is listed in the notes. */
#ifndef KUBE_CONFIG_CONFIG_FILE_H
#define KUBE_CONFIG_CONFIG_FILE_H

#include "proto/base/buffer.h"
#include "proto/base/moment.h"
#include "proto/kube/documents/json.h"
#include "proto/kube/release/release.h"
#include "proto/messages.h"

/* Most extenders that may be configured: sets of them are bits, and 16 are for plugins on the bus.
 */
#define EXTENDERS_MAX 48
/* Plugins of one file that are processes on the bus: sets of them are bits. */
#define CONFIG_BUS_PLUGINS_MAX 16
#define CONFIG_BUS_NAME_MAX    63 /* letters of the name of one; the bus takes one more */

/* Extension points, in the order in which upstream walks them. */
/* clang-format off */
enum config_point {
#define POINT(point, field, type, processes) POINT_##point,
#include "proto/plugins.def"
    POINT_COUNT
};
/* clang-format on */

/* Optional fields of a default constraint that are there with nothing in them: they are written
 * back. An empty nodeAffinityPolicy is not Honor, as one that is not there is; so it is kept as
 * Ignore. */
struct empty_fields {
    bool min_domains, node_affinity_policy, node_taints_policy;
};

/* Arguments of plugins after defaulting; what deciding needs is in struct profile, too. */
struct plugin_args {
    int64_t preemption_percentage, preemption_absolute;
    int64_t hard_pod_affinity_weight;
    bool has_hard_weight, has_bind_timeout; /* the file says them */
    bool ignore_preferred_terms;
    struct str spread_defaulting; /* System or List */
    struct {
        uint32_t count;
        struct spread_constraint *at;
        struct empty_fields *empty; /* of each constraint */
    } spread_constraints;
    int64_t volume_bind_timeout_s;
    struct span claim_filter_timeout, claim_binding_timeout;
    bool no_claim_filter_timeout, no_claim_binding_timeout; /* their gates are off */
    bool has_added_affinity; /* addedAffinity is there, if only as {} */
    bool has_required_terms; /* its nodeSelectorTerms are, if only as [] */
    struct {
        uint32_t count;
        struct other_args *at;
    } others;
};

/* What a file gives to a plugin that takes no arguments: kept for printing. */
struct other_args {
    struct str name, json; /* json empty: no args */
};

/* The rest of a profile: what runs at points that struct profile does not carry, and arguments. */
struct profile_details {
    struct strs points[POINT_COUNT];
    struct plugin_args args;
    bool has_percentage;      /* the profile has a percentageOfNodesToScore of its own */
    struct plugin_sets *sets; /* as the file has them, merged with the defaults */
};

/* An HTTP extender as the file has it, after defaulting. Texts may be empty: not given. */
struct extender_config {
    struct str url_prefix;
    struct str filter_verb, preempt_verb, prioritize_verb, bind_verb; /* empty: not its business */
    int64_t weight;         /* positive whenever there is a prioritize_verb */
    bool https;             /* enableHTTPS: verified only when a CA is given, as upstream */
    bool has_tls;           /* tlsConfig is there */
    bool insecure;          /* tlsConfig.insecure */
    struct str server_name; /* for SNI and the certificate; empty: the URL's host */
    struct str cert_file, key_file, ca_file;
    struct str cert, key, ca; /* PEM, decoded; each comes before its file */
    struct span http_timeout; /* 5 s unless given; negative: none */
    bool node_cache_capable;  /* names of nodes are sent instead of nodes */
    bool ignorable;           /* its failures do not fail a pod */
    struct {
        uint32_t count; /* 0: interested in every pod */
        struct extender_resource {
            struct str name;
            bool ignored; /* ignoredByScheduler: NodeResourcesFit does not look at it */
        } * at;
    } managed;
};

/* What a file of an old version says beside profiles, or in their place. */
struct old_config {
    struct str scheduler_name;          /* empty: none */
    struct str policy;                  /* of a provider, as text */
    struct str policy_file;             /* where one is read from; empty: none */
    struct str map_namespace, map_name; /* or a ConfigMap, which this does not read; empty: none */
    int64_t bind_timeout_s, hard_weight;
    bool has_bind_timeout, has_hard_weight, disable_preemption;
};

struct scheduler_config {
    struct features features; /* the release whose file this is, and what its gates say */
    bool leader_elect;
    struct span lease_duration, renew_deadline, retry_period;
    struct str resource_lock; /* "leases" whenever leader_elect */
    struct str lease_name, lease_namespace;
    struct str kubeconfig;                         /* clientConnection.kubeconfig; empty: none */
    struct str content_type, accept_content_types; /* see scheduler_config_protobuf_* */
    double qps;                                    /* negative: unlimited */
    int64_t burst;
    bool rate_given;                      /* somebody wrote qps or burst down */
    bool from_file;                       /* not the defaults of no file */
    int64_t parallelism;                  /* accepted; the number of workers decides */
    int64_t percentage_of_nodes_to_score; /* 0: all */
    int64_t pod_initial_backoff_s, pod_max_backoff_s;
    bool profiling, contention_profiling; /* accepted, without effect */
    bool delay_cache;                     /* delayCacheUntilActive: accepted, without effect */
    struct {
        uint32_t count; /* at least 1 */
        struct profile *at;
    } profiles;
    struct profile_details *details; /* one a profile */
    struct {
        uint32_t count;
        struct extender_config *at; /* in the file's order */
    } extenders;
    /* A ConfigMap that it names is still to be read, and taken by scheduler_config_take_policy. */
    struct old_config old;
    struct str unsupported; /* why a file was refused that kube-scheduler would take; else empty */
    struct strs notes; /* one line each for what was accepted without effect; worth a warning */
};

/* Reads a file as kube-scheduler of that release and with these feature gates would; path NULL
 * gives its defaults. Where gangs are on GangScheduling is one of the defaults, and where it is
 * enabled PodGroups of scheduling.k8s.io count; where they are off a profile that enables it gets a
 * note. Everything in config lives in the arena. On failure returns false, with the reason (which
 * begins with the path) in error. */
bool scheduler_config_load(const char *path, struct features features,
                           struct scheduler_config *config, struct arena *a, struct str *error);
/* The same from text, and from a document that is parsed already. */
bool scheduler_config_parse(struct str text, struct features features,
                            struct scheduler_config *config, struct arena *a, struct str *error);
bool scheduler_config_parse_json(const struct kube_json *document, struct features features,
                                 struct scheduler_config *config, struct arena *a,
                                 struct str *error);

/* The whole configuration as YAML that reads back as the same: every default written out, every
 * plugin at the points where it runs. */
void scheduler_config_print(const struct scheduler_config *config, struct buffer *out);
/* The same as kube-scheduler's --write-config-to has it, to the letter: plugins as the file names
 * them, merged with the defaults. As YAML, and as JSON. */
void scheduler_config_write(const struct scheduler_config *config, struct buffer *out);
void scheduler_config_write_json(const struct scheduler_config *config, struct buffer *out);
/* Whether lists, watches and answers may come as protobuf: acceptContentTypes names it or, left
 * empty, contentType does. Other types than protobuf and JSON are not spoken; JSON always is. */
bool scheduler_config_protobuf_read(const struct scheduler_config *config);
/* Whether bodies go out as protobuf where there is one for them: contentType says so. */
bool scheduler_config_protobuf_written(const struct scheduler_config *config);
/* Equal configurations have equal hashes; never 0. */
int64_t scheduler_config_hash(const struct scheduler_config *config);
/* The same of the extenders alone. */
int64_t scheduler_config_extenders_hash(const struct scheduler_config *config);
/* Checks that depend on values the command line may have changed: upstream's leader election
 * checks. False with error. */
bool scheduler_config_check_leader(const struct scheduler_config *config, struct arena *a,
                                   struct str *error);

#endif
