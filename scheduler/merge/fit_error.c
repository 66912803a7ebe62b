/* fit_error: counts reasons and writes them as FitError does. What must stay true: entries are
 * sorted as strings, numbers included, so that `10 …` stands before `2 …`, as everybody's tools
 * expect. */
#include "scheduler/merge/fit_error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void histogram_add(struct histogram *h, struct str text, int64_t count)
{
    if (count == 0)
        return;
    for (uint32_t i = 0; i < h->count; i++)
        if (str_equal(h->at[i].text, text)) {
            h->at[i].count += count;
            return;
        }
    if (h->count == h->room) {
        uint32_t room = h->room == 0 ? 8 : h->room * 2;
        struct tally *at = arena_take(h->arena, room * sizeof(*at));
        if (h->count > 0)
            memcpy(at, h->at, h->count * sizeof(*at));
        h->at = at;
        h->room = room;
    }
    h->at[h->count++] = (struct tally){text, count};
}

static int compare(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

struct str histogram_text(const struct histogram *h)
{
    struct str *lines = arena_take(h->arena, h->count * sizeof(*lines));
    for (uint32_t i = 0; i < h->count; i++)
        lines[i] =
            arena_print(h->arena, "%" PRId64 " %.*s", h->at[i].count, STR_ARG(h->at[i].text));
    qsort(lines, h->count, sizeof(*lines), compare);
    struct buffer text = {0};
    for (uint32_t i = 0; i < h->count; i++) {
        buffer_add_text(&text, i == 0 ? "" : ", ");
        buffer_add_str(&text, lines[i]);
    }
    struct str copy = arena_copy(h->arena, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

struct str fit_error(int64_t nodes, struct str pre_filter, const struct histogram *h,
                     struct str post_filter)
{
    struct str why = pre_filter.len > 0 ? pre_filter : histogram_text(h);
    return arena_print(h->arena, "0/%" PRId64 " nodes are available:%s%.*s%s%s%.*s", nodes,
                       why.len > 0 ? " " : "", STR_ARG(why), why.len > 0 ? "." : "",
                       post_filter.len > 0 ? " " : "", STR_ARG(post_filter));
}

struct str fit_absent(const struct strs *by, struct str nominated_plugin, struct arena *arena)
{
    struct strs all = {by->count, arena_take(arena, (by->count + 1) * sizeof(struct str))};
    bool known = nominated_plugin.len == 0;
    for (uint32_t i = 0; i < by->count; i++) {
        all.at[i] = by->at[i];
        known |= str_equal(by->at[i], nominated_plugin);
    }
    if (!known)
        all.at[all.count++] = nominated_plugin;
    qsort(all.at, all.count, sizeof(*all.at), compare);
    struct buffer text = {0};
    buffer_add_text(&text, "node(s) didn't satisfy plugin(s) [");
    for (uint32_t i = 0; i < all.count; i++)
        buffer_print(&text, "%s%.*s", i == 0 ? "" : " ", STR_ARG(all.at[i]));
    buffer_add_text(&text, "]");
    struct str copy = arena_copy(arena, buffer_str(&text));
    buffer_free(&text);
    return copy;
}
