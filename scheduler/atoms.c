/* atoms: a table of counted strings with a map from text to index. Free entries form a list, so
 * numbers stay small and dense. What must stay true: an entry is in the map exactly while it has
 * users, and its text never moves meanwhile. */
#include "scheduler/atoms.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

struct entry {
    char *text; /* NULL: free, and users is the next free entry */
    uint32_t len, users;
    bool is_integer;
    int64_t integer;
};

struct atoms {
    struct entry *at; /* at[0] is never used, so that 0 can mean "no such string" */
    uint32_t count, room, free, live;
    uint64_t made;
    struct map *by_text;
};

struct atoms *atoms_new(void)
{
    struct atoms *atoms = memory_take(sizeof(*atoms));
    atoms->by_text = map_new();
    atoms->room = 64;
    atoms->at = memory_take_array(atoms->room, sizeof(*atoms->at));
    atoms->count = 1;
    return atoms;
}

void atoms_free(struct atoms **atoms)
{
    if (*atoms == NULL)
        return;
    for (uint32_t i = 1; i < (*atoms)->count; i++)
        memory_free((*atoms)->at[i].text);
    memory_free((*atoms)->at);
    map_free(&(*atoms)->by_text);
    memory_free(*atoms);
    *atoms = NULL;
}

static uint32_t free_entry(struct atoms *atoms)
{
    uint32_t i = atoms->free;
    if (i != 0) {
        atoms->free = atoms->at[i].users;
        return i;
    }
    if (atoms->count == atoms->room) {
        must(atoms->room < UINT32_MAX / 2);
        atoms->room *= 2;
        atoms->at = memory_resize(atoms->at, atoms->room * sizeof(*atoms->at));
    }
    return atoms->count++;
}

uint32_t atom_take(struct atoms *atoms, struct str s)
{
    uint32_t i = atom_find(atoms, s);
    if (i != 0) {
        atoms->at[i].users++;
        return i;
    }
    i = free_entry(atoms);
    struct entry *e = &atoms->at[i];
    *e = (struct entry){.text = memory_copy(s.at, s.len), .len = s.len, .users = 1};
    e->is_integer = str_to_i64((struct str){e->text, e->len}, &e->integer);
    map_set(atoms->by_text, s, (void *)(uintptr_t)i); /* NOLINT(performance-no-int-to-ptr) */
    atoms->live++;
    atoms->made++;
    return i;
}

void atom_drop(struct atoms *atoms, uint32_t atom)
{
    if (atom == 0)
        return;
    must(atom < atoms->count && atoms->at[atom].text != NULL);
    struct entry *e = &atoms->at[atom];
    if (--e->users > 0)
        return;
    map_remove(atoms->by_text, (struct str){e->text, e->len});
    memory_free(e->text);
    *e = (struct entry){.users = atoms->free};
    atoms->free = atom;
    atoms->live--;
}

uint32_t atom_find(const struct atoms *atoms, struct str s)
{
    return (uint32_t)(uintptr_t)map_get(atoms->by_text, s);
}

struct str atom_text(const struct atoms *atoms, uint32_t atom)
{
    must(atom > 0 && atom < atoms->count && atoms->at[atom].text != NULL);
    return (struct str){atoms->at[atom].text, atoms->at[atom].len};
}

bool atom_integer(const struct atoms *atoms, uint32_t atom, int64_t *value)
{
    must(atom > 0 && atom < atoms->count);
    *value = atoms->at[atom].integer;
    return atoms->at[atom].is_integer;
}

uint32_t atoms_count(const struct atoms *atoms)
{
    return atoms->live;
}

uint64_t atoms_made(const struct atoms *atoms)
{
    return atoms->made;
}
