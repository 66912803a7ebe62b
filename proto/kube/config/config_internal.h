/* config_internal: what the parts of the configuration loader share; nobody else includes it. */
#ifndef KUBE_CONFIG_CONFIG_INTERNAL_H
#define KUBE_CONFIG_CONFIG_INTERNAL_H

#include "proto/kube/config/config_duration.h"
#include "proto/kube/config/config_file.h"
#include "proto/kube/documents/cursor.h"

/* One load. Wrong types end up in the reading (the first counts and is final), unknown fields in
 * strict, values that make no sense in invalid: in this order they are reported. */
struct loading {
    struct features features; /* the file is read as of that release */
    struct reading reading;
    struct buffer strict;
    struct buffer invalid;
    uint32_t invalid_count;
    struct buffer unsupported;
    struct buffer notes; /* lines */
    struct str version;  /* the document's apiVersion */
    struct str text;     /* the document itself, where there is one */
    /* Extenders' resources will take the place of NodeResourcesFit's ignoredResources. */
    bool ignores_by_extenders;
};

#define CONFIG_MEMBERS_MAX 1000 /* of one object: bounds the search for duplicates */

/* Fails the loading, behind the subject of its reading. */
void config_fail(struct loading *l, const char *text);
/* An unknown or a duplicate field; what: either word. */
void config_strict(struct loading *l, const char *what, const struct cursor *at);
/* Objects may have these members and no others; ends with NULL. */
void config_only(struct loading *l, const struct cursor *object, const char *const *names);
/* `path: text` as an error of validation. */
void config_invalid(struct loading *l, const struct cursor *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* `path: Invalid value: "value": reason` for each of the reasons, which are joined by "; ". */
void config_invalid_each(struct loading *l, const struct cursor *at, struct str value,
                         struct str reasons);
/* `no kind "Foo" is registered for version "v1"`, or that there cannot be such a version. */
/* How many slashes a version has; more than one cannot be. */
size_t config_slashes(struct str version);
void config_not_registered(struct str kind, struct str version, struct buffer *out);
/* A text that is so many errors of validation by itself. */
void config_invalid_text(struct loading *l, const char *text, uint32_t count);
void config_unsupported(struct loading *l, const struct cursor *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void config_note(struct loading *l, const struct cursor *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A whole file into text, which is empty; false with errno, EFBIG when it is longer than any
 * configuration. What it says is taken down in the journal in force. */
bool config_read_text(const char *path, struct buffer *text);

/* The object is there and has the member (with a value other than null). */
bool config_has(const struct cursor *object, const char *member);

/* ---- durations, as Go writes them ---- */

bool config_duration_parse(struct str text, struct span *span);
/* The same without a result: why gets Go's words when it is none. */
bool config_duration_explain(struct str text, struct buffer *why);
/* A member; missing gives otherwise. */
struct span config_duration(const struct cursor *up, const char *name, struct span otherwise);

/* ---- plugins ---- */

struct plugin_ref {
    struct str name;
    int64_t weight; /* 0: not given */
};

struct plugin_set {
    struct plugin_ref *enabled;
    uint32_t enabled_count;
    struct strs disabled;
};

/* The plugins of one profile: as read, then merged with the defaults. */
struct plugin_sets {
    struct plugin_set points[POINT_COUNT];
    struct plugin_set multi_point;
    /* Where in multi_point the defaults end, which is where a gate's plugin comes in, and whether
     * the file disables that of gangs. */
    uint32_t defaults_end;
    bool gangs_disabled;
};

extern const char *const config_point_field[POINT_COUNT]; /* "preFilter" */

/* Whether the release has the point at all. */
bool config_point_exists(const struct features *features, enum config_point point);

void config_plugins_read(struct loading *l, const struct cursor *profile, struct plugin_sets *sets);
void config_plugins_merge(struct loading *l, const struct cursor *profile,
                          struct plugin_sets *sets);
/* A number below 64 for each plugin that can be named; more for any other name. */
size_t config_plugin_index(struct str name);
/* In that release. */
bool config_plugin_implements(int64_t minor, struct str name, enum config_point point);
bool config_plugin_implements_any(struct str name); /* it is known */
/* Plugins that upstream once had; naming one is an error of its own. */
bool config_plugin_removed(struct str name);
#define CONFIG_GANG_PLUGIN     "Coscheduling"
#define CONFIG_BUILT_IN_PLUGIN "GangScheduling" /* upstream's, behind feature gates */
#define CONFIG_GROUP           "kubescheduler.config.k8s.io"
#define CONFIG_VERSION         CONFIG_GROUP "/v1"
#define CONFIG_BETA2           CONFIG_GROUP "/v1beta2"
#define CONFIG_BETA3           CONFIG_GROUP "/v1beta3"
#define CONFIG_REMOVED_TEXT                                                                        \
    "was invalid in version \"v1\" (KubeSchedulerConfiguration is version \"" CONFIG_VERSION "\")"
void config_plugins_check_removed(struct loading *l, const struct cursor *profile,
                                  const struct plugin_sets *sets);
/* With the feature gates of gangs GangScheduling is one of the defaults, too. */
void config_plugins_gate(const struct cursor *profile, struct plugin_sets *sets);
/* As if multiPoint and every point listed the plugin among what they disable. */
void config_plugins_disable(const struct cursor *profile, struct plugin_sets *sets,
                            struct str name);
/* Whether the plugin is enabled anywhere. */
bool config_plugins_need(const struct plugin_sets *sets, struct str name);
/* Fills the points of details, and the lists and weights of profile. Errors are what upstream's
 * framework says. */
void config_plugins_expand(struct loading *l, const struct plugin_sets *sets,
                           struct profile *profile, struct profile_details *details);
/* Fails the load for a reason that upstream finds only when it makes the profile's plugins. */
void config_construct_fail(struct loading *l, struct str scheduler_name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The names, ended by NULL, of the plugins that a predicate or priority of the old Policy is today;
 * NULL: it is not another plugin's old name. */
const char *const *config_legacy_alias(struct str name);
#define CONFIG_LEGACY_ALIAS_MAX 4 /* plugins behind one name */

/* ---- profiles ---- */

/* What is known of one profile before its plugins are made. */
struct profile_draft {
    struct plugin_sets sets;
    struct buffer fit_faults;
};

/* percentageOfNodesToScore of a profile, or of the whole; missing gives otherwise. */
int64_t config_percentage(struct loading *l, const struct cursor *object, int64_t otherwise);
/* Reads the profiles into drafts, one each, whose fit_faults are to be freed; NULL: it failed. */
struct profile_draft *config_profiles_read(struct loading *l, const struct cursor *root,
                                           struct scheduler_config *c);
/* Makes the profiles' plugins of drafts that were read without a fault. */
void config_profiles_make(struct loading *l, const struct cursor *root, struct scheduler_config *c,
                          struct profile_draft *drafts);

/* ---- plugin arguments ---- */

/* Of a plugin that is a process on the bus. Not upstream's. */
#define CONFIG_BUS_KIND        "BusPluginArgs"
#define CONFIG_BUS_WAIT_MAX_MS 900000 /* upstream lets no pod wait longer for its permission */

/* Reads pluginConfig of the profile: defaults, strict decoding, validation. Upstream checks the
 * arguments of NodeResourcesFit only when it makes that plugin; what is wrong with them goes to
 * fit_faults. */
void config_args_read(struct loading *l, const struct cursor *profile, struct profile *out,
                      struct plugin_args *args, struct buffer *fit_faults);
/* Whether there are arguments of this kind, such as NodeAffinityArgs. */
bool config_args_kind(struct str kind);
/* pluginConfig as YAML. */
void config_args_print(const struct profile *profile, const struct plugin_args *args,
                       struct buffer *out);

/* ---- extenders ---- */

/* Reads the member extenders of the root. Validation is a step of its own, because
 * upstream reports its faults last. */
void config_extenders_read(const struct cursor *root, struct scheduler_config *c);
/* The same of a Policy, which may spell members with other capitals, and has timeouts in
 * nanoseconds. Unknown members go to the loading. */
void config_extenders_read_old(struct loading *l, const struct cursor *root,
                               struct scheduler_config *c);
void config_extenders_check(struct loading *l, const struct cursor *root,
                            const struct scheduler_config *c);
/* How many resources are ignoredByScheduler. */
size_t config_extenders_ignores(const struct scheduler_config *c);
/* Resources that an extender takes off NodeResourcesFit's hands take the place of that plugin's
 * ignoredResources in every profile. */
void config_extenders_ignore(struct loading *l, struct scheduler_config *c);
/* The member extenders as YAML. */
void config_extenders_print(const struct scheduler_config *c, struct buffer *out);

/* ---- Policy ---- */

/* Writes a document of kind Policy as a KubeSchedulerConfiguration in YAML. Faults go to the
 * loading, in which case what was written is of no use. */
void config_policy_translate(struct loading *l, const struct cursor *root, struct buffer *out);

/* ---- old versions ---- */

/* Whether a document is a KubeSchedulerConfiguration of v1alpha1, v1alpha2 or v1beta1. */
bool config_old_is(const struct kube_json *document);
/* Writes it as one of v1, in JSON; what that has no place for goes to rest. Faults go to the
 * loading, in which case what was written is of no use. */
void config_old_translate(struct loading *l, const struct cursor *root, struct old_config *rest,
                          struct buffer *out);

/* ---- YAML ---- */

/* A text as a YAML scalar, quoted where it must be. */
void config_print_text(struct str text, struct buffer *out);

#endif
