/* device_memo: a handful of questions, each with a map from nodes to answers. What must stay true:
 * two questions are one only when everything that decides about their answers is the same, byte for
 * byte; and a question holds no more answers than there are nodes, but for a few. */
#include "scheduler/cluster/device_memo.h"

#include "proto/base/buffer.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"

#define NODES_SPARE 64 /* answers of nodes that have gone */

struct noted {
    uint64_t changed;
    struct memo_answer answer;
};

struct memo_question {
    struct buffer key;
    struct map *answers; /* struct noted by node */
    uint64_t asked;      /* when, in questions */
};

struct device_memo {
    struct memo_question at[DEVICE_MEMO_QUESTIONS];
    uint64_t asked;
    struct buffer key; /* of the question that is looked for */
};

static void forget(struct memo_question *q)
{
    size_t at = 0;
    void *noted;
    while (q->answers != NULL && map_next(q->answers, &at, NULL, &noted))
        memory_free(noted);
    map_free(&q->answers);
}

struct device_memo *device_memo_new(void)
{
    return memory_take(sizeof(struct device_memo));
}

void device_memo_free(struct device_memo **memo)
{
    struct device_memo *m = *memo;
    for (size_t i = 0; m != NULL && i < DEVICE_MEMO_QUESTIONS; i++) {
        forget(&m->at[i]);
        buffer_free(&m->at[i].key);
    }
    if (m != NULL)
        buffer_free(&m->key);
    memory_free(m);
    *memo = NULL;
}

/* Configurations go along with what is given, and decide nothing. */
static void add_claim(struct buffer *key, const struct resource_claim *claim)
{
    struct resource_claim asked = {0};
    asked.requests = claim->requests;
    asked.constraints = claim->constraints;
    codec_encode(&resource_claim_record, &asked, key);
}

/* The one with that key, or the one that was asked longest ago. */
static struct memo_question *place_for(struct device_memo *m, bool *there)
{
    struct memo_question *place = &m->at[0];
    for (size_t i = 0; i < DEVICE_MEMO_QUESTIONS; i++) {
        struct memo_question *q = &m->at[i];
        *there = q->asked > 0 && str_equal(buffer_str(&q->key), buffer_str(&m->key));
        if (*there)
            return q;
        if (q->asked < place->asked)
            place = q;
    }
    return place;
}

struct memo_question *device_memo_ask(struct device_memo *m, const struct features *features,
                                      const struct resource_claim *const *claims, uint32_t count,
                                      uint32_t nodes)
{
    bool there = false;
    buffer_reset(&m->key);
    codec_encode(&features_record, features, &m->key);
    for (uint32_t i = 0; i < count; i++)
        add_claim(&m->key, claims[i]);
    struct memo_question *q = place_for(m, &there);
    if (!there || map_count(q->answers) > nodes + NODES_SPARE) {
        forget(q);
        q->answers = map_new();
    }
    if (!there) {
        buffer_reset(&q->key);
        buffer_add_str(&q->key, buffer_str(&m->key));
    }
    q->asked = ++m->asked;
    return q;
}

bool device_memo_get(const struct memo_question *q, struct str node, uint64_t changed,
                     struct memo_answer *answer)
{
    const struct noted *noted = map_get(q->answers, node);
    if (noted == NULL || noted->changed != changed)
        return false;
    *answer = noted->answer;
    return true;
}

void device_memo_set(struct memo_question *q, struct str node, uint64_t changed,
                     struct memo_answer answer)
{
    struct noted *noted = map_get(q->answers, node);
    if (noted == NULL) {
        noted = memory_take(sizeof(*noted));
        (void)map_set(q->answers, node, noted);
    }
    *noted = (struct noted){changed, answer};
}

uint32_t device_memo_count(const struct device_memo *m)
{
    uint32_t count = 0;
    for (size_t i = 0; i < DEVICE_MEMO_QUESTIONS; i++)
        if (m->at[i].answers != NULL)
            count += (uint32_t)map_count(m->at[i].answers);
    return count;
}
