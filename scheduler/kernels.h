/* kernels: what is done to whole columns of numbers, written so that compilers vectorise it.
 *
 * Every kernel gives to the bit what the plain expression in its comment gives, for every input. */
#ifndef SCHEDULER_KERNELS_H
#define SCHEDULER_KERNELS_H

#include <stdint.h>

/* no[i] |= asked > room[i] - used[i], wrapping. */
void kernel_lacks(const int64_t *room, const int64_t *used, int64_t asked, uint32_t count,
                  uint8_t *no);
/* blamed[i] = blamed[i] != 0 || !said[i] ? blamed[i] : whom */
void kernel_blame(uint8_t *blamed, const uint8_t *said, uint8_t whom, uint32_t count);

#endif
