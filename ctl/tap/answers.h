/* answers: which messages belong to one pod's attempts although they do not name the pod: what
 * workers answered about it. */
#ifndef CTL_TAP_ANSWERS_H
#define CTL_TAP_ANSWERS_H

#include "proto/messages.h"

struct tap_answers;

struct tap_answers *tap_answers_new(void);
void tap_answers_free(struct tap_answers **answers);

/* One frame's message, and the scheduler whose cycles it speaks of. */
struct tap_answers_frame {
    const struct message *message;
    struct str scheduler;
    bool names_pod;    /* the message speaks of the pod by itself */
    struct str tapped; /* the frame as it was mirrored; kept for later where it may be needed */
};

/* True when the frame belongs to the pod's attempts: a question about it, or the answer to one. */
bool tap_answers_takes(struct tap_answers *answers, const struct tap_answers_frame *frame);
/* The next of the frames that belong to the pod as the one taken last has shown: answers that came
 * before their question was heard; a run's question and answers, whose pods are named at its end
 * only. False when there is none; valid until the next frame is taken. */
bool tap_answers_recall(struct tap_answers *answers, struct str *tapped);

#endif
