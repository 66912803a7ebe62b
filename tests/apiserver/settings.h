/* Settings of an option that takes several: "nodes=20,zones=3". */
#ifndef APISERVER_SETTINGS_H
#define APISERVER_SETTINGS_H

#include "support.h"

struct setting {
    const char *key;
    double *place, least, most;
};

/* Reads the text into the places of a table that ends with a NULL key; false with one line in why,
 * which begins with the option's name, as soon as a key is unknown or a number out of its range. */
bool settings_read(const char *option, const struct setting *table, const char *text,
                   struct buffer *why);

#endif
