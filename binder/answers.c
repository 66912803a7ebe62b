/* answers: encoded messages that are owed to the scheduler. What must stay true: each one leaves
 * once, in the order in which they were added. */
#include "binder/answers.h"
#include "proto/base/memory.h"

struct answer {
    struct answer *next;
    enum message_type type;
    struct buffer body;
};

void answers_add(struct answers *answers, enum message_type type, const void *record)
{
    struct answer *a = memory_take(sizeof(*a));
    a->type = type;
    codec_encode(message_info[type].record, record, &a->body);
    *(answers->last ? &answers->last->next : &answers->first) = a;
    answers->last = a;
    answers->count++;
}

void answers_flush(struct answers *answers, struct outbox *out)
{
    struct answer *next;
    for (struct answer *a = answers->first; a != NULL; a = next) {
        struct outgoing head = {.to = {SCHEDULER, 0}, .type = a->type};
        next = a->next;
        if (out != NULL)
            outbox_put_encoded(out, &head, buffer_str(&a->body));
        buffer_free(&a->body);
        memory_free(a);
    }
    *answers = (struct answers){0};
}
