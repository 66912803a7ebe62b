/* entry: what a pending pod is known by when it changes. What must stay true: parts of its record
 * are the same exactly where what they say is, since equals are known by where parts lie. */
#include "queue/entry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CHANGES 200

static struct entry *enter(struct packed_store *store, struct pod *pod, struct quantity *request)
{
    *pod = (struct pod){.uid = STR_LITERAL("u"), .name = STR_LITERAL("p"), .request = {1, request}};
    return entry_new(store, pod);
}

/* All of the same length, so that each would fit where the one before it lay. */
static void another_request_is_another_part(void **state)
{
    (void)state;
    struct quantity request = {STR_LITERAL("cpu"), 1000};
    struct packed_store *store = store_new(&store_pods);
    struct pod pod;
    struct entry *e = enter(store, &pod, &request);
    for (int i = 0; i < CHANGES; i++) {
        struct store_part *before[STORE_PARTS];
        memcpy(before, e->kept->parts, sizeof(before));
        bool asked = false;
        request.amount++;
        entry_replace(e, &pod);
        for (int k = 0; k < STORE_PARTS; k++)
            asked |= before[k] != e->kept->parts[k];
        assert_true(asked);
    }
    entry_free(&e);
    store_free(&store);
}

static void the_same_request_is_the_same_part(void **state)
{
    (void)state;
    struct quantity request = {STR_LITERAL("cpu"), 1000};
    struct packed_store *store = store_new(&store_pods);
    struct pod pod;
    struct entry *e = enter(store, &pod, &request);
    struct store_part *before[STORE_PARTS];
    memcpy(before, e->kept->parts, sizeof(before));
    pod.resource_version++;
    entry_replace(e, &pod);
    assert_memory_equal(before, e->kept->parts, sizeof(before));
    entry_free(&e);
    store_free(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_request_is_another_part),
        cmocka_unit_test(the_same_request_is_the_same_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
