/* test_journal: a small core that reads all that there is to read and says something of it: it says
 * the same again, and whatever it does otherwise is named. Files: what is cut, what is full. */
#include "proto/journal/file.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "proto/base/random.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct journal_head head = {.process = {"queue", 5}};
#define ROUNDS       ((size_t)3000) /* of a process that leaves a file */
#define ENTRIES_EACH ((size_t)10)

enum quirk {
    NONE,
    READS_MORE,
    READS_LESS,
    SAYS_OTHER,
    SAYS_MORE,
    SAYS_LESS,
    IS_LATER,
    READS_OTHER
};

/* What a core does with a message: reads all sorts of things, and says what it has read. */
static void handle(enum quirk quirk, bool outside)
{
    struct buffer text = {0}, said = {0};
    struct outbox out = {0};
    struct moment now = journal_now();
    int64_t wall_us = journal_wall_us();
    uint64_t seed = journal_seed();
    bool changed = journal_change("file", outside);
    errno = ENOENT;
    if (outside)
        buffer_add_text(&text, "content");
    bool good = journal_text(quirk == READS_OTHER ? "other" : "file", outside, &text);
    int error = good ? 0 : errno;
    if (quirk == READS_MORE)
        journal_number(1);
    if (quirk != READS_LESS)
        journal_clocks(&now, &wall_us);
    buffer_print(&said, "%lld %lld %llu %d %d %.*s%s", (long long)now.ns, (long long)wall_us,
                 (unsigned long long)seed, changed, error, STR_ARG(buffer_str(&text)),
                 quirk == SAYS_OTHER ? "!" : "");
    struct message m = {.type = MSG_hello, .hello.instance = buffer_str(&said)};
    outbox_put(&out, (struct address){WATCHER, 1}, &m);
    outbox_put_again(&out, (struct address){SCHEDULER, 2});
    for (int i = 0; i < 1 + (quirk == SAYS_MORE) - (quirk == SAYS_LESS); i++)
        outbox_put(&out, (struct address){WATCHER, 1}, &(struct message){.type = MSG_goodbye});
    journal_send(&out, quirk == IS_LATER ? 8 : 7);
    outbox_free(&out);
    buffer_free(&said);
    buffer_free(&text);
}

static struct journal *record(bool bodies, size_t most)
{
    struct journal *j =
        journal_new(&head, &(struct journal_options){.most = most, .bodies = bodies});
    const struct message m = {.type = MSG_hello, .hello.instance = STR_LITERAL("x")};
    journal_use(j);
    for (int i = 0; i < 20; i++) {
        journal_delivery(moment_now(), &(struct delivery){.from = {WATCHER, 1},
                                                          .instance = STR_LITERAL("watcher"),
                                                          .epoch = i,
                                                          .received_us = 5,
                                                          .message = &m});
        handle(NONE, i % 3 != 0);
    }
    journal_finish(j);
    journal_use(NULL);
    return j;
}

/* The played journal, with the core having the quirk from the tenth message on. */
static struct journal *played(const struct journal *of, enum quirk quirk)
{
    char error[256];
    const struct buffer *bytes = journal_bytes(of);
    struct journal *j = journal_play(bytes->at, bytes->len, error, sizeof(error));
    assert_non_null(j);
    assert_true(str_is(journal_head(j)->process, "queue"));
    journal_use(j);
    int told = 0;
    for (const struct journal_entry *e; (e = journal_next()) != NULL; told++) {
        assert_int_equal(e->kind, JOURNAL_delivery);
        assert_int_equal(e->epoch, told);
        handle(told >= 10 ? quirk : NONE, false);
    }
    journal_use(NULL);
    return j;
}

static void what_is_the_same_is_the_same(void **state)
{
    (void)state;
    for (int bodies = 0; bodies < 2; bodies++) {
        struct journal *j = record(bodies, SIZE_MAX), *p = played(j, NONE);
        struct journal_tally t = journal_tally(p);
        assert_null(journal_difference(p));
        assert_int_equal(t.fate, JOURNAL_whole);
        assert_int_equal(t.said, 60);
        assert_true(t.entries > 160);
        journal_free(&p);
        journal_free(&j);
    }
}

static void what_differs_is_named(void **state)
{
    static const struct {
        enum quirk quirk;
        const char *text[3];
    } cases[] = {
        {READS_MORE, {"number, where there was: clock"}},
        {READS_LESS, {"send, where there was: clock"}},
        {READS_OTHER, {"reads other, and had read file"}},
        {SAYS_OTHER, {"hello to watcher differs in instance", "said: hello", "content!\""}},
        {SAYS_MORE, {"says more than it said: goodbye to watcher"}},
        {SAYS_LESS, {"does not say again: goodbye to watcher"}},
        {IS_LATER, {"its term is 8, and was 7"}},
    };
    (void)state;
    struct journal *j = record(true, SIZE_MAX);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct journal *p = played(j, cases[i].quirk);
        const char *said = journal_difference(p);
        assert_non_null(said);
        assert_memory_equal(said, "entry ", 6);
        for (size_t k = 0; k < 3 && cases[i].text[k] != NULL; k++)
            if (strstr(said, cases[i].text[k]) == NULL)
                fail_msg("not in it: %s: %s", cases[i].text[k], said);
        uint64_t said_before = journal_tally(p).said;
        assert_true(said_before >= 30 && said_before <= 33);
        journal_free(&p);
    }
    journal_free(&j);
}

static void a_hash_is_enough_to_see_it(void **state)
{
    (void)state;
    struct journal *j = record(false, SIZE_MAX), *p = played(j, SAYS_OTHER);
    assert_non_null(strstr(journal_difference(p), "hello to watcher differs"));
    assert_null(strstr(journal_difference(p), "said: "));
    journal_free(&p);
    journal_free(&j);
}

/* Wherever it ends, nothing is claimed that is not there, and nothing differs. */
static void one_that_was_cut_holds_up_to_there(void **state)
{
    (void)state;
    struct journal *j = record(true, SIZE_MAX);
    const struct buffer *bytes = journal_bytes(j);
    uint64_t before = 0;
    for (size_t len = 64; len < bytes->len; len += 7) {
        char error[256];
        struct journal *p = journal_play(bytes->at, len, error, sizeof(error));
        assert_non_null(p);
        journal_use(p);
        while (journal_next() != NULL)
            handle(NONE, false);
        struct journal_tally t = journal_tally(p);
        assert_null(journal_difference(p));
        assert_int_equal(t.fate, JOURNAL_cut);
        assert_true(t.entries >= before);
        before = t.entries;
        journal_free(&p);
    }
    journal_free(&j);
}

static void what_is_too_much_is_a_gap(void **state)
{
    (void)state;
    struct journal *j = record(true, 2000), *p = played(j, NONE);
    struct journal_tally t = journal_tally(p);
    assert_null(journal_difference(p));
    assert_int_equal(t.fate, JOURNAL_gapped);
    assert_string_equal(t.reason, "more was to be taken down than could be written");
    assert_true(journal_bytes(j)->len < 2300);
    journal_free(&p);
    journal_free(&j);
}

static void without_a_journal_all_is_real(void **state)
{
    (void)state;
    struct buffer text = {0};
    struct moment before = moment_now(), now = journal_now();
    assert_null(journal_in_force());
    assert_false(journal_plays());
    assert_true(moment_reached(now, before));
    assert_true(journal_wall_us() > 0);
    assert_int_not_equal(journal_seed(), journal_seed());
    assert_int_equal(journal_number(9), 9);
    assert_true(journal_change("x", true));
    assert_false(journal_change("x", false));
    assert_true(journal_text("x", true, &text));
    errno = EACCES;
    assert_false(journal_text("x", false, &text));
    assert_int_equal(errno, EACCES);
    journal_turn(now); /* nobody listens */
    journal_flush();
}

/* ---- files ---- */

/* What a process leaves that writes for a while and ends so. */
static void leave(const char *to, size_t rounds, void (*end)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        char error[256];
        log_open("test", LOG_LEVEL_error);
        if (!journal_file_create(to, &head, error, sizeof(error)))
            _exit(1);
        for (size_t i = 0; i < rounds; i++) {
            handle(NONE, true);
            journal_flush();
        }
        end();
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
}

/* How many entries the file holds, and what it ends with. */
struct content {
    size_t entries;
    int64_t last; /* the kind of the last one */
    enum journal_step end;
};

static struct content content_of(const char *path)
{
    static char bytes[4 << 20];
    struct journal_head read_head;
    struct journal_entry e;
    struct arena a = {0};
    struct content c = {0};
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    struct journal_cursor at = {bytes, bytes + fread(bytes, 1, sizeof(bytes), f)};
    fclose(f);
    assert_null(journal_start(&at, &read_head, &a));
    for (; (c.end = journal_read(&at, &e)) == JOURNAL_STEP_entry; c.entries++)
        c.last = e.kind;
    arena_free(&a);
    return c;
}

static char path[] = "/tmp/berth-journal-XXXXXX";

static void end_well(void)
{
    exit(0);
}

/* When the thread that writes has come so far, which may take a while on a busy machine. */
static void end_badly(void)
{
    struct stat s;
    for (int i = 0; i < 3000 && (stat(path, &s) != 0 || s.st_size == 0); i++)
        poll(NULL, 0, 10);
    kill(getpid(), SIGKILL);
}

static void a_file_is_whole_behind_a_clean_end(void **state)
{
    struct stat s;
    (void)state;
    leave(path, ROUNDS, end_well);
    struct content c = content_of(path);
    assert_int_equal(c.end, JOURNAL_STEP_end);
    assert_int_equal(c.last, JOURNAL_end);
    assert_int_equal(c.entries, ENTRIES_EACH * ROUNDS + 1);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
}

static void a_killed_process_leaves_what_was_written(void **state)
{
    (void)state;
    leave(path, ROUNDS, end_badly);
    struct content c = content_of(path);
    assert_true(c.end == JOURNAL_STEP_end || c.end == JOURNAL_STEP_cut);
    assert_int_not_equal(c.last, JOURNAL_end);
    assert_true(c.entries > 0 && c.entries <= ENTRIES_EACH * ROUNDS);
}

static void end_as_broken(void)
{
    must(getpid() == 0);
}

static void a_broken_invariant_leaves_all_that_led_to_it(void **state)
{
    (void)state;
    leave(path, ROUNDS, end_as_broken);
    struct content c = content_of(path);
    assert_int_equal(c.end, JOURNAL_STEP_end);
    assert_int_equal(c.entries, ENTRIES_EACH * ROUNDS);
}

static void a_full_disk_is_a_gap(void **state)
{
    const struct rlimit little = {100000, RLIM_INFINITY}, much = {RLIM_INFINITY, RLIM_INFINITY};
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    leave(path, ROUNDS, end_well);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &much), 0);
    struct content c = content_of(path);
    assert_int_equal(c.end, JOURNAL_STEP_end); /* nothing is cut */
    assert_int_equal(c.last, JOURNAL_gap);
    assert_true(c.entries > 100 && c.entries < ENTRIES_EACH * ROUNDS);
}

/* The core goes on behind the end, and nothing of that is taken down. */
static _Noreturn void go_on_behind_it(void)
{
    journal_file_end();
    bool more = journal_in_force() != NULL;
    for (int i = 0; i < 1000 && more; i++) {
        handle(NONE, true);
        more = journal_file_flush();
        poll(NULL, 0, 1);
    }
    if (more || journal_in_force() != NULL)
        _exit(1);
    handle(NONE, true);
    journal_file_close();
    _exit(0);
}

static void a_recording_may_end_before_its_process(void **state)
{
    (void)state;
    leave(path, 10, go_on_behind_it);
    struct content c = content_of(path);
    assert_int_equal(c.end, JOURNAL_STEP_end);
    assert_int_equal(c.last, JOURNAL_end);
    assert_int_equal(c.entries, 10 * ENTRIES_EACH + 1);
}

static void what_cannot_be_opened_is_said(void **state)
{
    char error[256];
    (void)state;
    assert_false(journal_file_create("/nowhere/x", &head, error, sizeof(error)));
    assert_string_equal(error, "/nowhere/x: No such file or directory");
    assert_null(journal_file_play("/nowhere/x", error, sizeof(error)));
    assert_string_equal(error, "/nowhere/x: No such file or directory");
    assert_int_equal(truncate(path, 0), 0);
    assert_null(journal_file_play(path, error, sizeof(error)));
    assert_non_null(strstr(error, ": not a recording of a life"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_the_same_is_the_same),
        cmocka_unit_test(what_differs_is_named),
        cmocka_unit_test(a_hash_is_enough_to_see_it),
        cmocka_unit_test(one_that_was_cut_holds_up_to_there),
        cmocka_unit_test(what_is_too_much_is_a_gap),
        cmocka_unit_test(without_a_journal_all_is_real),
        cmocka_unit_test(a_file_is_whole_behind_a_clean_end),
        cmocka_unit_test(a_killed_process_leaves_what_was_written),
        cmocka_unit_test(a_broken_invariant_leaves_all_that_led_to_it),
        cmocka_unit_test(a_full_disk_is_a_gap),
        cmocka_unit_test(a_recording_may_end_before_its_process),
        cmocka_unit_test(what_cannot_be_opened_is_said),
    };
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
