/* kernels: loops over columns without branches or calls, which is all that a compiler needs to
 * vectorise them. On x86-64 each is compiled twice, and the machine at hand decides which one runs;
 * what must stay true is that nobody can tell by the results. */
#include "scheduler/kernels.h"

#include "scheduler/wrap.h"

/* Sanitizers start up after the choice is made, and would watch it. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer) || !defined(__x86_64__)
#define VECTORISED
#else
#define VECTORISED __attribute__((target_clones("avx2", "default")))
#endif

VECTORISED void kernel_lacks(const int64_t *room, const int64_t *used, int64_t asked,
                             uint32_t count, uint8_t *no)
{
    for (uint32_t i = 0; i < count; i++)
        no[i] |= asked > wrap_sub(room[i], used[i]);
}

VECTORISED void kernel_blame(uint8_t *blamed, const uint8_t *said, uint8_t whom, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        blamed[i] = blamed[i] != 0 || said[i] == 0 ? blamed[i] : whom;
}
