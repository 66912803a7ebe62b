/* claim_turns: a line for each claim that somebody writes; its first is who writes. What must stay
 * true: a line is there as long as somebody is in it, and its document is of its first's
 * predecessor alone. */
#include "binder/claim_turns.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

struct claim_line {
    struct claim_turns *turns;
    struct claim_turn *first, *last;
    struct buffer key;
    struct buffer document;
};

struct claim_turns {
    struct map *lines; /* namespace/name -> line */
    struct buffer key;
    uint32_t waiting, waiting_max;
};

struct claim_turns *claim_turns_new(uint32_t waiting_max)
{
    struct claim_turns *t = memory_take(sizeof(*t));
    t->lines = map_new();
    t->waiting_max = waiting_max;
    return t;
}

void claim_turns_free(struct claim_turns **turns)
{
    struct claim_turns *t = *turns;
    if (t == NULL)
        return;
    must(map_count(t->lines) == 0);
    map_free(&t->lines);
    buffer_free(&t->key);
    memory_free(t);
    *turns = NULL;
}

static struct claim_line *line_new(struct claim_turns *t)
{
    struct claim_line *line = memory_take(sizeof(*line));
    line->turns = t;
    buffer_add_str(&line->key, buffer_str(&t->key));
    must(map_set(t->lines, buffer_str(&line->key), line) == NULL);
    return line;
}

static void line_free(struct claim_line *line)
{
    must(map_remove(line->turns->lines, buffer_str(&line->key)) == line);
    buffer_free(&line->key);
    buffer_free(&line->document);
    memory_free(line);
}

enum claim_turn_answer claim_turns_take(struct claim_turns *t, struct claim_turn *turn,
                                        struct str namespace_name, struct str claim)
{
    must(turn->line == NULL && turn->begin != NULL);
    buffer_reset(&t->key);
    buffer_print(&t->key, "%.*s/%.*s", STR_ARG(namespace_name), STR_ARG(claim));
    struct claim_line *line = map_get(t->lines, buffer_str(&t->key));
    if (line != NULL && t->waiting >= t->waiting_max)
        return CLAIM_TURN_full;
    bool alone = line == NULL;
    if (alone)
        line = line_new(t);
    *(alone ? &line->first : &line->last->next) = turn;
    line->last = turn;
    turn->line = line;
    turn->next = NULL;
    t->waiting += !alone;
    return alone ? CLAIM_TURN_now : CLAIM_TURN_later;
}

static void leave(struct claim_line *line, struct claim_turn *turn)
{
    struct claim_turn *before = NULL;
    for (struct claim_turn *t = line->first; t != turn; t = t->next)
        before = t;
    *(before != NULL ? &before->next : &line->first) = turn->next;
    if (line->last == turn)
        line->last = before;
    turn->line = NULL;
    turn->next = NULL;
}

void claim_turn_end(struct claim_turn *turn, struct instant at, struct str left)
{
    struct claim_line *line = turn->line;
    if (line == NULL)
        return;
    bool was_first = line->first == turn;
    leave(line, turn);
    if (line->first == NULL) {
        line_free(line);
        return;
    }
    line->turns->waiting--;
    if (!was_first)
        return;
    buffer_reset(&line->document);
    buffer_add_str(&line->document, left);
    line->first->begin(line->first, at);
}

struct str claim_turn_document(const struct claim_turn *turn)
{
    return turn->line != NULL ? buffer_str(&turn->line->document) : (struct str){0};
}
