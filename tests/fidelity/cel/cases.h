/* cases: devices as JSON, in the form that tests/fidelity/oracle/cel reads, as the subjects of
 * scheduler/cel. */
#ifndef FIDELITY_CEL_CASES_H
#define FIDELITY_CEL_CASES_H

#include "proto/kube/documents/json.h"
#include "scheduler/cel/cel.h"

/* What an outcome is called in answers, by its verdict. */
extern const char *const case_verdicts[];

/* A device made ready. Its texts stay those of the JSON, the rest is the arena's. */
const struct cel_subject *case_subject(const struct kube_json *device, struct arena *arena);

#endif
