/* cases: devices as JSON, in the form that tests/fidelity/oracle/cel reads, as the subjects of
 * scheduler/cel. */
#ifndef FIDELITY_CEL_CASES_H
#define FIDELITY_CEL_CASES_H

#include "proto/kube/documents/json.h"
#include "scheduler/cel/cel.h"

/* What an outcome is called in answers, by its verdict. */
extern const char *const case_verdicts[];

/* An attribute that is a list: false, and it is as it was, when it is none. */
bool case_list(const struct kube_json *json, struct arena *arena, struct cel_attribute *attribute);
/* A device made ready. Its texts stay those of the JSON, the rest is the arena's. */
const struct cel_subject *case_subject(const struct kube_json *device, struct arena *arena);

#endif
