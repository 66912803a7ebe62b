/* setup: the command line and the files of berth-serve, as the parts want them. */
#ifndef SERVE_SETUP_H
#define SERVE_SETUP_H

#include "ctl/serve/flags.h"
#include "ctl/serve/page.h"
#include "ctl/serve/server.h"
#include "proto/bus/bus.h"

#define SETUP_GIVEN_MAX 128
#define SETUP_NAMES_MAX 256 /* of metrics that are left out */

struct setup {
    struct serve_flags flags; /* first: options cast to it */
    struct bus_options bus;
    struct http_options http;
    struct server_options server;
    const char *config;
    long workers;
    char why[128]; /* an option was refused; "": as its table says */
    char endpoints[BUS_PEERS_MAX][200], doors[BUS_PEERS_MAX][40];
    const char *endpoint_list[BUS_PEERS_MAX], *name_list[BUS_PEERS_MAX];
    struct kube_config *api[2];
    struct buffer files[4]; /* certificate, key, and the authorities that were named */
    struct buffer pairs[2 * HTTP_NAMED_MAX]; /* certificates and keys for some names, by turns */
    char priorities[1024];
    const char *given[SETUP_GIVEN_MAX]; /* flags as NAME=VALUE, for /flagz */
    size_t given_count;
    const char *page_doors[PAGE_DOORS_MAX + 1]; /* how `berth` finds the processes */
    struct arena memory;                        /* of lists */
    struct buffer configz;
    bool failed; /* and it was said why */
};

/* Ends the program for --help and bad arguments. */
void setup_read(struct setup *s, int argc, char **argv);
/* Reads files and makes clients. False when that failed, which was logged. */
bool setup_prepare(struct setup *s);
void setup_free(struct setup *s);

#endif
