/* extender_questions: what is asked of HTTP extenders. */
#ifndef SCHEDULER_COORDINATOR_EXTENDER_QUESTIONS_H
#define SCHEDULER_COORDINATOR_EXTENDER_QUESTIONS_H

#include "scheduler/coordinator/coordination.h"

/* The extenders' part of the question under way is asked, if there is one; the plugins' filters
 * have left some nodes. False: there is none, and the question goes on. */
bool extender_questions_send(struct coordinator *c, struct moment now, struct flight *f);
/* The question under way is about victims. */
void extender_questions_about_victims(const struct coordinator *c, struct flight *f);
/* Takes what an extender left of them. True: the next one is asked. */
bool extender_questions_victims(struct coordinator *c, struct moment now, struct flight *f,
                                const struct extended *said);

#endif
