/* share_facts: what nodes are, and which images they have, as strings that are kept once. What must
 * stay true: every atom that an entry holds was taken once for it and is dropped with it; an image
 * is known as long as a node has it, or the coordinator counts it. */
#include "scheduler/worker/share.h"

#include "proto/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- images ---- */

static struct image_state *need_image(struct share *s, struct str name)
{
    struct image_state *image = map_get(s->images, name);
    if (image != NULL)
        return image;
    image = memory_take(sizeof(*image));
    image->name = str_keep(name);
    map_set(s->images, name, image);
    return image;
}

static void free_image(struct image_state *image)
{
    str_drop(&image->name);
    memory_free(image);
}

static void drop_image_if_unused(struct share *s, struct image_state *image)
{
    if (image->refs > 0 || image->count > 0)
        return;
    map_remove(s->images, image->name);
    free_image(image);
}

void share_facts_images(struct share *s, const struct shard_images *images)
{
    s->cluster_nodes = images->nodes;
    s->touched.images++;
    for (uint32_t i = 0; i < images->sizes.count; i++)
        need_image(s, images->sizes.at[i].text)->size = images->sizes.at[i].count;
    for (uint32_t i = 0; i < images->counts.count; i++)
        need_image(s, images->counts.at[i].text)->count = images->counts.at[i].count;
    for (uint32_t i = 0; i < images->counts.count; i++) {
        struct image_state *image = map_get(s->images, images->counts.at[i].text);
        if (image != NULL)
            drop_image_if_unused(s, image);
    }
}

static int compare_images(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t) * (struct image_state *const *)a;
    uintptr_t right = (uintptr_t) * (struct image_state *const *)b;
    return (left > right) - (left < right);
}

static void set_images(struct share *s, struct node_entry *e, const struct node *node)
{
    size_t room = 0;
    for (uint32_t i = 0; i < node->images.count; i++)
        room += node->images.at[i].names.count;
    e->images = memory_take_array(room, sizeof(struct image_state *));
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->images.count; i++)
        for (uint32_t k = 0; k < node->images.at[i].names.count; k++)
            e->images[count++] = need_image(s, node->images.at[i].names.at[k]);
    qsort(e->images, count, sizeof(struct image_state *), compare_images);
    e->image_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (e->image_count == 0 || e->images[e->image_count - 1] != e->images[i]) {
            e->images[i]->refs++;
            e->images[e->image_count++] = e->images[i];
        }
}

static int compare_labels(const void *a, const void *b)
{
    uint32_t left = ((const struct node_label *)a)->key,
             right = ((const struct node_label *)b)->key;
    return (left > right) - (left < right);
}

static void set_labels(struct share *s, struct node_entry *e, const struct node *node)
{
    e->label_count = node->labels.count;
    e->labels = memory_take_array(e->label_count, sizeof(*e->labels));
    for (uint32_t i = 0; i < e->label_count; i++)
        e->labels[i] = (struct node_label){atom_take(s->atoms, node->labels.at[i].key),
                                           atom_take(s->atoms, node->labels.at[i].value)};
    qsort(e->labels, e->label_count, sizeof(*e->labels), compare_labels);
}

static void set_taints(struct share *s, struct node_entry *e, const struct node *node)
{
    e->taint_count = node->taints.count;
    e->taints = memory_take_array(e->taint_count, sizeof(*e->taints));
    for (uint32_t i = 0; i < e->taint_count; i++)
        e->taints[i] = (struct node_taint){atom_take(s->atoms, node->taints.at[i].key),
                                           atom_take(s->atoms, node->taints.at[i].value),
                                           effect_of(node->taints.at[i].effect)};
}

static void set_features(struct share *s, struct node_entry *e, const struct node *node)
{
    e->feature_count = node->features.count;
    e->features = memory_take_array(e->feature_count, sizeof(*e->features));
    for (uint32_t i = 0; i < e->feature_count; i++)
        e->features[i] = atom_take(s->atoms, node->features.at[i]);
}

static void set_troubles(struct share *s, struct node_entry *e, const struct node *node)
{
    e->troubles = 0;
    for (uint32_t i = 0; i < node->conditions.count; i++)
        e->troubles |= trouble_of(node->conditions.at[i].key, node->conditions.at[i].value);
    e->avoided_count = node->avoided.count;
    e->avoided = memory_take_array(e->avoided_count, sizeof(*e->avoided));
    for (uint32_t i = 0; i < e->avoided_count; i++)
        e->avoided[i] = (struct node_label){atom_take(s->atoms, node->avoided.at[i].key),
                                            atom_take(s->atoms, node->avoided.at[i].value)};
}

void share_facts_set(struct share *s, struct node_entry *e, const struct node *node)
{
    e->unschedulable = node->unschedulable;
    e->spares_from_resizes = node->spares_from_resizes.count > 0;
    set_labels(s, e, node);
    set_taints(s, e, node);
    set_images(s, e, node);
    set_features(s, e, node);
    set_troubles(s, e, node);
}

void share_facts_drop(struct share *s, struct node_entry *e)
{
    for (uint32_t i = 0; i < e->label_count; i++) {
        atom_drop(s->atoms, e->labels[i].key);
        atom_drop(s->atoms, e->labels[i].value);
    }
    for (uint32_t i = 0; i < e->taint_count; i++) {
        atom_drop(s->atoms, e->taints[i].key);
        atom_drop(s->atoms, e->taints[i].value);
    }
    for (uint32_t i = 0; i < e->image_count; i++) {
        e->images[i]->refs--;
        drop_image_if_unused(s, e->images[i]);
    }
    for (uint32_t i = 0; i < e->feature_count; i++)
        atom_drop(s->atoms, e->features[i]);
    for (uint32_t i = 0; i < e->avoided_count; i++) {
        atom_drop(s->atoms, e->avoided[i].key);
        atom_drop(s->atoms, e->avoided[i].value);
    }
    memory_free(e->features);
    memory_free(e->avoided);
    memory_free(e->labels);
    memory_free(e->taints);
    memory_free(e->images);
    e->label_count = e->taint_count = e->image_count = e->feature_count = 0;
    e->avoided_count = 0;
    e->features = NULL;
    e->avoided = NULL;
    e->labels = NULL;
    e->taints = NULL;
    e->images = NULL;
}

static bool same_bytes(const void *a, const void *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

bool share_facts_same_images(const struct node_entry *a, const struct node_entry *b)
{
    return a->image_count == b->image_count &&
           same_bytes(a->images, b->images, a->image_count * sizeof(struct image_state *));
}

bool share_facts_same(const struct node_entry *a, const struct node_entry *b)
{
    if (a->label_count != b->label_count || a->taint_count != b->taint_count)
        return false;
    for (uint32_t i = 0; i < a->taint_count; i++)
        if (a->taints[i].key != b->taints[i].key || a->taints[i].value != b->taints[i].value ||
            a->taints[i].effect != b->taints[i].effect)
            return false;
    return same_bytes(a->labels, b->labels, a->label_count * sizeof(*a->labels));
}

void share_facts_forget_images(struct share *s)
{
    size_t at = 0;
    struct str name;
    void *value;
    while (map_next(s->images, &at, &name, &value)) {
        map_remove(s->images, name);
        free_image(value);
    }
}
