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
    map_remove(devices->programs, oldest->text);
    program_free(oldest);
}

struct program *program_hold(struct devices *devices, struct str text)
{
    struct program *program = map_get(devices->programs, text);
    if (program == NULL) {
        struct buffer error = {0};
        if (map_count(devices->programs) >= PROGRAMS_MAX)
            drop_oldest(devices);
        program = memory_take(sizeof(*program));
        program->text = str_keep(text);
        program->cel = cel_compile(text, &error);
        program->error = str_keep(buffer_str(&error));
        buffer_free(&error);
        map_set(devices->programs, program->text, program);
    }
    program->searches++;
    program->last_held = ++devices->holds;
    return program;
}

void program_drop(struct program *program)
{
    program->searches--;
}

static const struct cel_subject *subject_of(struct device *device)
{
    if (device->subject != NULL)
        return device->subject;
    struct arena *arena = &device->slice->arena;
    uint32_t count = device->capacity_count;
    struct cel_capacity *capacities = arena_take(arena, count * sizeof(*capacities));
    for (uint32_t i = 0; i < count; i++)
        capacities[i] =
            (struct cel_capacity){device->capacities[i].name, device->capacities[i].value.text};
    struct cel_device *said = arena_take(arena, sizeof(*said));
    *said = (struct cel_device){.driver = device->slice->said.driver,
                                .allow_multiple_allocations = device->said.allow_multiple,
                                .attributes = device->said.attributes,
                                .attribute_count = device->said.attribute_count,
                                .capacities = capacities,
                                .capacity_count = count};
    device->subject = cel_subject_new(arena, said);
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
