/* decisions_kept: a ring. The one idea: the texts of an entry lie in one piece of memory, which its
 * place in the ring keeps for the next one, so that in the long run nothing is taken or given back.
 *
 * What must stay true: never more than so many entries, none larger than its texts may be. */
#include "scheduler/merge/decisions_kept.h"

#include "proto/base/memory.h"

#include <string.h>

#define FIRST_ENTRIES 64

struct entry {
    struct past_decision decision;
    struct str namespace_name, name;
    char *text; /* what all of these borrow from */
    uint32_t room;
};

struct decisions_kept {
    uint32_t most, room, count;
    uint32_t next; /* the place of the next one */
    struct entry *at;
};

struct decisions_kept *decisions_kept_new(uint32_t most)
{
    struct decisions_kept *k = memory_take(sizeof(*k));
    k->most = most;
    return k;
}

void decisions_kept_free(struct decisions_kept **kept)
{
    struct decisions_kept *k = *kept;
    if (k == NULL)
        return;
    for (uint32_t i = 0; i < k->count; i++)
        memory_free(k->at[i].text);
    memory_free(k->at);
    memory_free(k);
    *kept = NULL;
}

/* The ring has all its places before one is taken a second time. */
static struct entry *place_for_next(struct decisions_kept *k)
{
    if (k->next == k->room && k->room < k->most) {
        uint32_t room = k->room == 0 ? FIRST_ENTRIES : 2 * k->room;
        room = room < k->most ? room : k->most;
        k->at = memory_resize(k->at, room * sizeof(*k->at));
        memset(k->at + k->room, 0, (room - k->room) * sizeof(*k->at));
        k->room = room;
    }
    struct entry *e = &k->at[k->next];
    k->next = k->next + 1 == k->most ? 0 : k->next + 1;
    k->count += k->count < k->most;
    return e;
}

static struct str put(char **at, struct str text)
{
    struct str copy = {*at, text.len};
    if (text.len > 0)
        memcpy(*at, text.at, text.len);
    *at += text.len;
    return copy;
}

/* Never within a character. */
static struct str cut(struct str text)
{
    if (text.len <= DECISIONS_KEPT_MESSAGE)
        return text;
    text.len = DECISIONS_KEPT_MESSAGE;
    while (text.len > 0 && ((unsigned char)text.at[text.len] & 0xc0) == 0x80)
        text.len--;
    return text;
}

void decisions_kept_add(struct decisions_kept *k, const struct pod *pod,
                        const struct past_decision *decision)
{
    struct str message = cut(decision->message);
    uint32_t size =
        pod->namespace_name.len + pod->name.len + pod->uid.len + decision->node.len + message.len;
    if (k->most == 0)
        return;
    struct entry *e = place_for_next(k);
    if (e->room < size) {
        memory_free(e->text);
        e->text = memory_take_array(size, 1);
        e->room = size;
    }
    char *at = e->text;
    e->decision = *decision;
    e->namespace_name = put(&at, pod->namespace_name);
    e->name = put(&at, pod->name);
    e->decision.uid = put(&at, pod->uid);
    e->decision.node = put(&at, decision->node);
    e->decision.message = put(&at, message);
}

/* The i-th newest, from 0 on. */
static const struct entry *newest(const struct decisions_kept *k, uint32_t i)
{
    uint32_t back = i + 1;
    return &k->at[k->next >= back ? k->next - back : k->next + k->most - back];
}

uint32_t decisions_kept_of(const struct decisions_kept *k, struct str namespace_name,
                           struct str name, struct past_decision *out, uint32_t room)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < k->count && found < room; i++) {
        const struct entry *e = newest(k, i);
        if (str_equal(e->name, name) && str_equal(e->namespace_name, namespace_name))
            out[found++] = e->decision;
    }
    return found;
}

uint32_t decisions_kept_latest(const struct decisions_kept *k, struct past_decision *out,
                               uint32_t room)
{
    uint32_t count = k->count < room ? k->count : room;
    for (uint32_t i = 0; i < count; i++) {
        const struct entry *e = newest(k, i);
        out[i] = e->decision;
        out[i].namespace_name = e->namespace_name;
        out[i].name = e->name;
    }
    return count;
}

uint32_t decisions_kept_count(const struct decisions_kept *k)
{
    return k->count;
}

int64_t decisions_kept_since(const struct decisions_kept *k)
{
    return k->count > 0 ? newest(k, k->count - 1)->decision.wall_us : 0;
}
