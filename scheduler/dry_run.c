/* dry_run: what would become of each node if its pods of lower priority were gone. The one idea:
 * the node's row is copied, the pods taken out of the copy, and the same filters asked again.
 *
 * It answers whether preemption could make room and, where not, why; choosing victims and a node is
 * a matter of those who evict. */
#include "scheduler/shard_inside.h"

/* How many pods went out of the copy. */
static uint32_t remove_lower(struct row_copy *copy, int64_t priority)
{
    uint32_t removed = 0;
    for (uint32_t i = 0; i < copy->entry->pod_count; i++) {
        if (copy->entry->pods[i]->priority >= priority)
            continue;
        nodes_remove_pod(&copy->nodes, 0, copy->entry->pods[i]);
        removed++;
    }
    return removed;
}

static void try_node(struct evaluation *e, uint32_t row)
{
    struct scratch *scratch = &e->shard->scratch;
    evaluate_row(e, &e->shard->nodes, row);
    if (e->ruling.code != CODE_unschedulable)
        return;
    e->result->dry_run_nodes++;
    row_copy_make(&scratch->copy, &e->shard->nodes, row);
    if (remove_lower(&scratch->copy, e->cycle.pod->priority) == 0) {
        e->ruling.count = 0;
        ruling_reject(&e->ruling, CODE_unresolvable, "No preemption victims found for incoming pod",
                      (struct str){0});
    } else {
        evaluate_row(e, &scratch->copy.nodes, 0);
        if (e->ruling.code == CODE_success) {
            e->result->dry_run_fits++;
            return;
        }
    }
    reason_counts_add(e, &e->reasons, &e->ruling);
}

void dry_run(struct evaluation *e)
{
    for (uint32_t i = 0; i < e->shard->scratch.row_count; i++)
        try_node(e, e->shard->scratch.rows[i]);
    reason_counts_tell(e, &e->reasons, &e->result->dry_run_reasons.count,
                       &e->result->dry_run_reasons.at);
}
