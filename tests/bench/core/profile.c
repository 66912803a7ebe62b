/* profile: takes the default profile as the configuration gives it and, to measure a rule by
 * itself, strikes all others from its lists. What must stay true: arguments and weights are the
 * default ones, so that a rule by itself does what it does among the others. */
#include "tests/bench/core/profile.h"

#include "proto/base/must.h"

static bool keep_text(struct strs *list, const char *rule)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (str_is(list->at[i], rule))
            list->at[kept++] = list->at[i];
    list->count = kept;
    return kept > 0;
}

static bool keep_score(struct profile *p, const char *rule)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->score.count; i++)
        if (str_is(p->score.at[i].name, rule))
            p->score.at[kept++] = p->score.at[i];
    p->score.count = kept;
    return kept > 0;
}

bool profile_make(struct profile *profile, const char *rule, struct arena *a)
{
    struct scheduler_config config;
    struct str error;
    bool read = scheduler_config_load(NULL, release_features(36), &config, a, &error);
    must(read && config.profiles.count == 1);
    *profile = config.profiles.at[0];
    if (rule == NULL)
        return true;
    struct strs *const lists[] = {&profile->pre_filter, &profile->filter,  &profile->post_filter,
                                  &profile->pre_score,  &profile->reserve, &profile->pre_bind};
    bool known = keep_score(profile, rule);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        known |= keep_text(lists[i], rule);
    return known;
}
