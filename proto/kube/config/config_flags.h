/* config_flags: kube-scheduler's flags for leader election and the API server, for a process's own
 * options (proto/bus/options.h).
 *
 * The process's table holds CONFIG_FLAG_OPTIONS among its rows, and its own_state begins with a
 * struct config_flags. Flags that were given override the configuration file. */
#ifndef KUBE_CONFIG_CONFIG_FLAGS_H
#define KUBE_CONFIG_CONFIG_FLAGS_H

#include "proto/kube/config/config_file.h"

#include <stdbool.h>

/* What was given on the command line; zero means not given. Texts borrow from argv. */
struct config_flags {
    bool has_leader_elect, leader_elect;
    struct span lease_duration, renew_deadline, retry_period;
    bool has_lease_duration, has_renew_deadline, has_retry_period;
    const char *resource_name, *resource_namespace, *resource_lock;
    const char *kubeconfig, *master;
    bool disable_preemption;
    int64_t release; /* a minor version that there is a table for */
    const char *feature_gates;
    /* Deprecated by upstream, which ignores them beside a file. */
    const char *qps_text, *burst_text, *content_type;
    double qps;
    int64_t burst;
    bool has_profiling, profiling, has_contention, contention;
};

/* A boolean flag's value, as Go's ParseBool has it. */
bool config_flag_truth(const char *value, bool *truth);

bool config_take_leader_elect(void *state, const char *value);
bool config_take_lease_duration(void *state, const char *value);
bool config_take_renew_deadline(void *state, const char *value);
bool config_take_retry_period(void *state, const char *value);
bool config_take_resource_lock(void *state, const char *value);
bool config_take_resource_name(void *state, const char *value);
bool config_take_resource_namespace(void *state, const char *value);
bool config_take_kubeconfig(void *state, const char *value);
bool config_take_master(void *state, const char *value);
bool config_take_qps(void *state, const char *value);
bool config_take_burst(void *state, const char *value);
bool config_take_content_type(void *state, const char *value);
bool config_take_profiling(void *state, const char *value);
bool config_take_contention(void *state, const char *value);
bool config_take_disable_preemption(void *state, const char *value);
bool config_take_release(void *state, const char *value);
bool config_take_feature_gates(void *state, const char *value);

/* clang-format off */
#define CONFIG_FLAG_OPTIONS                                                                        \
    {"leader-elect", "[true|false]", "hold the lease before writing anything (default: true)",       \
     config_take_leader_elect},                                                                    \
    {"leader-elect-lease-duration", "TIME", "how long others wait before taking over (15s)",       \
     config_take_lease_duration},                                                                  \
    {"leader-elect-renew-deadline", "TIME", "how long the leader tries to renew (10s)",            \
     config_take_renew_deadline},                                                                  \
    {"leader-elect-retry-period", "TIME", "pause between two tries (2s)",                          \
     config_take_retry_period},                                                                    \
    {"leader-elect-resource-lock", "leases", "kind of the lock; there is no other",                \
     config_take_resource_lock},                                                                   \
    {"leader-elect-resource-name", "NAME", "name of the lease (kube-scheduler)",                   \
     config_take_resource_name},                                                                   \
    {"leader-elect-resource-namespace", "NAME", "namespace of the lease (kube-system)",            \
     config_take_resource_namespace},                                                              \
    {"kubeconfig", "FILE", "how to reach the API server, unless --config names one",                 \
     config_take_kubeconfig},                                                                      \
    {"master", "URL", "API server, instead of the one in the kubeconfig", config_take_master},      \
    {"kube-api-qps", "N", "requests a second, unless --config is given (no limit)",                  \
     config_take_qps},                                                                             \
    {"kube-api-burst", "N", "requests at once beyond that, unless --config is given (100)",          \
     config_take_burst},                                                                           \
    {"kube-api-content-type", "TYPE", "protobuf or JSON, unless --config is given (protobuf)",      \
     config_take_content_type},                                                                    \
    {"profiling", "[true|false]", "serve /debug/pprof (no effect here)", config_take_profiling},     \
    {"contention-profiling", "[true|false]", "with it, of blocking (no effect here)",                \
     config_take_contention}
/* clang-format on */
/* For what decides: profiles without the plugin DefaultPreemption. */
#define CONFIG_PREEMPTION_OPTION                                                                   \
    {                                                                                              \
        "disable-preemption", "[true|false]",                                                      \
            "never evict a pod to make room for another (false)", config_take_disable_preemption   \
    }

/* For what decides: as which release, and with which feature gates. */
/* clang-format off */
#define CONFIG_RELEASE_OPTIONS                                                                     \
    {"release", "VERSION",                                                                         \
     "decide as kube-scheduler of that release: 1.36 or 1.37 (default: the API server's)",         \
     config_take_release},                                                                         \
    {"feature-gates", "LIST", "Name=true|false, as kube-scheduler's of that release",              \
     config_take_feature_gates}
/* clang-format on */

#define CONFIG_GATES_ROOM 1024 /* for the names of gates that are left out */

/* Whether the feature gates may be given: to the release that is given or, where none is, to some
 * release. False with error. */
bool config_flags_check(const struct config_flags *flags, char *error, size_t room);
/* What decides as that release; left: the gates that it has no place for, "" if there are none. */
struct features config_flags_features(const struct config_flags *flags, int64_t minor, char *left,
                                      size_t room);
/* The releases that it may come to decide as: the one that was given, or all. */
void config_flags_range(const struct config_flags *flags, int64_t *first, int64_t *last);
/* Reads the file as of the release that was given or, where none was, of the oldest that takes the
 * file, until the API server's is known; and puts the flags over it. */
bool config_flags_load(const struct config_flags *flags, const char *path,
                       struct scheduler_config *config, struct arena *a, struct str *error);
/* Of the file and the flags, whatever release and gates it is read with, so that it is the same for
 * all processes. config: what was made of it. */
int64_t config_flags_hash(const struct config_flags *flags, const char *path,
                          const struct scheduler_config *config);
/* Puts what was given over what the file says; then checks leader election again. The one exception
 * is the kubeconfig, where what the file names comes first, as upstream has it (there the flag does
 * not count at all beside a file). */
bool config_flags_apply(const struct config_flags *flags, struct scheduler_config *config,
                        struct arena *a, struct str *error);

#endif
