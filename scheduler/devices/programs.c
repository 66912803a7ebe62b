/* programs: CEL selectors, compiled once for each text, and what they say of devices. The one idea:
 * a verdict depends on the program and the device alone, so it is kept in an array by the device's
 * slot until the slot is given to another. What must stay true: a slot's verdicts are forgotten
 * before it has another device, and a program that a search holds stays. */
#include "scheduler/devices/inside.h"

#include "proto/base/memory.h"

#include <string.h>

/* Above so many the one that was not held for longest goes. */
#define PROGRAMS_MAX 1024

static void program_free(struct program *program)
{
    str_drop(&program->text);
    str_drop(&program->key);
    str_drop(&program->error);
    cel_free(&program->cel);
    memory_free(program->verdicts);
    memory_free(program);
}

static void drop_oldest(struct devices *devices)
{
    size_t at = 0;
    struct str key;
    void *value;
    struct program *oldest = NULL;
    while (map_next(devices->programs, &at, &key, &value)) {
        struct program *p = value;
        if (p->searches == 0 && (oldest == NULL || p->last_held < oldest->last_held))
            oldest = p;
    }
    if (oldest == NULL)
        return;
    map_remove(devices->programs, oldest->key);
    program_free(oldest);
}

typedef struct cel_program *compile_fn(const struct cel_dialect *dialect, struct str text,
                                       struct buffer *error);

static struct program *compile(const struct cel_dialect *dialect, compile_fn *as, struct str text,
                               struct str key)
{
    struct buffer error = {0};
    struct program *program = memory_take(sizeof(*program));
    program->text = str_keep(text);
    program->key = str_keep(key);
    program->cel = as(dialect, text, &error);
    program->error = str_keep(buffer_str(&error));
    buffer_free(&error);
    return program;
}

static struct program *hold(struct devices *devices, const struct features *features,
                            compile_fn *as, struct str text)
{
    struct cel_dialect dialect = {.release = features->release, .lists = features->device_lists};
    struct buffer key = {0};
    buffer_print(&key, "%lld%s%s %.*s", (long long)dialect.release, dialect.lists ? "+" : "",
                 as == cel_compile_derived ? "=" : "", STR_ARG(text));
    struct program *program = map_get(devices->programs, buffer_str(&key));
    if (program == NULL) {
        if (map_count(devices->programs) >= PROGRAMS_MAX)
            drop_oldest(devices);
        program = compile(&dialect, as, text, buffer_str(&key));
        map_set(devices->programs, program->key, program);
    }
    buffer_free(&key);
    program->searches++;
    program->last_held = ++devices->holds;
    return program;
}

struct program *program_hold(struct devices *devices, const struct features *features,
                             struct str text)
{
    return hold(devices, features, cel_compile, text);
}

struct program *program_hold_derived(struct devices *devices, const struct features *features,
                                     struct str text)
{
    return hold(devices, features, cel_compile_derived, text);
}

void program_drop(struct program *program)
{
    program->searches--;
}

static const struct cel_subject *make_subject(const struct device *device, bool shared,
                                              struct arena *arena)
{
    uint32_t count = device->capacity_count;
    struct cel_capacity *capacities = arena_take(arena, count * sizeof(*capacities));
    for (uint32_t i = 0; i < count; i++)
        capacities[i] =
            (struct cel_capacity){device->capacities[i].name, device->capacities[i].value.text};
    struct cel_device *said = arena_take(arena, sizeof(*said));
    *said = (struct cel_device){.driver = device->slice->said.driver,
                                .allow_multiple_allocations = shared,
                                .attributes = device->said.attributes,
                                .attribute_count = device->said.attribute_count,
                                .capacities = capacities,
                                .capacity_count = count};
    return cel_subject_new(arena, said);
}

static const struct cel_subject *subject_of(struct device *device)
{
    if (device->subject == NULL)
        device->subject = make_subject(device, device->said.allow_multiple, &device->slice->arena);
    return device->subject;
}

static enum cel_verdict evaluate(struct devices *devices, const struct program *program,
                                 struct device *device, struct cel_report *report)
{
    if (program->cel == NULL) {
        *report = (struct cel_report){.error = program->error};
        return CEL_FAILED;
    }
    arena_reset(&devices->scratch);
    return cel_match(program->cel, subject_of(device), &devices->scratch, report);
}

enum cel_verdict program_match(struct devices *devices, struct program *program,
                               struct device *device, struct arena *arena, struct str *error)
{
    struct cel_report report = {0};
    uint32_t slot = device->slot;
    if (slot >= program->room) {
        uint32_t room = devices->slots.top;
        program->verdicts = memory_resize(program->verdicts, room);
        memset(program->verdicts + program->room, 0, room - program->room);
        program->room = room;
    }
    if (program->verdicts[slot] > 0 && program->verdicts[slot] != 1 + CEL_FAILED)
        return (enum cel_verdict)(program->verdicts[slot] - 1);
    enum cel_verdict verdict = evaluate(devices, program, device, &report);
    program->verdicts[slot] = (uint8_t)(1 + verdict);
    if (verdict == CEL_FAILED)
        *error = arena_copy(arena, report.error);
    return verdict;
}

enum cel_verdict program_match_unshared(struct devices *devices, struct program *program,
                                        struct device *device, struct arena *arena,
                                        struct str *error)
{
    static const char word[] = "allowMultipleAllocations";
    struct cel_report report = {0};
    if (!device->said.allow_multiple || program->cel == NULL ||
        memmem(program->text.at, program->text.len, word, sizeof(word) - 1) == NULL)
        return program_match(devices, program, device, arena, error);
    arena_reset(&devices->scratch);
    enum cel_verdict verdict =
        cel_match(program->cel, make_subject(device, false, arena), &devices->scratch, &report);
    if (verdict == CEL_FAILED)
        *error = arena_copy(arena, report.error);
    return verdict;
}

static struct cel_attribute copy_of(struct arena *arena, const struct cel_attribute *from)
{
    struct cel_attribute copy = *from;
    copy.text = arena_copy(arena, from->text);
    return copy;
}

const struct cel_attribute *program_derive(struct devices *devices, const struct program *program,
                                           struct device *device, struct arena *arena,
                                           struct str *error)
{
    struct cel_report report = {0};
    struct cel_attribute made;
    arena_reset(&devices->scratch);
    if (!cel_derive(program->cel, subject_of(device), &devices->scratch, &made, &report)) {
        *error = arena_copy(arena, report.error);
        return NULL;
    }
    struct cel_attribute *kept = arena_take(arena, sizeof(*kept));
    struct cel_attribute *values = arena_take(arena, made.value_count * sizeof(*values));
    *kept = copy_of(arena, &made);
    kept->values = values;
    for (uint32_t i = 0; i < made.value_count; i++)
        values[i] = copy_of(arena, &made.values[i]);
    return kept;
}

void programs_forget(struct devices *devices, uint32_t first, uint32_t count)
{
    size_t at = 0;
    struct str key;
    void *value;
    while (map_next(devices->programs, &at, &key, &value)) {
        struct program *p = value;
        if (first < p->room)
            memset(p->verdicts + first, 0, count < p->room - first ? count : p->room - first);
    }
}

void programs_free(struct devices *devices)
{
    size_t at = 0;
    struct str key;
    void *value;
    while (map_next(devices->programs, &at, &key, &value))
        program_free(value);
    map_free(&devices->programs);
}
