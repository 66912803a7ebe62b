/* pool: blocks of memory for the simulation, which takes and gives back a million of them in each
 * seed. */
#ifndef TESTS_SIMULATION_POOL_H
#define TESTS_SIMULATION_POOL_H

#include <stddef.h>

/* A number in a block that was given back, unless it is the first one. */
#define POOL_SPOILT ((size_t)0xA5A5A5A5A5A5A5A5)

/* Aligned for everything; what is in it is undefined. */
void *pool_take(size_t size);
/* size: what it was taken with. */
void pool_give(void *at, size_t size);
/* So many bytes can be in a block of that size. */
size_t pool_room(size_t size);

#endif
