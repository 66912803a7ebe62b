/* storage: what tests of the volume rules say in a few words: objects as messages are printed, pods
 * with volumes, and what a rule finds out before it looks at nodes. */
#ifndef TESTS_SCHEDULER_STORAGE_H
#define TESTS_SCHEDULER_STORAGE_H

#include "scheduler/catalog/volumes.h"
#include "tests/unit/scheduler/cluster.h"

/* "claim_set claim={...}" */
UNUSED static struct message message_of(struct cluster *c, const char *text)
{
    struct message m;
    struct str all = str_of(text), error;
    int64_t blank = str_find(all, ' ');
    m.type = message_type_of((struct str){all.at, (uint32_t)blank});
    struct str rest = {all.at + blank + 1, all.len - (uint32_t)blank - 1};
    if (!codec_parse(message_info[m.type].record, message_body(&m), rest, &c->arena, &error))
        fail_msg("%s: %.*s", text, STR_ARG(error));
    return m;
}

UNUSED static void know(struct cluster *c, const char *text)
{
    struct message m = message_of(c, text);
    catalog_take(c->catalog, &m);
}

UNUSED static void limit(struct cluster *c, const char *text)
{
    struct message m = message_of(c, text);
    shard_storage(c->shard, &m.shard_storage);
}

/* The only rule of the profile, and one node without labels. */
UNUSED static void only_rule(struct cluster *c, const char *rule)
{
    c->profile.pre_filter = c->profile.filter = strs_of(&c->arena, rule);
    c->profile.post_filter = c->profile.pre_score = (struct strs){0};
    c->profile.score.count = 0;
    begin(c);
}

UNUSED static struct pod_volume *add_volume(struct cluster *c, struct pod *p, const char *kind,
                                            const char *name)
{
    struct pod_volume *v = APPEND(&c->arena, p->volumes);
    uint32_t source;
    must(words_find(&volume_source_words, str_of(kind), &source));
    *v = (struct pod_volume){
        .kind = (enum volume_source)source, .name = str_of(name), .volume = str_of("v")};
    return v;
}

/* A pod with a claim; NULL: without. */
UNUSED static struct pod *with_claim(struct cluster *c, const char *pod, const char *claim)
{
    struct pod *p = make_pod(c, pod, 0, 0);
    if (claim != NULL)
        add_volume(c, p, "claim", claim);
    return p;
}

/* What PreFilter says: "" when it goes on, "skip" when the only rule has nothing to do, or
 * "UAU: reason", or "error: reason". */
UNUSED static const char *before_nodes(struct cluster *c, const struct pod *p)
{
    struct frameworks all = {0};
    struct pre_filter_outcome out;
    struct pod prepared;
    struct findings findings;
    frameworks_build(&all, &c->profile, 1);
    framework_pre_filter(&(struct pre_filter_question){.framework = &all.at[0],
                                                       .catalog = c->catalog,
                                                       .pod = p,
                                                       .prepared = &prepared,
                                                       .findings = &findings,
                                                       .arena = &c->arena},
                         &out);
    frameworks_clear(&all);
    if (out.code == CODE_success)
        return out.skipped != 0 ? "skip" : "";
    return arena_print(&c->arena, "%s: %.*s", out.code == CODE_error ? "error" : "UAU",
                       STR_ARG(out.reason))
        .at;
}

#endif
