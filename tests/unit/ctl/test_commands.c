/* test_commands: berth tap, status and keys as an operator runs them, against two processes of the
 * bus that run in children. */
#include "ctl/commands.h"
#include "ctl/simulate/simulate.h"
#include "tests/unit/bus/pair.h"

#include "proto/bus/actor.h"
#include "proto/kube/documents/json.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct stage {
    struct scene *scene;
    pid_t queue, scheduler;
    char said[16384], complained[4096];
};

/* The scheduler asks all the time, the queue answers: something to listen to. */
static void chat(void *state, struct moment now, const struct delivery *in, struct outbox *out)
{
    (void)now;
    (void)state;
    struct message pull = {.type = MSG_pull, .pull.credit = 1};
    struct message attempt = {.type = MSG_attempt,
                              .attempt.pod = {.uid = str_of("u-1"),
                                              .namespace_name = str_of("default"),
                                              .name = str_of("web")}};
    if (in->message->type == MSG_peer_up && in->from.process == QUEUE)
        outbox_put(out, in->from, &pull);
    if (in->message->type == MSG_pull)
        outbox_put(out, in->from, &attempt);
}

/* An answer a few milliseconds apart keeps the talk going without filling the machine. */
static struct moment chat_tick(void *state, struct moment now, struct outbox *out)
{
    struct message pull = {.type = MSG_pull, .pull.credit = 1};
    if (*(const enum process *)state == SCHEDULER)
        outbox_put(out, (struct address){QUEUE, 0}, &pull);
    return moment_after(now, span_of_ms(5));
}

static void chat_status(void *state, struct buffer *lines)
{
    (void)state;
    buffer_print(lines, "pods=12\nmood=fine=really\n");
}

static pid_t start(struct scene *scene, enum process process)
{
    fflush(NULL);
    pid_t child = fork();
    if (child != 0)
        return child;
    struct bus_options o = options_for(scene, process);
    char error[512];
    if (process == SCHEDULER)
        add_peer(&o, QUEUE);
    log_open("child", LOG_LEVEL_error);
    struct bus *bus = bus_open(&o, error, sizeof(error));
    struct actor actor = {
        .state = &process, .handle = chat, .tick = chat_tick, .fd = -1, .status = chat_status};
    int status = bus ? actor_run(bus, &actor) : 9;
    bus_close(&bus);
    _exit(status);
}

static int end(pid_t child, int signal)
{
    int status;
    kill(child, signal);
    if (waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int stage_open(void **state)
{
    scene_open(state);
    struct stage *stage = memory_take(sizeof(*stage));
    stage->scene = *state;
    stage->queue = start(stage->scene, QUEUE);
    stage->scheduler = start(stage->scene, SCHEDULER);
    *state = stage;
    return 0;
}

static int stage_close(void **state)
{
    struct stage *stage = *state;
    if (stage->scheduler > 0)
        assert_int_equal(end(stage->scheduler, SIGTERM), 0);
    if (stage->queue > 0)
        assert_int_equal(end(stage->queue, SIGTERM), 0);
    *state = stage->scene;
    memory_free(stage);
    return scene_close(state);
}

static void slurp(const char *path, char *into, size_t room)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    into[fread(into, 1, room - 1, file)] = 0;
    fclose(file);
}

/* A command in a child, with its output in these files. */
static pid_t begin(int (*command)(int, char **), const char *const *argv, const char *out,
                   const char *err)
{
    int argc = 0;
    while (argv[argc])
        argc++;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60); /* nothing here may wait for ever */
        if (freopen(out, "w", stdout) == NULL || freopen(err, "w", stderr) == NULL)
            _exit(99);
        exit(command(argc, arguments(argv)));
    }
    return child;
}

/* Runs a command in a child; its output is in said and complained. */
static int run(struct stage *stage, int (*command)(int, char **), const char *const *argv)
{
    char out[128], err[128];
    int status;
    snprintf(out, sizeof(out), "%s/out", stage->scene->dir);
    snprintf(err, sizeof(err), "%s/err", stage->scene->dir);
    pid_t child = begin(command, argv, out, err);
    assert_int_equal(waitpid(child, &status, 0), child);
    slurp(out, stage->said, sizeof(stage->said));
    slurp(err, stage->complained, sizeof(stage->complained));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Doors appear when the children get to it. */
static void wait_for_doors(struct stage *stage)
{
    const char *const argv[] = {"status", "--run-dir", stage->scene->dir, NULL};
    struct moment limit = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (run(stage, command_status, argv) < 0 || strstr(stage->said, "\nscheduler ") == NULL ||
           strstr(stage->said, "\nqueue ") == NULL)
        assert_false(moment_reached(moment_now(), limit));
}

/* Again and again until it says so: the children meet in their own time. */
static void run_until_said(struct stage *stage, int (*command)(int, char **),
                           const char *const *argv, const char *text)
{
    struct moment limit = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (run(stage, command, argv) != 0 || strstr(stage->said, text) == NULL)
        assert_false(moment_reached(moment_now(), limit));
}

static void status_shows_every_process(void **state)
{
    struct stage *stage = *state;
    wait_for_doors(stage);
    assert_non_null(strstr(stage->said, "PROCESS      PID      UP"));
    assert_null(strstr(stage->said, "    pods                         12\n"));
    const char *const verbose[] = {"status", "--run-dir", stage->scene->dir, "-v", NULL};
    struct moment limit = moment_after(moment_now(), span_of_ms(PATIENCE_MS));
    while (run(stage, command_status, verbose) < 0 || strstr(stage->said, "received.pull") == NULL)
        assert_false(moment_reached(moment_now(), limit));
    assert_non_null(strstr(stage->said, "queue (queue)  term "));
    assert_non_null(strstr(stage->said, "    pods                         12\n"));
    assert_non_null(strstr(stage->said, "    mood                         fine=really\n"));
    assert_non_null(strstr(stage->said, "kind=scheduler state=up"));
    const char *const json[] = {"status", "--run-dir", stage->scene->dir, "-o", "json", NULL};
    (void)run(stage, command_status, json);
    assert_non_null(strstr(stage->said, "\"answered\":true,\"process\":\"queue\""));
}

static void status_names_who_does_not_answer(void **state)
{
    struct stage *stage = *state;
    wait_for_doors(stage);
    const char *const argv[] = {"status", "--run-dir", stage->scene->dir, "--wait", "0.3", NULL};
    kill(stage->queue, SIGSTOP);
    int stopped = run(stage, command_status, argv);
    kill(stage->queue, SIGCONT);
    assert_int_equal(stopped, 1);
    assert_non_null(strstr(stage->said, "queue.sock  no answer"));
    assert_non_null(strstr(stage->said, "\nscheduler "));
    end(stage->scheduler, SIGKILL);
    stage->scheduler = 0;
    assert_int_equal(run(stage, command_status, argv), 1);
    assert_non_null(strstr(stage->said, "scheduler.sock  no answer"));
    char empty[128];
    snprintf(empty, sizeof(empty), "%s/none", stage->scene->dir);
    const char *const nobody[] = {"status", "--run-dir", empty, NULL};
    assert_int_equal(run(stage, command_status, nobody), 1);
    assert_non_null(strstr(stage->complained, empty));
}

static int times(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

static void tap_shows_messages_and_stops_by_itself(void **state)
{
    struct stage *stage = *state;
    wait_for_doors(stage);
    const char *const argv[] = {
        "tap", "--run-dir", stage->scene->dir, "--pod", "default/web", "--count", "3", NULL};
    assert_int_equal(run(stage, command_tap, argv), 0);
    assert_int_equal(times(stage->said, "\n\n"), 3);
    assert_int_equal(times(stage->said, " queue>scheduler       attempt "), 3);
    const char *const raw[] = {"tap", "--run-dir", stage->scene->dir, "--pod", "default/web",
                               "-g",  "raw",       "--count=3",       NULL};
    assert_int_equal(run(stage, command_tap, raw), 0);
    assert_int_equal(times(stage->said, "\n"), 3);
    assert_int_equal(times(stage->said, " queue>scheduler attempt "), 3);
    const char *const where[] = {"tap",
                                 "--run-dir",
                                 stage->scene->dir,
                                 "--where",
                                 "message == pull and from == scheduler",
                                 "--count=2",
                                 NULL};
    assert_int_equal(run(stage, command_tap, where), 0);
    assert_int_equal(times(stage->said, " scheduler>queue pull "), 2);
    assert_int_equal(times(stage->said, "\n"), 2);
    const char *const json[] = {"tap",       "--run-dir", stage->scene->dir, "--message", "pull",
                                "--process", "scheduler", "-o=json",         "--count=1", NULL};
    assert_int_equal(run(stage, command_tap, json), 0);
    assert_non_null(strstr(stage->said, "\"from\":\"scheduler\",\"to\":\"queue\""));
    assert_non_null(strstr(stage->said, "\"message\":\"pull\""));
    const char *const findings[] = {
        "tap", "--run-dir", stage->scene->dir, "--pod", "no/body", "--duration", "0.1", NULL};
    assert_int_equal(run(stage, command_tap, findings), 0);
    assert_string_equal(stage->said, "");
}

static void a_recording_can_be_read_back(void **state)
{
    struct stage *stage = *state;
    char path[128];
    wait_for_doors(stage);
    snprintf(path, sizeof(path), "%s/recording", stage->scene->dir);
    const char *const record[] = {
        "tap", "--run-dir", stage->scene->dir, "--record", path, "--count", "20", NULL};
    assert_int_equal(run(stage, command_tap, record), 0);
    assert_string_equal(stage->said, "");
    const char *const read_back[] = {"tap",     "--read",  path, "--message",
                                     "attempt", "--count", "2",  NULL};
    assert_int_equal(run(stage, command_tap, read_back), 0);
    assert_non_null(strstr(stage->said, " queue>scheduler attempt "));
    const char *const twice[] = {"tap", "--read", path, "--verify", "--message", "pull", NULL};
    assert_int_equal(run(stage, command_tap, twice), 0);
    assert_null(strstr(stage->said, " attempt "));
    assert_non_null(strstr(stage->said, " messages read twice, 0 differ\n"));
    const char *const missing[] = {"tap", "--read", "/nonexistent/file", NULL};
    assert_int_equal(run(stage, command_tap, missing), 1);
    assert_non_null(strstr(stage->complained, "/nonexistent/file"));
}

static long recorded(struct stage *stage, const char *path)
{
    const char *const twice[] = {"tap", "--read", path, "--verify", NULL};
    assert_int_equal(run(stage, command_tap, twice), 0);
    return strtol(stage->said, NULL, 10);
}

/* It is behind when it is asked to end: another one hears meanwhile what it does not read. */
static void what_was_said_before_the_end_is_recorded(void **state)
{
    struct stage *stage = *state;
    char path[128];
    int status;
    wait_for_doors(stage);
    snprintf(path, sizeof(path), "%s/recording", stage->scene->dir);
    const char *const dir = stage->scene->dir;
    const char *const record[] = {"tap",  "--run-dir", dir,  "--message",
                                  "pull", "--record",  path, NULL};
    const char *const read_back[] = {"tap", "--read", path, NULL};
    const char *const other[] = {"tap",  "--run-dir", dir,   "--message",
                                 "pull", "--count",   "200", NULL};
    pid_t child = begin(command_tap, record, "/dev/null", "/dev/null");
    run_until_said(stage, command_tap, read_back, " pull ");
    kill(child, SIGSTOP);
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    long before = recorded(stage, path);
    assert_int_equal(run(stage, command_tap, other), 0);
    assert_int_equal(recorded(stage, path), before);
    kill(child, SIGTERM);
    assert_int_equal(end(child, SIGCONT), 0);
    assert_true(recorded(stage, path) >= before + 200);
}

static void bad_arguments_are_refused(void **state)
{
    struct stage *stage = *state;
    static const char *const taps[][3] = {{"--message", "nonsense", NULL},
                                          {"--count", "0", NULL},
                                          {"--duration", "soon", NULL},
                                          {"--pod", "web", NULL},
                                          {"-g", "pod", NULL},
                                          {"--where", "message == bnd", NULL},
                                          {"-o", "yaml", NULL}};
    for (size_t i = 0; i < 7; i++) {
        const char *const argv[] = {"tap", taps[i][0], taps[i][1], NULL};
        assert_int_equal(run(stage, command_tap, argv), 1);
        assert_non_null(strstr(stage->complained, taps[i][0]));
        assert_non_null(strstr(stage->complained, taps[i][1]));
        assert_non_null(strstr(stage->complained, " is refused ("));
    }
    const char *const bare[] = {"tap", "--pod", "web", NULL};
    assert_int_equal(run(stage, command_tap, bare), 1);
    assert_non_null(strstr(stage->complained, "did you mean default/web?"));
    const char *const group[] = {"tap", "-g", "attempt", NULL};
    assert_int_equal(run(stage, command_tap, group), 1);
    assert_non_null(strstr(stage->complained, "-g attempt needs --pod"));
    const char *const kind[] = {"tap",       "--run-dir", stage->scene->dir,
                                "--process", "schedular", NULL};
    assert_int_equal(run(stage, command_tap, kind), 1);
    assert_non_null(strstr(stage->complained, "did you mean \"scheduler\"?"));
    const char *const query[] = {"tap", "--where", "message == bnd", NULL};
    assert_int_equal(run(stage, command_tap, query), 1);
    assert_non_null(strstr(stage->complained, "column 12: there is no message \"bnd\", did you "
                                              "mean \"bind\"?\n  message == bnd\n             ^"));
    const char *const both[] = {"tap", "--read", "a", "--record", "b", NULL};
    assert_int_equal(run(stage, command_tap, both), 1);
    const char *const far[] = {"tap", "--endpoint", "tcp://192.0.2.1:5", NULL};
    assert_int_equal(run(stage, command_tap, far), 1);
    assert_non_null(strstr(stage->complained, "--curve-dir"));
}

static void keys_are_made_once(void **state)
{
    struct stage *stage = *state;
    char dir[128], path[160];
    struct stat found;
    snprintf(dir, sizeof(dir), "%s/keys", stage->scene->dir);
    const char *const make[] = {"keys", dir, NULL};
    assert_int_equal(run(stage, command_keys, make), 0);
    static const char *const names[] = {"server", "watcher",  "queue",  "scheduler", "worker",
                                        "binder", "extender", "plugin", "tool"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s.key_secret", dir, names[i]);
        assert_non_null(strstr(stage->said, path));
        assert_int_equal(stat(path, &found), 0);
        assert_int_equal(found.st_mode & 0777, 0600);
    }
    assert_int_equal(run(stage, command_keys, make), 1);
    assert_non_null(strstr(stage->complained, "exist already"));
    const char *const guest[] = {"keys", "--role", "worker", "--name", "guest", dir, NULL};
    assert_int_equal(run(stage, command_keys, guest), 0);
    snprintf(path, sizeof(path), "%s/worker-guest.key", dir);
    assert_int_equal(stat(path, &found), 0);
    const char *const nameless[] = {"keys", "--role", "worker", dir, NULL};
    assert_int_equal(run(stage, command_keys, nameless), 1);
    const char *const unknown[] = {"keys", "--role", "king", "--name", "guest", dir, NULL};
    assert_int_equal(run(stage, command_keys, unknown), 1);
    const char *const nowhere[] = {"keys", NULL};
    assert_int_equal(run(stage, command_keys, nowhere), 1);
}

/* The path lives until a file of as many others later. */
static const char *written(const struct stage *stage, const char *name, const char *text)
{
    static char paths[4][160];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", stage->scene->dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

static const char *scenario(const struct stage *stage, const char *text)
{
    return written(stage, "scenario", text);
}

/* 0 means that all of it was understood; the fault is named by its path. */
static void simulate_says_by_its_status_whether_it_understood(void **state)
{
    struct stage *stage = *state;
    const char *argv[] = {"simulate", "--in", NULL, NULL, NULL};
    argv[2] = scenario(stage, "pods: [{metadata: {name: p}}]\n");
    assert_int_equal(run(stage, command_simulate, argv), 0);
    argv[2] = scenario(stage, "pods: [{metadata: {nam: p}}]\n");
    assert_int_equal(run(stage, command_simulate, argv), 2);
    assert_non_null(strstr(stage->complained, "pods[0].metadata.nam: unknown field"));
    argv[2] = scenario(stage, "pods: [\n");
    assert_int_equal(run(stage, command_simulate, argv), 2);
    argv[2] = scenario(stage, "{\"pods\":[{\"metadata\":{\"nam\":\"p\"}}]}\n{\"pods\":[]}\n");
    argv[3] = "--batch";
    assert_int_equal(run(stage, command_simulate, argv), 2);
    assert_non_null(strstr(stage->said, "\"error\":\"pods[0].metadata.nam: unknown field"));
    assert_non_null(strstr(stage->said, "]}\n{\"version\""));
    argv[2] = "/nonexistent/scenario";
    assert_int_equal(run(stage, command_simulate, argv), 1);
}

static void simulates(struct stage *stage, int status, const char *said, const char *const *argv)
{
    if (run(stage, command_simulate, argv) != status)
        fail_msg("not %d: %s%s", status, stage->said, stage->complained);
    if (strstr(stage->complained, said) == NULL && strstr(stage->said, said) == NULL)
        fail_msg("no %s in %s%s", said, stage->said, stage->complained);
}

/* Of several files every line counts, in their order; one that is not there is named. */
static void a_stream_may_be_of_several_files(void **state)
{
    struct stage *stage = *state;
    const char *one = written(stage, "one", "{\"name\":\"a\",\"pods\":[]}\n");
    const char *two = written(stage, "two",
                              "{\"name\":\"b\",\"pods\":[]}\n"
                              "{\"name\":\"c\",\"nods\":[]}\n");
    const char *const both[] = {"simulate", "--batch", two, one, NULL};
    simulates(stage, 2, "{\"name\":\"b\"", both);
    const char *b = strstr(stage->said, "\"b\""), *c = strstr(stage->said, "\"c\"");
    assert_true(b != NULL && c > b && strstr(c, "{\"name\":\"a\"") != NULL);
    const char *const gone[] = {"simulate", "--batch", one, "/nonexistent/two", NULL};
    simulates(stage, 1, "/nonexistent/two: No such file", gone);
    assert_non_null(strstr(stage->said, "{\"name\":\"a\""));
    const char *const folder[] = {"simulate", "--batch", "/", NULL};
    simulates(stage, 1, "/: Is a directory", folder);
}

/* It counts in every line instead of the scenario's own. */
static void a_stream_takes_the_configuration_that_is_named(void **state)
{
    struct stage *stage = *state;
    const char *lines = written(stage, "lines",
                                "{\"config\":{\"profiles\":[{\"schedulerName\":\"its-own\"}]},"
                                "\"pods\":[]}\n[]\n");
    const char *mine = written(stage, "mine",
                               "apiVersion: kubescheduler.config.k8s.io/v1\n"
                               "kind: KubeSchedulerConfiguration\n"
                               "profiles: [{schedulerName: mine}]\n");
    const char *const good[] = {"simulate", "--batch", "--config", mine, lines, NULL};
    simulates(stage, 2, "\"profiles\":[{\"schedulerName\":\"mine\"", good);
    assert_null(strstr(stage->said, "its-own"));
    assert_non_null(strstr(stage->said, "must be an object, not a list"));
    const char *wrong = written(stage, "wrong", "kind: Nothing\n");
    const char *const bad[] = {"simulate", "--batch", "--config", wrong, lines, NULL};
    simulates(stage, 2, "/wrong: ", bad);
    const char *const gone[] = {"simulate",          "--batch", "--config",
                                "/nonexistent/mine", lines,     NULL};
    simulates(stage, 1, "/nonexistent/mine: No such file", gone);
    assert_int_equal(stage->said[0], 0);
    const char *const twice[] = {"simulate", "--batch", "--config", "-", NULL};
    simulates(stage, 1, "standard input", twice);
}

static void what_a_stream_cannot_do_is_refused(void **state)
{
    struct stage *stage = *state;
    const char *lines = written(stage, "lines", "{\"pods\":[]}\n");
    static const char *const forms[] = {"table", "wide", "yaml", "ndjson"};
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        const char *const form[] = {"simulate", "--batch", "-o", forms[i], lines, NULL};
        simulates(stage, 1, "--batch writes a line of JSON", form);
        assert_int_equal(stage->said[0], 0);
    }
    const char *const json[] = {"simulate", "--batch", "-o", "json", lines, NULL};
    simulates(stage, 0, "{\"version\":", json);
    const char *const space[] = {"simulate", "-n", "default", "--batch", lines, NULL};
    simulates(stage, 1, "-n is for manifests", space);
}

/* A claim whose driver is told this, and the pod that gets its device. */
static const char *claim_told(const struct stage *stage, const char *parameters)
{
    struct buffer text = {0};
    buffer_add_text(&text,
                    "{\"objects\":[{\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"},\"status\":"
                    "{\"allocatable\":{\"cpu\":\"4\",\"pods\":\"9\"}}},{\"kind\":\"DeviceClass\","
                    "\"metadata\":{\"name\":\"g\"},\"spec\":{}},{\"kind\":\"ResourceSlice\","
                    "\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"d\",\"nodeName\":\"n\","
                    "\"pool\":{\"name\":\"n\",\"generation\":1,\"resourceSliceCount\":1},"
                    "\"devices\":[{\"name\":\"g0\"}]}},{\"kind\":\"ResourceClaim\",\"metadata\":"
                    "{\"name\":\"c\"},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\","
                    "\"exactly\":{\"deviceClassName\":\"g\"}}],\"config\":[{\"opaque\":{"
                    "\"driver\":\"d\",\"parameters\":");
    buffer_add_text(&text, parameters);
    buffer_add_text(&text, "}}]}}}],\"pods\":[{\"metadata\":{\"name\":\"p\"},\"spec\":{"
                           "\"containers\":[{\"name\":\"c\",\"image\":\"x\"}],\"resourceClaims\":"
                           "[{\"name\":\"a\",\"resourceClaimName\":\"c\"}]}}]}\n");
    buffer_add(&text, "", 1);
    const char *path = scenario(stage, text.at);
    buffer_free(&text);
    return path;
}

/* In a file and in a line; what the result says of good ones can be read in all forms. */
static void parameters_that_are_no_object_are_refused(void **state)
{
    struct stage *stage = *state;
    static const char wrong[] =
        "objects[3].spec.devices.config[0].opaque.parameters: must be an object, not a string";
    const char *const yaml[] = {"simulate", "-o", "yaml", claim_told(stage, "\"mode-a\""), NULL};
    simulates(stage, 2, wrong, yaml);
    assert_non_null(strstr(stage->complained, wrong));
    const char *const line[] = {"simulate", "--batch", yaml[3], NULL};
    simulates(stage, 2, wrong, line);
    const char *const good[] = {"simulate", "-o", "yaml", claim_told(stage, "{\"m\":1}"), NULL};
    simulates(stage, 0, "parameters:\n            m: 1\n", good);
}

/* The result has them deeper than the scenario had, and deeper than anything is read. */
static void a_result_that_cannot_be_put_otherwise_is_an_error(void **state)
{
    struct stage *stage = *state;
    struct buffer deep = {0};
    const uint32_t depth = KUBE_JSON_DEPTH_MAX - 10;
    buffer_add_text(&deep, "{\"a\":");
    for (uint32_t i = 0; i < depth; i++)
        buffer_add_text(&deep, "[");
    for (uint32_t i = 0; i < depth; i++)
        buffer_add_text(&deep, "]");
    buffer_add_text(&deep, "}");
    buffer_add(&deep, "", 1);
    const char *path = claim_told(stage, deep.at);
    const char *const ndjson[] = {"simulate", "-o", "ndjson", path, NULL};
    simulates(stage, 1, "the result cannot be put in this form: ", ndjson);
    assert_int_equal(stage->said[0], 0);
    buffer_free(&deep);
}

#define STAGE(test) cmocka_unit_test_setup_teardown(test, stage_open, stage_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE(status_shows_every_process),
        STAGE(status_names_who_does_not_answer),
        STAGE(tap_shows_messages_and_stops_by_itself),
        STAGE(what_was_said_before_the_end_is_recorded),
        STAGE(a_recording_can_be_read_back),
        STAGE(bad_arguments_are_refused),
        STAGE(keys_are_made_once),
        STAGE(simulate_says_by_its_status_whether_it_understood),
        STAGE(a_stream_may_be_of_several_files),
        STAGE(a_stream_takes_the_configuration_that_is_named),
        STAGE(what_a_stream_cannot_do_is_refused),
        STAGE(parameters_that_are_no_object_are_refused),
        STAGE(a_result_that_cannot_be_put_otherwise_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
