/* users: those who ask things of the API server without any delay. */
#ifndef TESTS_SIMULATION_USERS_H
#define TESTS_SIMULATION_USERS_H

#include "tests/simulation/plan.h"

/* Asks the model at once. Returns the code; text: JSON or NULL. */
int users_ask(const char *method, const char *path, const char *type, const char *text);

#endif
