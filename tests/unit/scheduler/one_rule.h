/* one_rule: what the tests of single rules share: a profile that runs one filter or one
 * score and nothing else, and a catalog fed with messages as they are printed. */
#ifndef TESTS_SCHEDULER_ONE_RULE_H
#define TESTS_SCHEDULER_ONE_RULE_H

#include "tests/unit/scheduler/cluster.h"

/* Only this filter runs; begins anew. */
UNUSED static void only_filter(struct cluster *c, const char *name)
{
    c->profile.filter = strs_of(&c->arena, name);
    c->profile.pre_filter = (struct strs){0};
    begin(c);
}

/* Only this score runs, with weight 1; begins anew. */
UNUSED static void only_score(struct cluster *c, const char *name)
{
    c->profile.filter = c->profile.pre_filter = (struct strs){0};
    c->profile.pre_score = strs_of(&c->arena, name);
    c->profile.score.count = 0;
    *APPEND(&c->arena, c->profile.score) = (struct score_plugin){str_of(name), 1};
    begin(c);
}

/* "owner_set owner={kind=\"Service\" …}" */
UNUSED static void tell_catalog(struct cluster *c, const char *text)
{
    struct str all = str_of(text), error;
    int64_t blank = str_find(all, ' ');
    struct message m = {.type = message_type_of((struct str){all.at, (uint32_t)blank})};
    struct str rest = {all.at + blank + 1, all.len - (uint32_t)blank - 1};
    if (!codec_parse(message_info[m.type].record, message_body(&m), rest, &c->arena, &error))
        fail_msg("%s: %.*s", text, STR_ARG(error));
    if (c->catalog == NULL)
        c->catalog = catalog_new();
    catalog_take(c->catalog, &m);
}

UNUSED static int one_rule_teardown(void **state)
{
    struct cluster *c = *state;
    catalog_free(&c->catalog);
    return cluster_teardown(state);
}

#define ONE_RULE_TEST(f) cmocka_unit_test_setup_teardown(f, cluster_setup, one_rule_teardown)

UNUSED static void label_pod(struct cluster *c, struct pod *p, const char *key, const char *value)
{
    *APPEND(&c->arena, p->labels) = (struct label){str_of(key), str_of(value)};
}

/* A node with one label. */
UNUSED static struct node *labelled(struct cluster *c, const char *name, const char *key,
                                    const char *value)
{
    struct node *n = make_node(c, name, 100000, 100 * GIB);
    add_label(c, n, key, value);
    put_node(c, n);
    return n;
}

/* A node with one condition. */
UNUSED static void troubled(struct cluster *c, const char *name, const char *type,
                            const char *status)
{
    struct node *n = make_node(c, name, 1000, GIB);
    *APPEND(&c->arena, n->conditions) = (struct label){str_of(type), str_of(status)};
    put_node(c, n);
}

/* Of a pod of the service web. */
UNUSED static struct pod *web_pod(struct cluster *c, const char *name)
{
    struct pod *p = make_pod(c, name, 0, 0);
    label_pod(c, p, "app", "web");
    return p;
}

#define WEB_SERVICE                                                                                \
    "owner_set owner={kind=\"Service\" namespace_name=\"default\" name=\"web\" "                   \
    "selector={present=true labels=[{key=\"app\" value=\"web\"}]}}"

#endif
