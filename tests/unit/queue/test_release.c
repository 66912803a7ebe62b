/* test_release: the same configuration file, read as of another Kubernetes release, is another
 * configuration to the queue, although the file's hash stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "queue/queue.h"
#include "queue/queues.h"

static struct queue *queue;
static struct outbox out;

static void hear(struct address from, const struct message *m)
{
    struct delivery in = {.from = from, .message = m};
    outbox_reset(&out);
    queue_handle(queue, (struct moment){1000000000}, &in, &out);
    queue_tick(queue, (struct moment){1000000000}, &out);
}

/* Whether it takes it: then it asks the watcher for pods that it did not serve before. */
static bool takes(int64_t hash, int64_t release)
{
    struct profile profile = {.scheduler_name = STR_LITERAL("default-scheduler"),
                              .features.release = release};
    struct message m = {
        .type = MSG_queue_config,
        .queue_config = {.generation = 2, .hash = hash, .profiles = {.count = 1, .at = &profile}}};
    hear((struct address){SCHEDULER, 2}, &m);
    for (size_t i = 0; i < out.count; i++)
        if (out.at[i].type == MSG_subscribe)
            return true;
    return false;
}

static void another_release_is_another_configuration(void **state)
{
    (void)state;
    struct profile profile = {.scheduler_name = STR_LITERAL("default-scheduler"),
                              .features.release = 36};
    queue = queue_new(
        &(struct queue_options){.profiles = &profile, .profile_count = 1, .config_hash = 7});
    const struct address watcher = {WATCHER, 1};
    hear(watcher, &(struct message){.type = MSG_peer_up});
    struct message begin = {.type = MSG_snapshot_begin}, end = {.type = MSG_snapshot_end};
    struct delivery in[] = {
        {.from = watcher, .message = &begin, .epoch = 1, .sequence = 1, .part = 1},
        {.from = watcher, .message = &end, .epoch = 1, .sequence = 1, .part = 2}};
    for (size_t i = 0; i < 2; i++)
        queue_handle(queue, (struct moment){1000000000}, &in[i], &out);
    assert_false(takes(7, 36));
    assert_true(takes(7, 37));
    assert_true(queue_inside(queue)->backoff.strict); /* the gate is not among its features */
    queue_free(&queue);
    outbox_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_release_is_another_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
