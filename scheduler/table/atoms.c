/* atoms: counted strings by index, found by their text. Free entries form a list, so numbers stay
 * small and dense. What must stay true: an entry is found exactly while it has users, and its text
 * never moves meanwhile. */
#include "scheduler/table/atoms.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/table.h"

struct entry {
    char *text; /* NULL: free, and users is the next free entry */
    uint32_t len, users;
    uint32_t hash;
    bool is_integer;
    int64_t integer;
};

struct atoms {
    struct entry *at; /* at[0] is never used, so that 0 can mean "no such string" */
    uint32_t count, room, free, live;
    uint64_t made;
    struct table by_text; /* numbers in the place of pointers */
};

struct atoms *atoms_new(void)
{
    struct atoms *atoms = memory_take(sizeof(*atoms));
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
    table_free(&(*atoms)->by_text);
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

static void *as_thing(uint32_t atom)
{
    return (void *)(uintptr_t)atom; /* NOLINT(performance-no-int-to-ptr) */
}

struct wanted {
    const struct atoms *atoms;
    struct str text;
};

static bool is_wanted(const void *thing, const void *key)
{
    const struct wanted *w = key;
    const struct entry *e = &w->atoms->at[(uintptr_t)thing];
    return str_equal((struct str){e->text, e->len}, w->text);
}

static uint32_t find(const struct atoms *atoms, struct str s, uint32_t hash)
{
    const struct wanted wanted = {atoms, s};
    return (uint32_t)(uintptr_t)table_get(&atoms->by_text, hash, is_wanted, &wanted);
}

uint32_t atom_take(struct atoms *atoms, struct str s)
{
    uint32_t hash = table_hash(str_hash(s));
    uint32_t i = find(atoms, s, hash);
    if (i != 0) {
        atoms->at[i].users++;
        return i;
    }
    i = free_entry(atoms);
    struct entry *e = &atoms->at[i];
    *e = (struct entry){.text = memory_copy(s.at, s.len), .len = s.len, .users = 1, .hash = hash};
    e->is_integer = str_to_i64((struct str){e->text, e->len}, &e->integer);
    table_add(&atoms->by_text, hash, as_thing(i));
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
    table_remove(&atoms->by_text, e->hash, as_thing(atom));
    memory_free(e->text);
    *e = (struct entry){.users = atoms->free};
    atoms->free = atom;
    atoms->live--;
}

uint32_t atom_find(const struct atoms *atoms, struct str s)
{
    return find(atoms, s, table_hash(str_hash(s)));
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
