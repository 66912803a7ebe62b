/* condition_sets: lists of condition types by number. The one idea: what a pod's conditions are
 * called is asked only when it becomes a victim, and is the same for nearly all pods, so a byte a
 * pod is enough. What must stay true: a number means the same list for as long as the sets live. */
#include "scheduler/rules/condition_sets.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <string.h>

void condition_sets_free(struct condition_sets *sets)
{
    for (uint32_t i = 0; i < sets->count; i++)
        memory_free(sets->at[i]);
    if (sets->numbers != NULL)
        map_free(&sets->numbers);
    *sets = (struct condition_sets){0};
}

/* Of types that a blank could be in, nothing can be said later. */
static bool join(const struct strs *types, struct buffer *out)
{
    bool plain = true;
    for (uint32_t i = 0; i < types->count; i++) {
        struct str type = types->at[i];
        plain = plain && type.len > 0 && memchr(type.at, ' ', type.len) == NULL;
        if (i > 0)
            buffer_add(out, " ", 1);
        buffer_add_str(out, type);
    }
    return plain;
}

static uint8_t number_of(struct condition_sets *sets, struct str text)
{
    if (sets->numbers == NULL)
        sets->numbers = map_new();
    char **known = map_get(sets->numbers, text);
    if (known != NULL)
        return (uint8_t)(known - sets->at + 1);
    if (sets->count == CONDITION_SETS_MAX)
        return 0;
    sets->at[sets->count] = str_copy(text);
    must(map_set(sets->numbers, text, &sets->at[sets->count]) == NULL);
    return (uint8_t)++sets->count;
}

uint8_t condition_sets_number(struct condition_sets *sets, const struct strs *types)
{
    struct buffer text = {0};
    buffer_add_text(&text, "");
    uint8_t number = join(types, &text) ? number_of(sets, buffer_str(&text)) : 0;
    buffer_free(&text);
    return number;
}

struct strs condition_sets_types(const struct condition_sets *sets, uint8_t number, struct arena *a)
{
    must(number > 0 && number <= sets->count);
    struct str rest = arena_copy(a, str_of(sets->at[number - 1])), type;
    struct strs types = {0, arena_take(a, (rest.len / 2 + 1) * sizeof(struct str))};
    while (rest.len > 0 && str_split(&rest, " ", &type))
        types.at[types.count++] = type;
    return types;
}
