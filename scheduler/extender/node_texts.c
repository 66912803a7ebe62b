/* node_texts: one text a node, by name. What must stay true: after a list exactly the nodes that it
 * showed are there, whatever was missed before. */
#include "scheduler/extender/node_texts.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/kube/documents/json_text.h"

struct node_text {
    struct str text;
    uint64_t list; /* the last list that showed it, or began before it was set */
};

struct node_texts {
    struct map *by_name;
    uint64_t list;
    size_t bytes;
};

struct node_texts *node_texts_new(void)
{
    struct node_texts *texts = memory_take(sizeof(*texts));
    texts->by_name = map_new();
    return texts;
}

static void drop(struct node_texts *texts, struct node_text *t)
{
    texts->bytes -= t->text.len;
    str_drop(&t->text);
    memory_free(t);
}

/* Those that the current list has not shown; all when there is no list to go by. */
static void remove_old(struct node_texts *texts, bool all)
{
    size_t at = 0;
    struct str name;
    void *value;
    while (map_next(texts->by_name, &at, &name, &value)) {
        struct node_text *t = value;
        if (!all && t->list == texts->list)
            continue;
        map_remove(texts->by_name, name);
        drop(texts, t);
    }
}

void node_texts_free(struct node_texts **texts)
{
    if (*texts == NULL)
        return;
    remove_old(*texts, true);
    map_free(&(*texts)->by_name);
    memory_free(*texts);
    *texts = NULL;
}

void node_texts_list_begin(struct node_texts *texts)
{
    texts->list++;
}

void node_texts_list_end(struct node_texts *texts)
{
    remove_old(texts, false);
}

static struct str name_of(const struct kube_json *node)
{
    return kube_json_text(kube_json_path(node, "metadata.name"));
}

void node_texts_set(struct node_texts *texts, const struct kube_json *node)
{
    struct str name = name_of(node);
    if (name.len == 0)
        return;
    struct buffer text = {0};
    json_text_value(&text, node, "managedFields");
    struct node_text *t = memory_take(sizeof(*t));
    *t = (struct node_text){str_keep(buffer_str(&text)), texts->list};
    texts->bytes += t->text.len;
    struct node_text *before = map_set(texts->by_name, name, t);
    if (before != NULL)
        drop(texts, before);
    buffer_free(&text);
}

void node_texts_remove(struct node_texts *texts, const struct kube_json *node)
{
    struct node_text *t = map_remove(texts->by_name, name_of(node));
    if (t != NULL)
        drop(texts, t);
}

bool node_texts_get(const struct node_texts *texts, struct str name, struct str *text)
{
    const struct node_text *t = map_get(texts->by_name, name);
    if (t != NULL)
        *text = t->text;
    return t != NULL;
}

size_t node_texts_count(const struct node_texts *texts)
{
    return map_count(texts->by_name);
}

size_t node_texts_bytes(const struct node_texts *texts)
{
    return texts->bytes;
}
