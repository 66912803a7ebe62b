/* test_kept: the pair in --cert-dir, whole or not at all, whatever the disk does; and flags that
 * can never work, which are refused before anything starts. */
#include "ctl/serve/kept.h"

#include "ctl/serve/flags.h"
#include "proto/base/memory.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64], path[128];
static struct buffer certificate, key;

static const char *in_dir(const char *name)
{
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/berth-kept-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"kube-scheduler.crt", "kube-scheduler.key",
                                        "kube-scheduler.crt.new", "kube-scheduler.key.new", "file"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)unlink(in_dir(names[i]));
    buffer_free(&certificate);
    buffer_free(&key);
    return rmdir(dir);
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(in_dir(name), "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static bool is_there(const char *name)
{
    return access(in_dir(name), F_OK) == 0;
}

/* ---- the pair ---- */

static bool keep(void)
{
    buffer_reset(&certificate);
    buffer_reset(&key);
    return kept_pair(dir, "0.0.0.0", &certificate, &key);
}

static void a_pair_is_made_once(void **state)
{
    struct stat found;
    (void)state;
    assert_true(keep());
    char *first = memory_copy(key.at, key.len);
    assert_true(keep());
    assert_string_equal(key.at, first);
    assert_int_equal(stat(in_dir("kube-scheduler.key"), &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    assert_false(is_there("kube-scheduler.key.new") || is_there("kube-scheduler.crt.new"));
    memory_free(first);
}

/* As on a full disk. */
static void a_pair_that_cannot_be_written_leaves_nothing(void **state)
{
    struct rlimit before, none;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t room = 0; room <= 300; room += 300) { /* the key's 227 bytes fit into the second */
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
        none = (struct rlimit){.rlim_cur = room, .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
        bool kept = keep();
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_false(kept);
        assert_false(is_there("kube-scheduler.key") || is_there("kube-scheduler.key.new"));
        assert_false(is_there("kube-scheduler.crt") || is_there("kube-scheduler.crt.new"));
    }
    assert_true(keep());
}

static void what_a_killed_start_left_is_in_nobodys_way(void **state)
{
    (void)state;
    put("kube-scheduler.key", ""); /* of an earlier version */
    put("kube-scheduler.key.new", "-----BEG");
    assert_true(keep());
    assert_int_equal(strncmp(key.at, "-----BEGIN", 10), 0);
    assert_false(is_there("kube-scheduler.key.new"));
}

static void half_a_pair_is_refused_and_stays(void **state)
{
    (void)state;
    put("kube-scheduler.crt", "mine");
    assert_false(keep());
    put("kube-scheduler.key", "");
    assert_false(keep());
    assert_true(serve_kept_there(in_dir("kube-scheduler.crt")));
    put("kube-scheduler.key", "mine too");
    assert_true(keep());
    assert_string_equal(key.at, "mine too");
}

/* ---- flags ---- */

static bool agree(struct serve_flags f)
{
    return serve_flags_agree(&f);
}

static void half_a_pair_of_flags_is_refused(void **state)
{
    (void)state;
    put("file", "text");
    const char *file = in_dir("file");
    assert_true(agree((struct serve_flags){.tls_cert_file = file, .tls_private_key_file = file}));
    assert_false(agree((struct serve_flags){.tls_cert_file = file}));
    assert_false(agree((struct serve_flags){.tls_private_key_file = file}));
    assert_true(agree((struct serve_flags){.tls_cert_file = "", .secure_port = "10259"}));
}

static void files_that_cannot_be_read_are_refused(void **state)
{
    char pair[300];
    (void)state;
    put("file", "");
    const char *const bad[] = {"/nonexistent/file", dir, in_dir("file")};
    for (size_t i = 0; i < 3; i++) {
        const char *file = bad[i];
        snprintf(pair, sizeof(pair), "%s,/dev/zero:a.example", file);
        struct serve_flags sni = {.tls_sni_cert_key = {pair}, .sni_count = 1};
        assert_false(agree(sni));
        snprintf(pair, sizeof(pair), "/dev/zero,%s", file);
        assert_false(agree(sni));
        assert_false(
            agree((struct serve_flags){.tls_cert_file = file, .tls_private_key_file = file}));
        assert_false(agree((struct serve_flags){.client_ca_file = file}));
        assert_false(agree((struct serve_flags){.requestheader_client_ca_file = file}));
        assert_false(agree((struct serve_flags){.authentication_kubeconfig = file}));
        assert_false(agree((struct serve_flags){.authorization_kubeconfig = file}));
        /* Nothing is served, so nothing is read. */
        assert_true(agree((struct serve_flags){.secure_port = "0", .client_ca_file = file}));
    }
    put("kube-scheduler.crt", "alone");
    assert_false(agree((struct serve_flags){.cert_dir = dir}));
}

static void an_address_is_a_number(void **state)
{
    static const char *const good[] = {"", "0.0.0.0", "192.0.2.1", "::", "::1", "2001:db8::7"};
    static const char *const bad[] = {"300.1.1.1",  "1.2.3",      "localhost", "[::1]",
                                      "fe80::1%lo", "1.2.3.4:80", "01.2.3.4"};
    struct serve_flags f = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(serve_take_bind_address(&f, good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(serve_take_bind_address(&f, bad[i]));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_pair_is_made_once),
        TEST(a_pair_that_cannot_be_written_leaves_nothing),
        TEST(what_a_killed_start_left_is_in_nobodys_way),
        TEST(half_a_pair_is_refused_and_stays),
        TEST(half_a_pair_of_flags_is_refused),
        TEST(files_that_cannot_be_read_are_refused),
        TEST(an_address_is_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
