/* group_model: what counting rules say of groups of nodes, asked where no node is: by the
 * coordinator, from what workers tell of groups (run_group) and counts. Pods may land in a group;
 * the counts follow, and with them what the rules say.
 *
 * Upstream's Filter, Score and NormalizeScore of the rules that count, over one node a group. */
#ifndef SCHEDULER_MERGE_GROUP_MODEL_H
#define SCHEDULER_MERGE_GROUP_MODEL_H

#include "scheduler/rules/framework.h"
#include "scheduler/rules/limits.h"
#include "scheduler/table/ledger.h"

struct group_model;

struct model_group {
    int64_t members; /* nodes that rules by node let pass; the model's user keeps it */
    bool passes;     /* the rules that group let it pass, too */
    int64_t plus;    /* what their scores add to each member's total */
};

/* What a pod adds to the counts where it lands; from the model's arena. */
struct model_adds {
    struct entries by_rule[KEPT_MAX];
};

struct group_model *group_model_new(void);
void group_model_free(struct group_model **m);

/* What is to be modelled; all is borrowed until the next group_model_begin. */
struct model_question {
    const struct framework *framework;
    const struct map_request *request;
    const struct map_run_result *const *said; /* of each worker */
    uint32_t said_count;
};

/* False when the answers do not fit together, or make no sense. No group is known yet. */
bool group_model_begin(struct group_model *m, const struct model_question *q);
/* The rules' names, and whether each groups, as all workers say. */
uint32_t group_model_rules(const struct group_model *m);
bool group_model_rule_groups(const struct group_model *m, uint32_t rule);
/* The group with these values, as worker number `who` tells them, and these own counts; a new one
 * has no members. UINT32_MAX when that makes no sense. */
uint32_t group_model_group(struct group_model *m, uint32_t who, const struct run_group *values,
                           const struct run_own *own, uint32_t own_count);
bool group_model_adds(struct group_model *m, const struct run_group *from, struct model_adds *out);
/* Starts the rules, once all groups with members are known. False: they read labels that were not
 * told. */
bool group_model_start(struct group_model *m);
/* Asks the rules about all groups. The result holds until the next call of any of these. */
const struct model_group *group_model_weigh(struct group_model *m);
struct model_group *group_model_at(struct group_model *m, uint32_t group);
/* A pod has landed. False: the rules read other labels from now on. */
bool group_model_land(struct group_model *m, const struct model_adds *adds);

#endif
