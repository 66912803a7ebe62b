/* node_facts: keeps the columns of facts in step with the nodes. The one idea: few lists of taints
 * or features are distinct, and few labels and images are asked about, however many nodes there
 * are.
 *
 * What must stay true: a list's number stands for the same list as long as some row has it; a
 * column that was asked for is right for every row, also after its label or image was gone for a
 * while. */
#include "scheduler/table/node_facts.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/table/nodes.h"

#include <string.h>

/* ---- lists by number ---- */

struct fact_list {
    uint32_t number, rows;
    struct str bytes;
};

struct fact_lists {
    struct numbered {
        struct map *by_bytes;
        struct fact_list **by_number; /* NULL: free, or 0 */
        uint32_t room, free;          /* how many numbers are free below the limit */
    } of[FACT_COUNT];
};

static uint32_t free_number(struct node_facts *f, enum fact fact)
{
    struct numbered *n = &f->lists->of[fact];
    uint32_t number = 1;
    if (n->free == 0)
        number = f->limit[fact] == 0 ? 1 : f->limit[fact];
    else
        while (n->by_number[number] != NULL)
            number++;
    if (number >= n->room) {
        n->room = n->room == 0 ? 8 : n->room * 2;
        n->by_number = memory_resize(n->by_number, n->room * sizeof(struct fact_list *));
    }
    if (number >= f->limit[fact])
        f->limit[fact] = number + 1;
    else
        n->free--;
    return number;
}

static uint32_t take_list(struct node_facts *f, enum fact fact, struct str bytes)
{
    struct numbered *n = &f->lists->of[fact];
    if (bytes.len == 0)
        return 0;
    struct fact_list *list = map_get(n->by_bytes, bytes);
    if (list == NULL) {
        list = memory_take(sizeof(*list));
        list->bytes = str_keep(bytes);
        list->number = free_number(f, fact);
        n->by_number[list->number] = list;
        map_set(n->by_bytes, list->bytes, list);
        f->version++;
    }
    list->rows++;
    return list->number;
}

static void drop_list(struct node_facts *f, enum fact fact, uint32_t number)
{
    struct numbered *n = &f->lists->of[fact];
    if (number == 0)
        return;
    struct fact_list *list = n->by_number[number];
    must(list != NULL && list->rows > 0);
    if (--list->rows > 0)
        return;
    map_remove(n->by_bytes, list->bytes);
    str_drop(&list->bytes);
    memory_free(list);
    n->by_number[number] = NULL;
    n->free++;
}

static bool is_list(enum fact fact)
{
    return fact != FACT_unschedulable;
}

/* ---- what was asked for ---- */

#define ASKED_MAX 64

enum asked { ASKED_nothing, ASKED_label, ASKED_name, ASKED_image };

struct asked_column {
    enum asked kind;
    uint32_t key;
    const struct image_state *image; /* only compared */
    uint64_t used;
    uint32_t *at;
};

struct asked_columns {
    uint32_t room;
    uint64_t asks;
    struct asked_column of[ASKED_MAX];
};

/* The node's images are sorted by address. */
bool node_holds_image(const struct node_entry *node, const struct image_state *image)
{
    uint32_t low = 0, high = node->image_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((uintptr_t)node->images[middle] < (uintptr_t)image)
            low = middle + 1;
        else
            high = middle;
    }
    return low < node->image_count && node->images[low] == image;
}

static uint32_t answer(const struct asked_column *c, const struct node_entry *node)
{
    switch (c->kind) {
    case ASKED_label: return label_value(node->labels, node->label_count, c->key);
    case ASKED_name: return node->name;
    case ASKED_image: return node_holds_image(node, c->image);
    case ASKED_nothing: break;
    }
    return 0;
}

static const uint32_t *ask(const struct nodes *n, const struct asked_column *what)
{
    struct asked_columns *all = n->facts.asked;
    if (all == NULL)
        return NULL; /* there never was a row */
    struct asked_column *column = &all->of[0];
    for (int i = 0; i < ASKED_MAX; i++) {
        struct asked_column *c = &all->of[i];
        if (c->kind == what->kind && c->key == what->key && c->image == what->image) {
            c->used = ++all->asks;
            return c->at;
        }
        if (c->used < column->used)
            column = c;
    }
    uint32_t *at = column->at == NULL ? memory_take_array(all->room, sizeof(*at)) : column->at;
    *column = *what;
    column->at = at;
    column->used = ++all->asks;
    for (uint32_t row = 0; row < n->count; row++)
        at[row] = answer(column, n->entry[row]);
    return at;
}

const uint32_t *facts_of_label(const struct nodes *n, uint32_t key)
{
    return ask(n, &(struct asked_column){.kind = ASKED_label, .key = key});
}

const uint32_t *facts_of_name(const struct nodes *n)
{
    return ask(n, &(struct asked_column){.kind = ASKED_name});
}

const uint32_t *facts_of_image(const struct nodes *n, const struct image_state *image)
{
    return ask(n, &(struct asked_column){.kind = ASKED_image, .image = image});
}

bool facts_have_image(const struct nodes *n, const struct image_state *image)
{
    const struct asked_columns *all = n->facts.asked;
    for (int i = 0; i < ASKED_MAX && all != NULL; i++)
        if (all->of[i].kind == ASKED_image && all->of[i].image == image)
            return true;
    return false;
}

/* ---- rows ---- */

static void start(struct node_facts *f)
{
    f->lists = memory_take(sizeof(*f->lists));
    f->asked = memory_take(sizeof(*f->asked));
    for (int i = 0; i < FACT_COUNT; i++)
        f->lists->of[i].by_bytes = map_new();
}

void node_facts_reserve(struct node_facts *f, uint32_t room)
{
    if (f->lists == NULL)
        start(f);
    for (int i = 0; i < FACT_COUNT; i++)
        f->at[i] = memory_resize(f->at[i], room * sizeof(*f->at[i]));
    f->asked->room = room;
    for (int i = 0; i < ASKED_MAX; i++)
        if (f->asked->of[i].at != NULL)
            f->asked->of[i].at = memory_resize(f->asked->of[i].at, room * sizeof(uint32_t));
}

void node_facts_add(struct node_facts *f, uint32_t row)
{
    for (int i = 0; i < FACT_COUNT; i++)
        f->at[i][row] = 0;
    for (int i = 0; i < ASKED_MAX; i++)
        if (f->asked->of[i].at != NULL)
            f->asked->of[i].at[row] = 0;
}

void node_facts_remove(struct node_facts *f, uint32_t row, uint32_t last)
{
    for (int i = 0; i < FACT_COUNT; i++) {
        if (is_list((enum fact)i))
            drop_list(f, (enum fact)i, f->at[i][row]);
        f->at[i][row] = f->at[i][last];
    }
    for (int i = 0; i < ASKED_MAX; i++)
        if (f->asked->of[i].at != NULL)
            f->asked->of[i].at[row] = f->asked->of[i].at[last];
}

void node_facts_free(struct node_facts *f)
{
    for (int i = 0; i < FACT_COUNT; i++) {
        must(f->lists == NULL || map_count(f->lists->of[i].by_bytes) == 0);
        memory_free(f->at[i]);
        if (f->lists == NULL)
            continue;
        map_free(&f->lists->of[i].by_bytes);
        memory_free(f->lists->of[i].by_number);
    }
    for (int i = 0; i < ASKED_MAX && f->asked != NULL; i++)
        memory_free(f->asked->of[i].at);
    memory_free(f->lists);
    memory_free(f->asked);
    *f = (struct node_facts){0};
}

_Static_assert(sizeof(struct node_taint) == 3 * sizeof(uint32_t), "equal taints, equal bytes");

static struct str bytes_of(const void *at, size_t size)
{
    return (struct str){at, (uint32_t)size};
}

void node_facts_set(struct nodes *n, uint32_t row)
{
    const struct node_entry *e = n->entry[row];
    struct node_facts *f = &n->facts;
    uint32_t numbers[FACT_COUNT] = {
        [FACT_unschedulable] = e->unschedulable,
        [FACT_taints] =
            take_list(f, FACT_taints, bytes_of(e->taints, e->taint_count * sizeof(*e->taints))),
        [FACT_features] = take_list(f, FACT_features,
                                    bytes_of(e->features, e->feature_count * sizeof(*e->features))),
    };
    if (e->unschedulable)
        f->limit[FACT_unschedulable] = 2;
    for (int i = 0; i < FACT_COUNT; i++) {
        if (is_list((enum fact)i))
            drop_list(f, (enum fact)i, f->at[i][row]);
        f->at[i][row] = numbers[i];
    }
    for (int i = 0; i < ASKED_MAX; i++)
        if (f->asked->of[i].kind != ASKED_nothing)
            f->asked->of[i].at[row] = answer(&f->asked->of[i], e);
}

uint32_t *fact_memo(struct fact_memo *m, const struct nodes *n, enum fact fact, struct arena *a)
{
    const struct node_facts *f = &n->facts;
    uint32_t wanted = f->limit[fact] == 0 ? 1 : f->limit[fact];
    if (m->at != NULL && m->version == f->version)
        return m->at;
    if (m->at == NULL || m->room < wanted) {
        m->room = wanted;
        m->at = arena_take(a, wanted * sizeof(*m->at));
    } else {
        memset(m->at, 0, wanted * sizeof(*m->at));
    }
    m->version = f->version;
    return m->at;
}
