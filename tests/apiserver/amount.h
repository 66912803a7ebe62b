/* Resource quantities ("100m", "4Gi", "1e3"), as far as admission has to understand them. */
#ifndef APISERVER_AMOUNT_H
#define APISERVER_AMOUNT_H

#include <stdbool.h>

/* The value in thousandths; false when the text is no quantity. Beyond 2^63 it saturates. */
bool amount_parse(const char *text, long double *milli);

#endif
