/* test_scenario: plays every scenario of the queue as a test of its own, named by its file. The
 * player is compiled in here: it is no part of any program. */
/* NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "tests/scenario/player.c"

#include "queue/hooks/hooks.h"
#include "queue/queue.h"
#include "tests/unit/queue/check.h"

#include "proto/base/log.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FOLDER        "tests/scenario/queue"
#define SCENARIOS_MAX 512

static void *open_queue(struct str words)
{
    static struct profile profile;
    static struct str asked[] = {{"SchedulingGates", 15}, {"DynamicResources", 16}};
    bool gangs = player_option(words, "gang_backoff", -1) >= 0;
    bool strict = player_option(words, "strict", 0) != 0; /* SchedulerPopFromBackoffQ is off */
    profile = (struct profile){.scheduler_name = STR_LITERAL("default-scheduler"),
                               .features.pop_from_backoff = !strict,
                               .pre_enqueue = {2, asked},
                               .gangs = gangs ? GANGS_on : GANGS_off,
                               .gang_wait_s = 60,
                               .gang_backoff_s = player_option(words, "gang_backoff", 0),
                               .gang_reject_percentage = player_option(words, "gang_percent", 10)};
    struct queue_options options = {
        .profiles = &profile,
        .profile_count = gangs || strict,
        .gang_sort = player_option(words, "gang_sort", 0) != 0,
        .sort = player_option(words, "fifo", 0) != 0 ? queue_plugin_find(STR_LITERAL("FIFOSort"))
                                                     : NULL,
        .backoff_initial = span_of_ms(player_option(words, "backoff_initial", 1) * 1000),
        .backoff_max = span_of_ms(player_option(words, "backoff_max", 10) * 1000),
        .unschedulable_max = span_of_ms(player_option(words, "unschedulable_max", 300) * 1000)};
    return queue_new(&options);
}

static void close_queue(void *state)
{
    struct queue *queue = state;
    queue_free(&queue);
}

static void check(void *state)
{
    check_queues(queue_inside(state));
}

static const struct player_core queue_core = {"queue",    open_queue,   close_queue, queue_handle,
                                              queue_tick, queue_status, check};

static void plays(void **state)
{
    char error[4096];
    if (!player_play(&queue_core, *state, error, sizeof(error)))
        fail_msg("%s", error);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_scenario(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".scn") == 0;
}

int main(void)
{
    static struct CMUnitTest tests[SCENARIOS_MAX];
    struct dirent **files;
    size_t count = 0;
    int found = scandir(FOLDER, &files, is_scenario, by_name);
    log_open("test", LOG_LEVEL_error);
    must(found > 0 && found <= SCENARIOS_MAX);
    for (int i = 0; i < found; i++) {
        struct buffer path = {0}, name = {0};
        buffer_print(&path, "%s/%s", FOLDER, files[i]->d_name);
        buffer_add(&name, files[i]->d_name, strlen(files[i]->d_name) - strlen(".scn"));
        tests[count++] = (struct CMUnitTest){name.at, plays, NULL, NULL, path.at};
        free(files[i]);
    }
    free(files);
    return _cmocka_run_group_tests("scenarios", tests, count, NULL, NULL);
}
