/* tables: what berth has for kubectl's get. */
#ifndef CTL_TABLES_H
#define CTL_TABLES_H

#include "ctl/explain/live.h"
#include "ctl/tables/columns.h"

/* Which pods are shown, and how. */
struct pods_view {
    struct str space, node;   /* empty: all */
    struct selector selector; /* not present: all */
    bool pending;             /* without a node alone */
    bool spaces;              /* with the namespace as a column */
    bool wide;
    int64_t now_us; /* since 1970 */
};

/* The pods of a cluster that was loaded, by namespace and name; the table is empty. */
void pods_fill(const struct live *live, const struct pods_view *view, struct columns *table);
/* Of a PodScheduled condition's message the reason that turned away the most nodes, the first of
 * such ones: "9 Insufficient cpu". */
struct str pods_main_reason(struct str message);

/* The nodes of a cluster that was loaded, by name, as berth nodes shows them. */
void nodes_fill(const struct live *live, struct columns *table);

int command_pods(int argc, char **argv);

#endif
