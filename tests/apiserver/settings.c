/* Settings of an option that takes several numbers by name.
 *
 * The one idea: a setting is a row with the place its number goes to and the range it has to be in;
 * what must hold is that nothing is taken silently: an unknown key is refused by its name. */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

static const struct setting *find(const struct setting *table, const char *pair, size_t key)
{
    for (; table->key != NULL; table++) {
        if (strlen(table->key) == key && strncmp(table->key, pair, key) == 0)
            return table;
    }
    return NULL;
}

bool settings_read(const char *option, const struct setting *table, const char *text,
                   struct buffer *why)
{
    for (size_t size; *text; text += size + (text[size] == ',')) {
        size = strcspn(text, ",");
        size_t key = strcspn(text, "=,");
        const struct setting *found = find(table, text, key);
        if (found == NULL) {
            buffer_print(why, "%s %.*s: no such setting", option, (int)size, text);
            return false;
        }
        char *end = NULL;
        double value = key < size ? strtod(text + key + 1, &end) : -1;
        if (end != text + size || !(value >= found->least && value <= found->most)) {
            buffer_print(why, "%s %.*s: expected a number from %g to %g", option, (int)size, text,
                         found->least, found->most);
            return false;
        }
        *found->place = value;
    }
    return true;
}
