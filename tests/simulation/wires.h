/* wires: the bus's wire.h and waiting in virtual time: connections that are late, that lose,
 * double, hold back and end. The bus above them is the real one. */
#ifndef TESTS_SIMULATION_WIRES_H
#define TESTS_SIMULATION_WIRES_H

#include "tests/simulation/process.h"

/* The wires that are opened from now on are this process's. */
void wires_owner(struct proc *p);
/* Its end. killed: what was said last may be lost, and nothing more is said. */
void wires_end(struct proc *p, bool killed);
void wires_reset(void);

/* Connections, numbered in no particular order; faults on one of them. */
uint32_t wires_connections(void);
const char *wires_name(uint32_t connection);
void wires_cut(uint32_t connection);
void wires_hold(uint32_t connection, int64_t until);
void wires_lose(uint32_t connection, uint32_t frames);
void wires_double(uint32_t connection);
/* Until then every other frame that stands within a snapshot is lost. */
void wires_tear(int64_t until);
/* Nothing is held or lost any more. */
void wires_heal(void);
/* How slow all of them are, at most, most of the time: ns. */
void wires_latency(int64_t usual, int64_t most);

#endif
