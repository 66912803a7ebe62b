/* account: puts the name of an account before each block. What must stay true: all of the program's
 * memory comes from here (pool.c) and goes to here; what processes share (metrics) is nobody's. */
#include "tests/simulation/account.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/metrics.h"
#include "tests/simulation/pool.h"

#include <string.h>

/* As long as two pointers, so that what is behind it is aligned as malloc has it. */
struct head {
    struct account *account;
    size_t size;
};

static struct account *current;

struct account *account_to(struct account *account)
{
    struct account *before = current;
    current = account;
    return before;
}

void *account_take_none(size_t size)
{
    struct account *before = account_to(NULL);
    void *at = memory_take(size);
    account_to(before);
    return at;
}

static void *note(struct head *h, size_t size)
{
    h->size = size;
    if (h->account != NULL) {
        h->account->blocks++;
        h->account->bytes += (int64_t)size;
    }
    return h + 1;
}

static struct head *forget(void *at)
{
    struct head *h = (struct head *)at - 1;
    must(h->size != POOL_SPOILT); /* it was given back before */
    if (h->account != NULL) {
        h->account->blocks--;
        h->account->bytes -= (int64_t)h->size;
    }
    return h;
}

/* ---- what the linker puts in the place of proto/base/memory.c's ---- */

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): ld's names */
void *__wrap_memory_take(size_t size);
void *__wrap_memory_take_array(size_t count, size_t size);
void *__wrap_memory_resize(void *at, size_t size);
void __wrap_memory_free(void *at);
char *__wrap_memory_copy(const void *at, size_t len);

static void *take(struct account *account, size_t size)
{
    must(size < SIZE_MAX - sizeof(struct head));
    struct head *h = pool_take(sizeof(*h) + size);
    h->account = account;
    return note(h, size);
}

void *__wrap_memory_take(size_t size)
{
    return memset(take(current, size), 0, size);
}

void *__wrap_memory_take_array(size_t count, size_t size)
{
    size_t bytes;
    must(!__builtin_mul_overflow(count, size, &bytes));
    return __wrap_memory_take(bytes);
}

void __wrap_memory_free(void *at)
{
    if (at == NULL)
        return;
    struct head *h = forget(at);
    pool_give(h, sizeof(*h) + h->size);
}

/* It stays whose it was. */
void *__wrap_memory_resize(void *at, size_t size)
{
    struct head *h = at != NULL ? (struct head *)at - 1 : NULL;
    if (h == NULL)
        return take(current, size);
    if (size < SIZE_MAX - sizeof(*h) &&
        pool_room(sizeof(*h) + size) == pool_room(sizeof(*h) + h->size))
        return note(forget(at), size);
    void *to = take(h->account, size);
    memcpy(to, at, size < h->size ? size : h->size);
    __wrap_memory_free(at);
    return to;
}

char *__wrap_memory_copy(const void *at, size_t len)
{
    char *copy = __wrap_memory_take(len + 1);
    if (len > 0)
        memcpy(copy, at, len);
    return copy;
}

/* ---- and of proto/metrics.c's: all processes of the program count in one table ---- */

#define SHARED(call, names, ...)                                                                   \
    void __real_##call(__VA_ARGS__);                                                               \
    void __wrap_##call(__VA_ARGS__);                                                               \
    void __wrap_##call(__VA_ARGS__)                                                                \
    {                                                                                              \
        struct account *before = account_to(NULL);                                                 \
        __real_##call names;                                                                       \
        account_to(before);                                                                        \
    }

SHARED(metric_add, (metric, more), enum metric metric, int64_t more)
SHARED(metric_observe, (metric, value), enum metric metric, int64_t value)
SHARED(metric_set, (metric, value), enum metric metric, int64_t value)
SHARED(metric_add_to, (metric, value, more), enum metric metric, const char *value, int64_t more)
SHARED(metric_set_to, (metric, value, to), enum metric metric, const char *value, int64_t to)

struct series *__real_metric_series(enum metric metric, const struct str *values);
struct series *__wrap_metric_series(enum metric metric, const struct str *values);

struct series *__wrap_metric_series(enum metric metric, const struct str *values)
{
    struct account *before = account_to(NULL);
    struct series *s = __real_metric_series(metric, values);
    account_to(before);
    return s;
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
