/* label_rules: kube-scheduler's --allow-metric-labels and its manifest: values that labels of
 * metrics may have. Any other value is shown as "unexpected". */
#ifndef SERVE_LABEL_RULES_H
#define SERVE_LABEL_RULES_H

#include "proto/base/arena.h"
#include "proto/messages.h"

#define LABEL_RULES_MAX 256

struct label_rules {
    uint32_t count;
    struct allowed_label {
        struct str metric, label;
        struct strs values;
    } at[LABEL_RULES_MAX];
};

/* The value of one flag: METRIC,LABEL=VALUE,VALUE or several of these, each in quotes, with commas
 * between. A label that has a rule already gets the new one. All texts live in the arena; false,
 * with the reason, when it is malformed. */
bool label_rules_read(struct label_rules *rules, struct str flag, struct arena *a, struct str *why);
/* The same from a YAML file: METRIC,LABEL to the values with commas between. */
bool label_rules_read_file(struct label_rules *rules, const char *path, struct arena *a,
                           struct str *why);
/* The value as it is to be shown. */
struct str label_rules_apply(const struct label_rules *rules, const char *metric, const char *label,
                             struct str value);

/* Names of metrics, as --disabled-metrics has them. */
bool label_rules_names(struct str flag, struct strs *names, struct arena *a, struct str *why);

#endif
