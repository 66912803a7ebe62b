/* cel: device selectors, the CEL expressions of DeviceClasses and ResourceClaims.
 *
 * What k8s.io/dynamic-resource-allocation/cel does in kube-scheduler 1.36 and 1.37: a text is
 * compiled once and then asked about many devices. Verdicts, costs and the usual error texts are
 * upstream's; README.md lists what is not supported. Nothing here reads the clock, does I/O or
 * keeps state between calls, so that a verdict may be remembered for as long as the program and the
 * device stay what they are. */
#ifndef CEL_H
#define CEL_H

#include "proto/base/arena.h"
#include "proto/base/buffer.h"
#include "proto/base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* resource.k8s.io's CELSelectorExpressionMaxLength, in bytes. The API server refuses longer ones;
 * so does cel_compile. */
#define CEL_EXPRESSION_MAX (10u * 1024)
/* CELSelectorExpressionMaxCost: what one evaluation may cost, in CEL's units. */
#define CEL_COST_MAX 1000000u
/* A limit for the arena of an evaluation that no expression within the cost limit needs to reach.
 */
#define CEL_SCRATCH_BYTES (64u << 20)

/* A compiled expression: one block of memory, read only, shared by any number of threads. */
struct cel_program;

/* Whose expressions these are. */
struct cel_dialect {
    int64_t release; /* 36 or 37, the minor version of Kubernetes */
    bool lists; /* attributes may be lists: DRAListTypeAttributes; 1.37 sees them in any case */
};

/* Compiles, or returns NULL and appends the reason to *error, without upstream's leading "CEL
 * compile error: " but otherwise in its words: "compilation failed: ERROR: <input>:1:1: ...", or
 * "must evaluate to bool or the unknown type, not int". What upstream knows and berth does not
 * gives "not supported by berth: NAME". The text is copied; *error may hold something already. */
struct cel_program *cel_compile(const struct cel_dialect *dialect, struct str expression,
                                struct buffer *error);
/* The same for the expression of a derived attribute (1.37), which may be any value that an
 * attribute may have: "must evaluate to a primitive scalar ...". */
struct cel_program *cel_compile_derived(const struct cel_dialect *dialect, struct str expression,
                                        struct buffer *error);
/* Gives the memory back and nulls the caller's pointer; NULL inside is allowed. */
void cel_free(struct cel_program **program);

enum cel_attribute_kind {
    CEL_ATTRIBUTE_none, /* no value of a known kind: upstream's "unsupported attribute value" */
    CEL_ATTRIBUTE_bool,
    CEL_ATTRIBUTE_int,
    CEL_ATTRIBUTE_string,
    CEL_ATTRIBUTE_version,
    CEL_ATTRIBUTE_list, /* of values of one of the kinds above; as none where lists are not known */
};

struct cel_attribute {
    struct str name; /* as in the ResourceSlice: "domain/id", or "id" of the driver's domain */
    enum cel_attribute_kind kind;
    bool truth;                         /* kind bool */
    int64_t number;                     /* kind int */
    struct str text;                    /* kinds string and version (semantic version 2.0.0) */
    uint32_t value_count;               /* kind list */
    const struct cel_attribute *values; /* kind list: without names */
};

struct cel_capacity {
    struct str name;  /* as with attributes */
    struct str value; /* a quantity as the API server wrote it: "40Gi" */
};

/* A device as its ResourceSlice has it; everything is borrowed. */
struct cel_device {
    struct str driver;
    bool allow_multiple_allocations; /* false when the field is absent */
    const struct cel_attribute *attributes;
    uint32_t attribute_count;
    const struct cel_capacity *capacities;
    uint32_t capacity_count;
};

/* A device made ready: versions and quantities parsed, names sorted by domain. */
struct cel_subject;

/* Made ready in the arena, once, for any number of programs; borrows the device's texts. NULL only
 * when the arena's limit is reached. An attribute that has no value or a version that is none does
 * not fail here: every cel_match answers CEL_FAILED then, as upstream. */
const struct cel_subject *cel_subject_new(struct arena *arena, const struct cel_device *device);

enum cel_verdict {
    CEL_NO_MATCH,
    CEL_MATCH,
    CEL_FAILED, /* a runtime error: upstream ends the scheduling cycle of the pod with it */
};

/* What an evaluation tells besides its verdict. */
struct cel_report {
    struct str error; /* CEL_FAILED: the text without upstream's leading "CEL runtime error: ", in
                         the arena or static */
    uint64_t cost;    /* CEL's units, never much above CEL_COST_MAX */
};

/* Evaluates. Takes memory from scratch alone and resets nothing: the caller resets it between
 * evaluations and sets a limit (CEL_SCRATCH_BYTES); a limit that is reached is CEL_FAILED. Ends
 * within CEL_COST_MAX units of work. Any number of threads may use the same program and subject,
 * each with its own scratch. *report is always filled in. */
enum cel_verdict cel_match(const struct cel_program *program, const struct cel_subject *subject,
                           struct arena *scratch, struct cel_report *report);

/* What the program of a derived attribute gives: an attribute without a name, in the scratch
 * memory. False with report->error. */
bool cel_derive(const struct cel_program *program, const struct cel_subject *subject,
                struct arena *scratch, struct cel_attribute *attribute, struct cel_report *report);

#endif
