/* comparer: two maps, filled part by part. Parts of one list stand one behind the other in the
 * stream, so nothing has changed between them. What must stay true: an incomplete list is never
 * compared.
 */
#include "proto/comparer.h"

#include "proto/base/log.h"

#define NAMES_ROOM 700 /* of a line; the rest is counted */

void comparer_clear(struct comparer *r)
{
    map_free(&r->nodes);
    map_free(&r->pods);
    arena_free(&r->memory);
    *r = (struct comparer){0};
}

static void put(struct comparer *r, struct map *into, struct str name, const struct name_told *what)
{
    struct name_told *kept = arena_take(&r->memory, sizeof(*kept));
    *kept = *what;
    kept->scheduler_name = arena_copy(&r->memory, what->scheduler_name);
    map_set(into, name, kept);
}

bool comparer_take(struct comparer *r, const struct names *said)
{
    if (said->part == 1) {
        comparer_clear(r);
        r->nodes = map_new();
        r->pods = map_new();
        r->id = said->id;
    }
    if (r->nodes == NULL || said->id != r->id || said->part != r->part + 1) {
        comparer_clear(r);
        return false;
    }
    r->part = said->part;
    for (uint32_t i = 0; i < said->nodes.count; i++)
        put(r, r->nodes, said->nodes.at[i], &(struct name_told){0});
    for (uint32_t i = 0; i < said->pods.count; i++)
        put(r, r->pods, said->pods.at[i].uid,
            &(struct name_told){.assigned = said->pods.at[i].assigned,
                                .scheduler_name = said->pods.at[i].scheduler_name});
    return said->last;
}

static void add(struct buffer *names, size_t *count, struct str name)
{
    if (names->len + name.len < NAMES_ROOM)
        buffer_print(names, "%s%.*s", *count > 0 ? " " : "", STR_ARG(name));
    *count += 1;
}

void mismatch_missed(struct mismatch *m, struct str name)
{
    add(&m->missed, &m->missed_count, name);
}

void mismatch_redundant(struct mismatch *m, struct str name)
{
    add(&m->redundant, &m->redundant_count, name);
}

void mismatch_log(struct mismatch *m, const char *what)
{
    if (m->missed_count + m->redundant_count > 0)
        log_info("Cache mismatch| missed%s=\"[%s]\" redundant%s=\"[%s]\" missed=%zu redundant=%zu",
                 what, m->missed.len > 0 ? m->missed.at : "", what,
                 m->redundant.len > 0 ? m->redundant.at : "", m->missed_count, m->redundant_count);
    buffer_free(&m->missed);
    buffer_free(&m->redundant);
    *m = (struct mismatch){0};
}
