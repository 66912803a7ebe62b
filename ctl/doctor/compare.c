/* compare: `berth compare`, whether all processes hold the same, and the same as the API server.
 * What must stay true: the exit status is 0 only when all that was to be compared is equal, or was
 * mended; without --heal nothing is changed.
 */
#include "ctl/doctor/comparison.h"
#include "ctl/doctor/doctor.h"
#include "ctl/json_out.h"
#include "proto/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_S     5
#define HEAL_S     30
#define NAMED_MOST 100 /* differences, in text */

struct command {
    struct comparison c;
    const char *kubeconfig, *master;
    bool heal;
    uint32_t healed_from; /* differences that were settled before */
    struct difference **before;
};

/* ---- options ---- */

static bool take_kubeconfig(void *state, const char *value)
{
    ((struct command *)state)->kubeconfig = value;
    return *value != 0;
}

static bool take_master(void *state, const char *value)
{
    ((struct command *)state)->master = value;
    return *value != 0;
}

static bool take_heal(void *state, const char *value)
{
    (void)value;
    ((struct command *)state)->heal = true;
    return true;
}

static const struct own_option compare_options[] = {
    {"kubeconfig", "FILE", "compare with the API server, too, reached as this says",
     take_kubeconfig},
    {"master", "URL", "the same, at this address", take_master},
    {"heal", NULL, "what differs is read anew, by whoever differs", take_heal},
    {NULL, NULL, NULL, NULL},
};

/* ---- words ---- */

static bool is_mended(const struct command *k, const struct difference *one)
{
    return !differences_open(&k->c.differences, one) && !comparison_is_lost(&k->c, one->set);
}

static const char *outcome(const struct command *k, const struct difference *one)
{
    if (is_mended(k, one))
        return "mended";
    return differences_open(&k->c.differences, one) ? "still there" : "not looked at again";
}

static uint32_t count_left(const struct command *k)
{
    uint32_t left = differences_count_settled(&k->c.differences);
    for (uint32_t i = 0; i < k->healed_from; i++)
        left += differences_open(&k->c.differences, k->before[i]) &&
                !differences_settled(&k->c.differences, k->before[i]);
    return left;
}

static void count_of(const struct comparison *c, const char *set, int64_t *count)
{
    *count = -1;
    for (size_t i = 0; i < c->count; i++)
        for (uint32_t s = 0; c->compared[i].kind == WATCHER && s < c->compared[i].said.sets.count;
             s++)
            if (str_is(c->compared[i].said.sets.at[s].name, set))
                *count = c->compared[i].said.sets.at[s].count;
}

static void print_summary(const struct command *k)
{
    const struct comparison *c = &k->c;
    int64_t nodes, assigned, pending;
    count_of(c, "nodes", &nodes);
    count_of(c, "assigned", &assigned);
    count_of(c, "pending", &pending);
    printf("compared: ");
    if (c->api_things > 0)
        printf("API server (%llu objects), ", (unsigned long long)c->api_things);
    const char *comma = "";
    for (size_t i = 0; i < c->count; i++)
        if (c->compared[i].holds && c->compared[i].answered) {
            printf("%s%.*s", comma, STR_ARG(c->compared[i].name));
            comma = ", ";
        }
    if (nodes >= 0)
        printf("; %lld nodes, %lld pods on nodes, %lld pods without one", (long long)nodes,
               (long long)assigned, (long long)pending);
    printf("\n");
}

static void print_text(const struct command *k)
{
    const struct differences *d = &k->c.differences;
    struct arena a = {0};
    uint32_t named = 0;
    print_summary(k);
    if (k->c.problems.len > 0)
        printf("%.*s", (int)k->c.problems.len, k->c.problems.at);
    for (uint32_t i = 0; i < k->healed_from; i++) {
        struct str text = comparison_text(k->before[i], &a);
        if (named++ < NAMED_MOST)
            printf("%s: %.*s\n", outcome(k, k->before[i]), STR_ARG(text));
    }
    for (uint32_t i = 0; i < d->count && k->healed_from == 0; i++) {
        if (!differences_settled(d, d->at[i]))
            continue;
        struct str text = comparison_text(d->at[i], &a);
        if (named++ < NAMED_MOST)
            printf("%.*s\n", STR_ARG(text));
    }
    if (named > NAMED_MOST)
        printf("and %u more\n", named - NAMED_MOST);
    if (count_left(k) == 0 && k->healed_from == 0)
        printf("%s\n", k->c.problems.len > 0 ? "what was compared is equal" : "all is equal");
    else if (count_left(k) > 0 && !k->heal)
        printf("berth compare --heal has it read anew\n");
    arena_free(&a);
}

static void thing_json(struct json_out *j, const char *key, const struct held_thing *t)
{
    json_open(j, key, '{');
    json_i64(j, "version", t->version);
    json_str_if(j, "node", t->node);
    json_close(j, '}');
}

static void difference_json(struct json_out *j, const struct difference *one, bool mended)
{
    static const char *const kinds[] = {"lacks", "extra", "version", "node"};
    struct arena a = {0};
    const struct held_thing *t = one->should.name.len > 0 ? &one->should : &one->has;
    json_open(j, NULL, '{');
    json_str(j, "who", one->who);
    json_str(j, "than", one->than);
    json_str(j, "set", one->set);
    json_str(j, "kind", str_of(kinds[one->kind]));
    json_str(j, "name", t->name);
    json_str_if(j, "uid", t->uid);
    if (one->kind != DIFFERENCE_lacks)
        thing_json(j, "has", &one->has);
    if (one->kind != DIFFERENCE_extra)
        thing_json(j, "should", &one->should);
    json_bool(j, "mended", mended);
    json_str(j, "text", comparison_text(one, &a));
    json_close(j, '}');
    arena_free(&a);
}

static void compared_json(struct json_out *j, const struct compared *one)
{
    json_open(j, NULL, '{');
    json_str(j, "name", one->name);
    json_bool(j, "answered", one->answered);
    json_bool(j, "whole", one->said.whole);
    json_i64(j, "epoch", one->said.epoch);
    json_i64(j, "sequence", one->said.sequence);
    json_open(j, "sets", '[');
    for (uint32_t s = 0; s < one->said.sets.count; s++) {
        const struct held_set *set = &one->said.sets.at[s];
        json_open(j, NULL, '{');
        json_str(j, "name", set->name);
        json_i64(j, "count", set->count);
        json_i64(j, "digest", set->digest);
        json_i64(j, "versions", set->versions);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void print_json(const struct command *k)
{
    const struct differences *d = &k->c.differences;
    struct buffer out = {0};
    struct json_out j = {.out = &out, .indented = true};
    json_open(&j, NULL, '{');
    json_bool(&j, "equal", count_left(k) == 0 && k->c.problems.len == 0);
    json_i64(&j, "looks", k->c.looks);
    json_open(&j, "processes", '[');
    for (size_t i = 0; i < k->c.count; i++)
        if (k->c.compared[i].holds)
            compared_json(&j, &k->c.compared[i]);
    json_close(&j, ']');
    json_open(&j, "differences", '[');
    for (uint32_t i = 0; i < k->healed_from; i++)
        difference_json(&j, k->before[i], is_mended(k, k->before[i]));
    for (uint32_t i = 0; i < d->count && k->healed_from == 0; i++)
        if (differences_settled(d, d->at[i]))
            difference_json(&j, d->at[i], false);
    json_close(&j, ']');
    json_str_if(&j, "problems", buffer_str(&k->c.problems));
    json_close(&j, '}');
    printf("%.*s\n", (int)out.len, out.at);
    buffer_free(&out);
}

/* ---- the whole ---- */

static void heal(struct command *k)
{
    struct differences *d = &k->c.differences;
    k->before = memory_take_array(d->count + 1, sizeof(struct difference *));
    for (uint32_t i = 0; i < d->count; i++)
        if (differences_settled(d, d->at[i]))
            k->before[k->healed_from++] = d->at[i];
    if (k->healed_from > 0)
        comparison_heal(&k->c, span_of_seconds(HEAL_S));
}

static bool reach(struct command *k, struct api *api)
{
    if (k->kubeconfig == NULL && k->master == NULL)
        return true;
    k->c.api = api;
    if (api_open(api, k->kubeconfig, k->master, k->c.asking.wait))
        return true;
    fprintf(stderr, "berth compare: %s\n", api->error);
    return false;
}

int command_compare(int argc, char **argv)
{
    struct command *k = memory_take(sizeof(*k));
    struct api api = {0};
    struct options_table table = {.program = "berth compare",
                                  .usage = "say whether all processes hold the same",
                                  .options = compare_options,
                                  .state = k,
                                  .more = asking_options,
                                  .more_state = &k->c.asking,
                                  .bad_status = 2};
    int status = 2;
    asking_init(&k->c.asking, table.program, WAIT_S);
    options_read(&table, argc, argv);
    if (reach(k, &api) && comparison_run(&k->c)) {
        if (k->heal)
            heal(k);
        (k->c.asking.json ? print_json : print_text)(k);
        status = count_left(k) > 0 ? 1 : k->c.problems.len > 0 ? 2 : 0;
    }
    comparison_free(&k->c);
    api_close(&api);
    memory_free(k->before);
    memory_free(k);
    return status;
}
