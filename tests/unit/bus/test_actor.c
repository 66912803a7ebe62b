/* test_actor: the loop around a pure core: messages, timers, the extra descriptor, status lines,
 * and every way to end. The actor runs in this program; signals are raised from inside its own
 * core. */
#include "tests/unit/bus/pair.h"

#include "proto/base/memory.h"
#include "proto/bus/actor.h"
#include "proto/bus/options.h"
#include "proto/journal/journal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

/* A core that does what a test tells it, and counts. */
struct core {
    int handled, ticked, worked, stops;
    int signal_at_tick; /* raise SIGTERM at this tick */
    int signals;        /* how many, in a row */
    int fail_at_tick;
    int dump_at_tick, dumps;
    int done_after_stop; /* ticks that the clean end takes; < 0: never */
    int ticks_at_stop;
    int fd;
    struct bus *other; /* run along, so that there is somebody to talk to */
    int64_t term;
    bool at_once; /* it sends its answer in the middle of its work */
    size_t kept;  /* messages that were not sent by then */
};

static void core_handle(void *state, struct moment now, const struct delivery *in,
                        struct outbox *out)
{
    struct core *core = state;
    (void)now;
    core->handled++;
    if (in->message->type == MSG_pull) {
        struct message m = {.type = MSG_attempt, .attempt.cycle = in->message->pull.credit + 1};
        outbox_put(out, in->from, &m);
        if (core->at_once)
            outbox_send(out);
        core->kept = out->count;
    }
}

static void run_other(struct core *core, struct moment now)
{
    struct delivery in;
    while (core->other && bus_receive(core->other, now, &in)) {
        if (in.message->type == MSG_peer_up) {
            struct message m = {.type = MSG_pull, .pull.credit = 6};
            send_message(core->other, in.from, &m);
        }
        if (in.message->type == MSG_attempt && in.message->attempt.cycle == 7) {
            assert_int_equal(in.term, 5);
            raise(SIGTERM);
        }
    }
    if (core->other)
        bus_tick(core->other, now);
}

static struct moment core_tick(void *state, struct moment now, struct outbox *out)
{
    struct core *core = state;
    (void)out;
    core->ticked++;
    run_other(core, now);
    for (int i = 0; core->ticked == core->signal_at_tick && i < core->signals; i++)
        raise(SIGTERM);
    if (core->ticked == core->dump_at_tick)
        raise(SIGUSR2);
    if (core->ticked == core->fail_at_tick)
        actor_fail();
    return moment_after(now, span_of_ms(2));
}

static void core_work(void *state, struct moment now, struct outbox *out)
{
    struct core *core = state;
    char spare[8];
    (void)now;
    (void)out;
    if (core->fd > 0 && read(core->fd, spare, sizeof(spare)) > 0 && ++core->worked == 1)
        raise(SIGTERM);
}

static void core_stop(void *state, struct moment now, struct outbox *out)
{
    struct core *core = state;
    (void)now;
    (void)out;
    core->stops++;
    core->ticks_at_stop = core->ticked;
}

static void core_dump(void *state)
{
    ((struct core *)state)->dumps++;
}

static bool core_done(const void *state)
{
    const struct core *core = state;
    return core->done_after_stop >= 0 &&
           core->ticked >= core->ticks_at_stop + core->done_after_stop;
}

static int64_t core_term(const void *state)
{
    return ((const struct core *)state)->term;
}

static int run(struct scene *scene, struct core *core)
{
    struct bus *bus = open_door(scene, QUEUE);
    struct actor actor = {.state = core,
                          .handle = core_handle,
                          .tick = core_tick,
                          .fd = core->fd > 0 ? core->fd : -1,
                          .work = core_work,
                          .stop = core_stop,
                          .done = core_done,
                          .stop_limit = span_of_ms(50),
                          .dump = core_dump,
                          .term = core_term};
    int status = actor_run(bus, &actor);
    bus_close(&bus);
    return status;
}

static void a_message_is_answered_in_the_cores_term(void **state)
{
    struct scene *scene = *state;
    struct core core = {.term = 5};
    core.other = open_caller(scene, SCHEDULER, QUEUE);
    bus_set_term(core.other, 5);
    assert_int_equal(run(scene, &core), 0);
    assert_int_equal(core.handled, 2); /* peer_up and pull */
    assert_int_equal(core.kept, 1);
    bus_close(&core.other);
}

static void an_answer_may_be_sent_before_the_work_is_done(void **state)
{
    struct scene *scene = *state;
    struct core core = {.term = 5, .at_once = true};
    core.other = open_caller(scene, SCHEDULER, QUEUE);
    bus_set_term(core.other, 5);
    assert_int_equal(run(scene, &core), 0); /* it has arrived */
    assert_int_equal(core.handled, 2);
    assert_int_equal(core.kept, 0);
    bus_close(&core.other);
}

static void one_message_may_be_for_several(void **state)
{
    (void)state;
    struct outbox out = {0};
    struct arena arena = {0};
    struct message m = {.type = MSG_pull, .pull.credit = 1};
    outbox_put(&out, (struct address){QUEUE, 1}, &m);
    m.pull.credit = 2;
    outbox_put(&out, (struct address){QUEUE, 2}, &m);
    size_t bytes = out.bytes.len;
    outbox_put_again(&out, (struct address){QUEUE, 3});
    assert_int_equal(out.bytes.len, bytes);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(out.at[i].to.peer, i + 1);
        assert_true(outbox_get(&out, i, &m, &arena));
        assert_int_equal(m.pull.credit, i == 0 ? 1 : 2);
    }
    arena_free(&arena);
    outbox_free(&out);
}

static void a_signal_starts_a_clean_end(void **state)
{
    struct core core = {.signal_at_tick = 3, .signals = 1, .done_after_stop = 4};
    assert_int_equal(run(*state, &core), 0);
    assert_int_equal(core.stops, 1);
    assert_true(core.ticked >= core.ticks_at_stop + 4);
}

static void a_dump_is_asked_for_and_ends_nothing(void **state)
{
    struct core core = {.dump_at_tick = 2, .signal_at_tick = 5, .signals = 1};
    assert_int_equal(run(*state, &core), 0);
    assert_int_equal(core.dumps, 1);
    assert_true(core.ticked >= 5);
}

static void a_second_signal_ends_at_once(void **state)
{
    struct core core = {.signal_at_tick = 3, .signals = 2, .done_after_stop = -1};
    assert_int_equal(run(*state, &core), 0);
    assert_int_equal(core.stops, 0);
    assert_int_equal(core.ticked, 3);
}

static void a_clean_end_is_bounded(void **state)
{
    struct core core = {.signal_at_tick = 1, .signals = 1, .done_after_stop = -1};
    assert_int_equal(run(*state, &core), 0);
    assert_int_equal(core.stops, 1);
}

static void a_failed_core_ends_with_status_1(void **state)
{
    struct core core = {.fail_at_tick = 2};
    assert_int_equal(run(*state, &core), 1);
    assert_int_equal(core.ticked, 2);
}

static void the_extra_descriptor_is_watched(void **state)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    struct core core = {.fd = ends[0]};
    assert_int_equal(run(*state, &core), 0);
    assert_int_equal(core.worked, 1);
    close(ends[0]);
    close(ends[1]);
}

/* ---- options ---- */

static const char *got;

static bool take_workers(void *state, const char *value)
{
    *(int *)state = (int)strtol(value, NULL, 10);
    return value[0] != 'x';
}

static bool take_flag(void *state, const char *value)
{
    (void)state;
    got = value;
    return true;
}

static const char *elect;

static bool take_elect(void *state, const char *value)
{
    (void)state;
    elect = value;
    return true;
}

static const struct own_option own[] = {
    {"workers", "N", "how many", take_workers},
    {"fast", NULL, "a flag", take_flag},
    {"elect", "[true|false]", "a boolean", take_elect},
    {NULL, NULL, NULL, NULL},
};

static int workers;
static const struct options_spec spec = {.self = SCHEDULER,
                                         .peers = WATCHER | QUEUE | BINDER,
                                         .own = own,
                                         .own_state = &workers,
                                         .usage = "a test"};

static void a_boolean_takes_its_value_only_behind_an_equal_sign(void **state)
{
    (void)state;
    struct options o;
    const char *const bare[] = {"x", "--elect", "--workers=7"};
    options_parse(&o, &spec, 3, arguments(bare));
    assert_string_equal(elect, "");
    assert_int_equal(workers, 7);
    const char *const given[] = {"x", "--elect=false"};
    options_parse(&o, &spec, 2, arguments(given));
    assert_string_equal(elect, "false");
    log_set_level(LOG_LEVEL_error);
}

static void options_are_read_in_both_forms(void **state)
{
    (void)state;
    struct options o;
    const char *const argv[] = {"x",
                                "--run-dir",
                                "/r",
                                "--name=s-1",
                                "--workers=4",
                                "--fast",
                                "--peer",
                                "queue=ipc:///q",
                                "--v=4",
                                "--config",
                                "f.yaml",
                                "--generation=3",
                                "--listen",
                                "tcp://127.0.0.1:1",
                                "--tap=ipc:///t",
                                "--curve-dir=/k",
                                "--allow-plain-tcp"};
    options_parse(&o, &spec, sizeof(argv) / sizeof(argv[0]), arguments(argv));
    assert_string_equal(o.bus.run_dir, "/r");
    assert_string_equal(o.bus.instance, "s-1");
    assert_int_equal(workers, 4);
    assert_string_equal(got, "");
    assert_string_equal(o.config_path, "f.yaml");
    assert_int_equal(o.bus.generation, 3);
    assert_string_equal(o.bus.listen, "tcp://127.0.0.1:1");
    assert_string_equal(o.bus.tap, "ipc:///t");
    assert_string_equal(o.bus.curve_dir, "/k");
    assert_true(o.bus.allow_plain_tcp);
    assert_int_equal(o.bus.peer_count, 3);
    assert_int_equal(o.bus.peers[0].process, QUEUE);
    assert_string_equal(o.bus.peers[0].endpoint, "ipc:///q");
    assert_int_equal(o.bus.peers[1].process, WATCHER); /* the others: from the run directory */
    assert_null(o.bus.peers[1].endpoint);
    log_set_level(LOG_LEVEL_error);
}

/* Runs options_parse in a child with its output in a file; returns its exit status. argv ends with
 * NULL. */
static int status_of_all(struct scene *scene, const char *const *argv, char said[1024])
{
    char path[128];
    size_t count = 0;
    while (argv[count] != NULL)
        count++;
    snprintf(path, sizeof(path), "%s/said", scene->dir);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct options o;
        int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(file, STDOUT_FILENO);
        dup2(file, STDERR_FILENO);
        options_parse(&o, &spec, (int)count, arguments(argv));
        _exit(77);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    memset(said, 0, 1024);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(said, 1, 1023, file) < 1024);
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int status_of(struct scene *scene, const char *argument, const char *value, char said[1024])
{
    const char *const argv[] = {"x", argument, value, NULL};
    return status_of_all(scene, argv, said);
}

/* A worker with two would mix the nodes of both. */
static void a_process_has_one_of_each_kind(void **state)
{
    char said[1024];
    const char *const twice[] = {"x", "--peer=queue=ipc:///a", "--peer=queue=ipc:///b", NULL};
    const char *const once[] = {"x", "--peer=queue=ipc:///a", "--peer=binder=ipc:///b", NULL};
    assert_int_equal(status_of_all(*state, twice, said), 1);
    assert_non_null(strstr(said, "\"queue=ipc:///b\" is refused"));
    assert_non_null(strstr(said, "queue is given already"));
    assert_int_equal(status_of_all(*state, once, said), 77);
}

static void a_bad_argument_is_named(void **state)
{
    static const char *const bad[][2] = {
        {"--nonsense", NULL},    {"nonsense", NULL},
        {"--listen", "nowhere"}, {"--peer", "worker=ipc:///w"},
        {"--peer", "queue"},     {"--generation", "0"},
        {"--log-level", "loud"}, {"--name", "a/b"},
        {"--workers", "x"},      {"--fast=1", NULL},
        {"--config", NULL},
    };
    char said[1024];
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(status_of(*state, bad[i][0], bad[i][1], said), 1);
        assert_non_null(strstr(said, "berth-scheduler: "));
        assert_non_null(strstr(said, bad[i][0]));
    }
    assert_int_equal(status_of(*state, "--help", NULL, said), 0);
    assert_non_null(strstr(said, "--workers N"));
    assert_non_null(strstr(said, "--run-dir DIR"));
    assert_int_equal(status_of(*state, "--version", NULL, said), 0);
    assert_non_null(strstr(said, OPTIONS_VERSION));
}

/* A process that is recorded, and ends. */
static void record_one(const char *path)
{
    char record[160];
    snprintf(record, sizeof(record), "--record=%s", path);
    const char *const argv[] = {"x",        "--run-dir",   "/r",   record,  "--v=4",
                                "--name=s", "--log-level", "warn", "--fast"};
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct options o;
        options_parse(&o, &spec, sizeof(argv) / sizeof(argv[0]), arguments(argv));
        exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_recording_says_how_it_was_started(void **state)
{
    struct scene *scene = *state;
    char path[128], said[1024];
    snprintf(path, sizeof(path), "%s/recording", scene->dir);
    record_one(path);
    const char *const given[] = {"y", "--replay", path, "--generation=5"};
    char **argv = arguments(given);
    int argc = 4;
    options_replay(SCHEDULER | WORKER, &argc, &argv);
    static const char *const all[] = {"y",        "--run-dir", "/r",
                                      "--name=s", "--fast",    "--log-level=error",
                                      "--replay", NULL,        "--generation=5"};
    assert_int_equal(argc, sizeof(all) / sizeof(all[0]));
    for (int i = 0; i < argc; i++)
        assert_string_equal(argv[i], all[i] != NULL ? all[i] : path);
    struct options o;
    options_parse(&o, &spec, argc, argv);
    assert_string_equal(o.replay.path, path);
    assert_string_equal(o.bus.instance, "s");
    assert_int_equal(o.bus.generation, 5);
    assert_true(journal_plays());
    struct journal *played = journal_in_force();
    assert_true(str_is(journal_head(played)->process, "scheduler"));
    for (int i = 1; i <= 4; i++)
        memory_free(argv[i]); /* those of the recording */
    memory_free(argv);
    journal_free(&played);
    unlink(path);
    const char *const nowhere[] = {"x", "--record=/nowhere/x", NULL};
    assert_int_equal(status_of_all(scene, nowhere, said), 1);
    assert_non_null(strstr(said, "--record: /nowhere/x: No such file or directory"));
}

/* options_replay in a child: what it says when it ends the program. */
static int refused_replay(struct scene *scene, const char *path, char said[1024])
{
    char to[128];
    snprintf(to, sizeof(to), "%s/said", scene->dir);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const char *const given[] = {"x", "--replay", path};
        char **argv = arguments(given);
        int argc = 3, file = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(file, STDERR_FILENO);
        options_replay(QUEUE, &argc, &argv);
        _exit(77);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    memset(said, 0, 1024);
    FILE *file = fopen(to, "r");
    assert_non_null(file);
    assert_true(fread(said, 1, 1023, file) < 1024);
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void anothers_recording_is_refused(void **state)
{
    struct scene *scene = *state;
    char path[128], said[1024];
    snprintf(path, sizeof(path), "%s/recording", scene->dir);
    record_one(path);
    assert_int_equal(refused_replay(scene, path, said), 1);
    assert_non_null(strstr(said, "is a recording of a scheduler"));
    unlink(path);
    assert_int_equal(refused_replay(scene, path, said), 1);
    assert_non_null(strstr(said, "No such file or directory"));
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(a_message_is_answered_in_the_cores_term),
        SCENE(an_answer_may_be_sent_before_the_work_is_done),
        cmocka_unit_test(one_message_may_be_for_several),
        SCENE(a_signal_starts_a_clean_end),
        SCENE(a_dump_is_asked_for_and_ends_nothing),
        SCENE(a_second_signal_ends_at_once),
        SCENE(a_clean_end_is_bounded),
        SCENE(a_failed_core_ends_with_status_1),
        SCENE(the_extra_descriptor_is_watched),
        SCENE(options_are_read_in_both_forms),
        SCENE(a_boolean_takes_its_value_only_behind_an_equal_sign),
        SCENE(a_recording_says_how_it_was_started),
        SCENE(anothers_recording_is_refused),
        SCENE(a_bad_argument_is_named),
        SCENE(a_process_has_one_of_each_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
