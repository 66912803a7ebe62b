/* test_delegates: extenders that bind, while their configuration file changes: who is meant is who
 * is found, and a bind under way keeps the extender that it began with. */
#include "binder/delegates.h"

#include "proto/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <stdio.h>

static char path[] = "/tmp/test_delegates.XXXXXX";

/* The file names this extender; returns the hash of what it says. */
static int64_t write_file(const char *url, const char *more)
{
    struct extender_set set;
    struct str why = {0};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
            "extenders: [{urlPrefix: '%s', bindVerb: bind%s}]\n",
            url, more);
    fclose(file);
    assert_true(extender_set_read(&set, path, &why));
    int64_t hash = set.hash;
    extender_set_free(&set);
    return hash;
}

static const struct extender_config *find(struct delegates *d, const char *url, int64_t hash,
                                          uint32_t *route)
{
    struct extender_ref ref = {0, str_of(url)};
    struct bind bind = {.extenders = {1, &ref}, .extenders_hash = hash};
    return delegates_find(d, &bind, route);
}

static struct delegates *begin(void)
{
    char error[512];
    struct delegates *d = delegates_new(path, error, sizeof(error));
    assert_non_null(d);
    return d;
}

static void who_is_meant_is_found_when_the_file_has_changed(void **state)
{
    (void)state;
    uint32_t a, b, again;
    struct moment now = {1000000000};
    int64_t first = write_file("http://127.0.0.1:1", "");
    struct delegates *d = begin();
    assert_non_null(find(d, "http://127.0.0.1:1", first, &a));
    int64_t second = write_file("http://127.0.0.1:2", "");
    const struct extender_config *new = find(d, "http://127.0.0.1:2", second, &b);
    assert_true(new != NULL &&a != b);
    assert_ptr_not_equal(delegates_talk(d, a), delegates_talk(d, b));
    delegates_work(d, now);
    /* the former has a bind under way, so it is still there */
    assert_non_null(find(d, "http://127.0.0.1:1", first, &again));
    assert_int_equal(a, again);
    delegates_release(d, a);
    delegates_release(d, a);
    delegates_work(d, now);
    assert_null(find(d, "http://127.0.0.1:1", first, &again));
    delegates_release(d, b);
    delegates_work(d, now);
    assert_non_null(find(d, "http://127.0.0.1:2", second, &again)); /* the newest stays */
    assert_non_null(find(d, "http://127.0.0.1:2", 0, &again));      /* nobody said which */
    delegates_free(&d);
}

static void who_is_not_known_is_not_replaced(void **state)
{
    (void)state;
    uint32_t route;
    int64_t first = write_file("http://127.0.0.1:1", "");
    struct delegates *d = begin();
    assert_null(find(d, "http://127.0.0.1:1", first + 1, &route));
    assert_null(find(d, "http://127.0.0.1:9", first, &route));
    FILE *file = fopen(path, "w");
    fputs("kind: x", file);
    fclose(file);
    assert_null(find(d, "http://127.0.0.1:2", first + 1, &route)); /* the file is no good now */
    assert_non_null(find(d, "http://127.0.0.1:1", first, &route));
    char error[512];
    assert_null(delegates_new(path, error, sizeof(error)));
    assert_non_null(strstr(error, path));
    delegates_free(&d);
}

/* More configurations with binds under way than there are places for: the next bind fails, and goes
 * on as soon as one has ended. */
static void former_ones_are_bounded(void **state)
{
    (void)state;
    char more[64];
    uint32_t routes[DELEGATES_SETS_MAX], route;
    int64_t hash = write_file("http://127.0.0.1:1", "");
    struct delegates *d = begin();
    for (int i = 0; i < DELEGATES_SETS_MAX; i++) {
        snprintf(more, sizeof(more), ", httpTimeout: %ds", i + 1);
        hash = write_file("http://127.0.0.1:1", more);
        if (find(d, "http://127.0.0.1:1", hash, &routes[i]) == NULL)
            assert_int_equal(i, DELEGATES_SETS_MAX - 1);
    }
    delegates_release(d, routes[0]);
    delegates_work(d, (struct moment){1});
    assert_non_null(find(d, "http://127.0.0.1:1", hash, &route));
    delegates_free(&d);
}

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_meant_is_found_when_the_file_has_changed),
        cmocka_unit_test(who_is_not_known_is_not_replaced),
        cmocka_unit_test(former_ones_are_bounded),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
