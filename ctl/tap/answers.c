/* answers: the one idea: questions to workers carry a cycle number and mostly the pod, answers
 * the number alone; so the numbers of questions about the pod are remembered. A run of pods is
 * asked for with the first of them and tells all at its end, so questions and answers of runs are
 * kept until then.
 *
 * What must stay true: what is kept is bounded; a number means something with its scheduler only.
 */
#include "ctl/tap/answers.h"

#include "proto/base/buffer.h"
#include "proto/base/memory.h"

#define CYCLES_MAX     256
#define HELD_MAX       128
#define HELD_BYTES_MAX (16u << 20)

struct cycle {
    struct str scheduler; /* kept */
    int64_t number;
};

struct held {
    struct cycle cycle;
    struct buffer tapped;
    bool wanted;
};

struct tap_answers {
    struct cycle cycles[CYCLES_MAX]; /* a ring */
    uint32_t next_cycle;
    struct held held[HELD_MAX]; /* a ring, the oldest at next_held */
    uint32_t next_held, recalled;
    size_t held_bytes;
};

struct tap_answers *tap_answers_new(void)
{
    struct tap_answers *answers = memory_take(sizeof(*answers));
    answers->recalled = HELD_MAX;
    return answers;
}

static void drop_held(struct tap_answers *answers, struct held *h)
{
    answers->held_bytes -= h->tapped.len;
    str_drop(&h->cycle.scheduler);
    buffer_free(&h->tapped);
    *h = (struct held){0};
}

void tap_answers_free(struct tap_answers **answers)
{
    if (*answers == NULL)
        return;
    for (uint32_t i = 0; i < CYCLES_MAX; i++)
        str_drop(&(*answers)->cycles[i].scheduler);
    for (uint32_t i = 0; i < HELD_MAX; i++)
        drop_held(*answers, &(*answers)->held[i]);
    memory_free(*answers);
    *answers = NULL;
}

/* ---- cycles ---- */

static bool is_cycle(const struct cycle *c, struct str scheduler, int64_t number)
{
    return c->scheduler.len > 0 && c->number == number && str_equal(c->scheduler, scheduler);
}

static bool knows(const struct tap_answers *answers, struct str scheduler, int64_t number)
{
    uint32_t i = 0;
    while (i < CYCLES_MAX && !is_cycle(&answers->cycles[i], scheduler, number))
        i++;
    return i < CYCLES_MAX;
}

static void remember(struct tap_answers *answers, struct str scheduler, int64_t number)
{
    struct cycle *c = &answers->cycles[answers->next_cycle];
    if (scheduler.len == 0 || knows(answers, scheduler, number))
        return;
    str_drop(&c->scheduler);
    *c = (struct cycle){str_keep(scheduler), number};
    answers->next_cycle = (answers->next_cycle + 1) % CYCLES_MAX;
}

/* The cycle that names the question, its answers and its end; false for other messages. */
static bool cycle_of(const struct message *m, int64_t *number)
{
    switch (m->type) {
    case MSG_map_request: *number = m->map_request.cycle; return true;
    case MSG_map_batch: *number = m->map_batch.cycle; return true;
    case MSG_map_run: *number = m->map_run.request.cycle; return true;
    case MSG_map_result: *number = m->map_result.cycle; return true;
    case MSG_map_batch_result: *number = m->map_batch_result.cycle; return true;
    case MSG_map_run_result: *number = m->map_run_result.cycle; return true;
    case MSG_map_run_end: *number = m->map_run_end.cycle; return true;
    case MSG_map_picks: *number = m->map_picks.cycle; return true;
    case MSG_map_picks_result: *number = m->map_picks_result.cycle; return true;
    case MSG_map_check: *number = m->map_check.cycle; return true;
    case MSG_map_checked: *number = m->map_checked.cycle; return true;
    case MSG_map_picks_end: *number = m->map_picks_end.cycle; return true;
    default: return false;
    }
}

/* ---- what is kept ---- */

static void hold(struct tap_answers *answers, const struct tap_answers_frame *f, int64_t number)
{
    struct held *h = &answers->held[answers->next_held];
    if (f->tapped.len > HELD_BYTES_MAX / 4)
        return;
    drop_held(answers, h);
    h->cycle = (struct cycle){str_keep(f->scheduler), number};
    buffer_add_str(&h->tapped, f->tapped);
    answers->held_bytes += f->tapped.len;
    answers->next_held = (answers->next_held + 1) % HELD_MAX;
    for (uint32_t i = 0; answers->held_bytes > HELD_BYTES_MAX && i < HELD_MAX - 1; i++)
        drop_held(answers, &answers->held[(answers->next_held + i) % HELD_MAX]);
}

static void want_held(struct tap_answers *answers, struct str scheduler, int64_t number)
{
    for (uint32_t i = 0; i < HELD_MAX; i++)
        if (is_cycle(&answers->held[i].cycle, scheduler, number))
            answers->held[i].wanted = true;
    answers->recalled = 0;
}

bool tap_answers_recall(struct tap_answers *answers, struct str *tapped)
{
    for (; answers->recalled < HELD_MAX; answers->recalled++) {
        struct held *h = &answers->held[(answers->next_held + answers->recalled) % HELD_MAX];
        if (!h->wanted)
            continue;
        h->wanted = false;
        *tapped = buffer_str(&h->tapped);
        return true;
    }
    return false;
}

/* ---- frames ---- */

static bool is_answer(enum message_type type)
{
    return type == MSG_map_result || type == MSG_map_batch_result || type == MSG_map_run_result ||
           type == MSG_map_picks_result || type == MSG_map_checked;
}

bool tap_answers_takes(struct tap_answers *answers, const struct tap_answers_frame *f)
{
    enum message_type type = f->message->type;
    int64_t number;
    answers->recalled = HELD_MAX;
    if (f->scheduler.len == 0 || !cycle_of(f->message, &number))
        return false;
    bool known = knows(answers, f->scheduler, number);
    if (f->names_pod && !known) {
        remember(answers, f->scheduler, number);
        want_held(answers, f->scheduler, number);
    }
    if (!known && !f->names_pod && (is_answer(type) || type == MSG_map_run))
        hold(answers, f, number);
    return known || f->names_pod;
}
