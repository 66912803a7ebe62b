/* totals: the figures of all processes as one page of Prometheus' text format.
 *
 * A process that starts again counts from 0; what its former life had counted stays in the sums, so
 * that a restart is no reset to whoever reads them. Gauges of a process that does not answer are
 * left out. */
#ifndef SERVE_TOTALS_H
#define SERVE_TOTALS_H

#include "ctl/serve/faces.h"
#include "ctl/serve/label_rules.h"
#include "proto/base/buffer.h"
#include "proto/messages.h"

struct totals;

/* What is shown of it: what a release shows (by default the oldest one with its gates by default),
 * not these metrics, and of labels with rules only these values. */
struct totals_filter {
    struct release_view view;
    struct strs without;
    struct label_rules allowed;
};

/* Sources are numbered 0 … sources - 1. */
struct totals *totals_new(size_t sources);
void totals_free(struct totals **totals);
/* What a process has said; replaces what it said before. Unknown metrics and samples that do not
 * fit their declaration are ignored. */
void totals_take(struct totals *t, size_t source, const struct metrics *said);
/* Whether it answers; up from totals_take on. */
void totals_set_up(struct totals *t, size_t source, bool up);
/* The page through a filter (NULL: none): families by name, series by labels; HELP and TYPE as
 * kube-scheduler prints them. */
void totals_print(struct totals *t, const struct totals_filter *filter, struct buffer *out);

/* The value of a label, escaped. */
void totals_print_label(struct buffer *out, struct str value);
/* A number as Go's strconv prints it with format g and the least digits that read back the same. */
void totals_print_number(struct buffer *out, double number);

#endif
