/* recorded: a moment of a recording. The scheduler's journal has what the watcher had said by then,
 * which makes the picture; who waited the queue's own core says, played back up to there.
 *
 * What must stay true: nothing that came later is in it, but where the scheduler had not been told
 * the whole cluster yet: then it is the first moment at which it was. */
#include "ctl/follow/recorded.h"

#include "ctl/follow/picture.h"
#include "ctl/output.h"
#include "ctl/record/lives.h"
#include "ctl/record/recall.h"

#include <stdio.h>

#define PENDING_ASKED 100000 /* pods: more than wait, so that all places are counted */
#define PENDING_NAMED 100

struct telling {
    struct lives lives;
    int64_t at_us;
    const struct member *scheduler, *queue;
    struct picture *picture;
    char folder[400]; /* of programs */
    struct arena memory;
    struct buffer line;
};

static bool is_whole(const struct picture *p)
{
    int64_t epoch, sequence;
    picture_position(p, &epoch, &sequence);
    return epoch != 0;
}

/* What the watcher said, up to the moment. */
static bool take(void *context, const struct journal_entry *e, int64_t wall_us)
{
    struct telling *t = context;
    struct arena memory = {0};
    struct message m;
    if (wall_us > t->at_us && is_whole(t->picture))
        return false;
    if (e->kind == JOURNAL_delivery && e->process == WATCHER && e->epoch != 0 &&
        member_decode(e, e->body, &m, &memory)) {
        const struct delivery in = {.from = {.process = WATCHER, .peer = (uint32_t)e->peer},
                                    .message = &m,
                                    .epoch = e->epoch,
                                    .sequence = e->sequence,
                                    .part = e->part,
                                    .sent_us = e->sent_us};
        (void)picture_take(t->picture, &in);
    }
    arena_free(&memory);
    return true;
}

static bool ask(struct telling *t, const struct member *life, const struct message *question,
                struct message *answer)
{
    bool explain = question->type == MSG_explain_request;
    const struct recall r = {.life = life,
                             .until_us = t->at_us,
                             .folder = t->folder,
                             .question = question,
                             .wanted = explain ? MSG_explained : MSG_pending_pods};
    struct str error = {0};
    if (recall_ask(&r, answer, &t->memory, &error))
        return true;
    fprintf(stderr, "%s: %.*s\n", t->lives.command, STR_ARG(error));
    return false;
}

static void print_moment(struct telling *t)
{
    struct json_out j = {.out = &t->line};
    json_open(&j, NULL, '{');
    json_str(&j, "kind", STR_LITERAL("recorded"));
    json_i64(&j, "from", t->lives.began_us / 1000);
    json_i64(&j, "to", t->lives.ended_us / 1000);
    json_i64(&j, "at", t->at_us / 1000);
    json_close(&j, '}');
    buffer_add_text(&t->line, "\n");
}

static bool find_lives(struct telling *t)
{
    struct lives *l = &t->lives;
    if (!lives_unpack(l))
        return false;
    if (t->at_us == 0 || t->at_us > l->ended_us)
        t->at_us = l->ended_us;
    if (t->at_us < l->began_us)
        t->at_us = l->began_us;
    t->scheduler = lives_then(l, SCHEDULER, t->at_us);
    t->queue = lives_then(l, QUEUE, t->at_us);
    return t->scheduler != NULL || lives_complain(l, "has no scheduler of that time");
}

/* Requests are counted as the scheduler counts them. */
static bool tell_cluster(struct telling *t)
{
    const struct message question = {.type = MSG_explain_request};
    struct message said;
    if (!ask(t, t->scheduler, &question, &said))
        return false;
    t->picture = picture_new();
    picture_keep_last(t->picture);
    if (said.explained.profiles.count > 0)
        picture_count_with(t->picture, &said.explained.profiles.at[0].features);
    member_each(t->scheduler, take, t);
    if (!is_whole(t->picture))
        return lives_complain(&t->lives, "its scheduler had not been told the whole cluster");
    picture_tell(t->picture, true, said.explained.release, &t->line);
    return true;
}

/* Where no queue was there, nobody was known to wait. */
static bool tell_queue(struct telling *t)
{
    const struct message question = {.type = MSG_pending_request,
                                     .pending_request = {.limit = PENDING_ASKED}};
    struct message said = {.type = MSG_pending_pods};
    if (t->queue != NULL && !ask(t, t->queue, &question, &said))
        return false;
    picture_tell_pending(t->picture, &said.pending_pods, PENDING_NAMED, &t->line);
    return true;
}

bool recorded_tell(const char *command, const char *path, int64_t at_us)
{
    struct telling t = {.lives = {.command = command, .path = path}, .at_us = at_us};
    bool good = member_programs(command, t.folder, sizeof(t.folder)) && find_lives(&t);
    if (good)
        print_moment(&t);
    good = good && tell_cluster(&t) && tell_queue(&t) &&
           (output_stream(buffer_str(&t.line)) || output_is_unread());
    picture_free(&t.picture);
    buffer_free(&t.line);
    arena_free(&t.memory);
    lives_free(&t.lives);
    return good;
}
