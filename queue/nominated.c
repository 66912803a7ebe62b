/* nominated: claims live with their pods, so adding, updating and deleting a pod does the same to
 * its claim. What must stay true: a decision that the API server has not shown yet outlives updates
 * that know nothing of it, else others would take the room that preemption makes. */
#include "queue/nominated.h"

#include "proto/base/memory.h"

struct str nominated_node(const struct entry *e)
{
    return e->nominated ? str_of(e->nominated) : (struct str){NULL, 0};
}

static void set(struct entry *e, struct str node)
{
    if (str_equal(nominated_node(e), node))
        return;
    memory_free(e->nominated);
    e->nominated = node.len > 0 ? str_copy(node) : NULL;
}

/* What the pod's status says; most say nothing. */
static struct str pod_claim(const struct entry *e)
{
    return shelf_str(e->kept, TAG_pod_nominated_node);
}

void nominated_decided(struct entry *e, struct str node, bool clear)
{
    if (node.len > 0)
        set(e, node);
    else
        set(e, clear ? (struct str){NULL, 0} : pod_claim(e));
}

void nominated_follow(struct entry *e, const struct pod *before)
{
    bool unknown_to_both =
        before != NULL && before->nominated_node.len == 0 && pod_claim(e).len == 0;
    if (!unknown_to_both)
        set(e, pod_claim(e));
}
