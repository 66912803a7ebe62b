/* The program between the command line and the loop: everything that is opened, and closed again.
 */
#ifndef APISERVER_PROGRAM_H
#define APISERVER_PROGRAM_H

#include "http.h"
#include "options.h"

struct program {
    struct server server;
    struct http *http;
    char *tls_cert, *tls_key, *client_ca;
};

/* Opens all that the options name and starts serving; false with one line in why. */
bool program_open(struct program *program, const struct options *options, struct buffer *why);
/* One turn of the loop. */
void program_turn(struct program *program);
void program_close(struct program *program);

#endif
