/* beat: shared memory without a name, inherited by descriptor. What must stay true: each field of a
 * slot has one writer, and nobody waits for anybody: a process that is stopped in the middle of a
 * beat stops nobody else. */
#include "proto/base/beat.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLOTS_MAX 1024

/* A cache line each, so that processes do not slow each other. */
struct slot {
    _Alignas(64) _Atomic uint64_t turns; /* written by the process */
    _Atomic uint64_t size;               /* likewise; both begin at 0 with each life */
    _Atomic uint64_t lost;               /* written by the supervisor */
};

struct beats {
    struct slot *slots;
    size_t count;
    int fd;
};

static struct slot nowhere, *own = &nowhere;

struct beats *beats_new(size_t count)
{
    must(count > 0 && count <= SLOTS_MAX);
    int fd = memfd_create("berth-beats", MFD_CLOEXEC);
    size_t size = count * sizeof(struct slot);
    void *at = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
        at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct beats *beats = memory_take(sizeof(*beats));
    *beats = (struct beats){.slots = at, .count = count, .fd = fd};
    return beats;
}

void beats_free(struct beats **beats)
{
    if (*beats == NULL)
        return;
    munmap((*beats)->slots, (*beats)->count * sizeof(struct slot));
    close((*beats)->fd);
    memory_free(*beats);
    *beats = NULL;
}

int beats_fd(const struct beats *beats)
{
    return beats->fd;
}

uint64_t beats_turns(const struct beats *beats, size_t slot)
{
    must(slot < beats->count);
    return atomic_load_explicit(&beats->slots[slot].turns, memory_order_relaxed);
}

void beats_begin(struct beats *beats, size_t slot)
{
    must(slot < beats->count);
    atomic_store_explicit(&beats->slots[slot].turns, 0, memory_order_relaxed);
    atomic_store_explicit(&beats->slots[slot].size, 0, memory_order_relaxed);
}

void beats_lost(struct beats *beats, size_t slot, uint64_t lines)
{
    must(slot < beats->count);
    atomic_fetch_add_explicit(&beats->slots[slot].lost, lines, memory_order_relaxed);
}

uint64_t beats_size(const struct beats *beats, size_t slot)
{
    must(slot < beats->count);
    return atomic_load_explicit(&beats->slots[slot].size, memory_order_relaxed);
}

/* A page that is too short for the slot would end us with the first beat. */
static struct slot *map_slot(int fd, unsigned long number)
{
    struct stat file;
    size_t size = (number + 1) * sizeof(struct slot);
    if (fstat(fd, &file) != 0 || file.st_size < (off_t)size)
        return NULL;
    struct slot *slots = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return slots == MAP_FAILED ? NULL : slots + number;
}

bool beat_join(const char *text)
{
    char *end;
    long fd = strtol(text, &end, 10);
    if (end == text || *end != ':' || fd <= STDERR_FILENO || fd > 1 << 20)
        return false;
    const char *number = end + 1;
    unsigned long slot = strtoul(number, &end, 10);
    if (end == number || *end != 0 || slot >= SLOTS_MAX)
        return false;
    struct slot *found = map_slot((int)fd, slot);
    if (found == NULL)
        return false;
    close((int)fd);
    own = found;
    return true;
}

void beat(void)
{
    uint64_t turns = atomic_load_explicit(&own->turns, memory_order_relaxed);
    atomic_store_explicit(&own->turns, turns + 1, memory_order_relaxed);
}

void beat_tell(uint64_t size)
{
    atomic_store_explicit(&own->size, size, memory_order_relaxed);
}

uint64_t beat_lost(void)
{
    return atomic_load_explicit(&own->lost, memory_order_relaxed);
}
