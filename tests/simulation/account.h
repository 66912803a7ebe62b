/* account: what each process holds of memory: blocks and bytes, by who took them. */
#ifndef TESTS_SIMULATION_ACCOUNT_H
#define TESTS_SIMULATION_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

/* A process's; zero for a new one. */
struct account {
    int64_t blocks, bytes;
};

/* From now on what is taken is this account's, whoever gives it back; NULL: nobody's. Returns whose
 * it was before. */
struct account *account_to(struct account *account);
/* memory_take of the simulation's own, in the middle of a process's round. */
void *account_take_none(size_t size);

#endif
