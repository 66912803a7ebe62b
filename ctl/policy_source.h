/* policy_source: where kube-scheduler's old flags take a Policy from: a file, a ConfigMap, or one
 * of the two algorithm providers. What it says stands in the place of profiles and extenders. */
#ifndef CTL_POLICY_SOURCE_H
#define CTL_POLICY_SOURCE_H

#include "proto/bus/options.h"
#include "proto/kube/config/config_file.h"

/* Texts are borrowed from argv; NULL means not given. */
struct policy_flags {
    const char *file;
    const char *config_map, *config_map_namespace;
    const char *provider;
    bool use_file; /* --use-legacy-policy-config: the file counts, whatever else is given */
    bool owned;    /* by policy_name */
};

bool policy_take_file(void *state, const char *value);
bool policy_take_config_map(void *state, const char *value);
bool policy_take_config_map_namespace(void *state, const char *value);
bool policy_take_use_file(void *state, const char *value);
bool policy_take_provider(void *state, const char *value);

/* Rows of a table whose state begins with a struct policy_flags. */
/* clang-format off */
#define POLICY_FLAG_OPTIONS                                                                        \
    {"policy-config-file", "FILE", "a Policy, in place of profiles and extenders",                 \
     policy_take_file},                                                                            \
    {"policy-configmap", "NAME", "a ConfigMap with one under the key policy.cfg, which comes first", \
     policy_take_config_map},                                                                      \
    {"policy-configmap-namespace", "NAME", "where that is (kube-system)",                          \
     policy_take_config_map_namespace},                                                            \
    {"use-legacy-policy-config", "[true|false]", "the file comes first (false)",                   \
     policy_take_use_file},                                                                        \
    {"algorithm-provider", "NAME", "DefaultProvider or ClusterAutoscalerProvider, as until 1.18",  \
     policy_take_provider}
/* clang-format on */

/* Whether any of them asks for a Policy. */
bool policy_given(const struct policy_flags *flags);
/* Where the flags name no Policy and the configuration (of v1alpha1) does, as a ConfigMap: as if
 * they named that one. What they point to then is given back by policy_unname. */
void policy_name(struct policy_flags *flags, const struct scheduler_config *config);
void policy_unname(struct policy_flags *flags);
/* The file that is read, if it is one; else NULL. */
const char *policy_file(const struct policy_flags *flags);
/* Where a ConfigMap is read when the configuration names no kubeconfig; both may be NULL. */
struct policy_server {
    const char *kubeconfig, *master;
};
/* Reads the Policy and puts it into the configuration (scheduler_config_take_policy). A ConfigMap
 * is read from the API server that config->kubeconfig, or else the server's, names, which takes ten
 * seconds at most. Without a Policy all stays. False, with the reason in error, which lives in the
 * arena. */
bool policy_apply(const struct policy_flags *flags, struct policy_server server,
                  struct scheduler_config *config, struct arena *a, struct str *error);
/* The same with a text that was read already. */
bool policy_take(struct str text, struct scheduler_config *config, struct arena *a,
                 struct str *error);

/* A ConfigMap that is looked at again and again, without ever waiting for the answer. */
#define POLICY_MAP_MS 15000
struct policy_map;

/* NULL when the Policy comes from elsewhere; all of the following take that, too. */
struct policy_map *policy_map_new(const struct policy_flags *flags, struct policy_server server);
void policy_map_free(struct policy_map **map);
/* Does what is due. True when it says something else than at the last look, or cannot be read for
 * another reason (error); the first look always is something else. */
bool policy_map_look(struct policy_map *map, struct moment now, struct str *text, struct arena *a,
                     struct str *error);
/* To wait on: -1 for none, and when to look whatever comes. */
int policy_map_fd(const struct policy_map *map);
struct moment policy_map_deadline(const struct policy_map *map, struct moment now);

#endif
