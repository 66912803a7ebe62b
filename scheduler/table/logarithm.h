/* logarithm: ln as upstream computes it, bit for bit, on every machine. A C library's log differs
 * in the last bit between versions and processors, and scores are rounded products of it. */
#ifndef SCHEDULER_TABLE_LOGARITHM_H
#define SCHEDULER_TABLE_LOGARITHM_H

/* The natural logarithm of a positive finite number: Go's math.Log on amd64. */
double logarithm(double x);

#endif
