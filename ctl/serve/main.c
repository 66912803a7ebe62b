/* berth-serve: metrics, health and configuration over HTTPS, as kube-scheduler serves them. This
 * file only reads files and the command line and puts the parts together. */
#include "ctl/serve/certificate.h"
#include "ctl/serve/server.h"
#include "ctl/serve/setup.h"
#include "proto/base/log.h"
#include "proto/base/random.h"
#include "proto/bus/actor.h"

static int run(struct bus *bus, struct server *server, const struct setup *setup)
{
    struct buffer why = {0};
    struct actor actor = {.state = server,
                          .handle = server_handle,
                          .tick = server_tick,
                          .fd = server_fd(server),
                          .work = server_work,
                          .stop = server_stop,
                          .done = server_done,
                          .stop_limit = span_of_ms(3000),
                          .status = server_status};
    int status = 1;
    server_set_bus(server, bus);
    if (server_listen(server, &setup->http, &why)) {
        log_info("serving|address=%s port=%d", setup->http.address, setup->http.port);
        status = actor_run(bus, &actor);
    } else {
        log_error("%s", why.at);
    }
    buffer_free(&why);
    return status;
}

int main(int argc, char **argv)
{
    static struct setup setup; /* large, and there is one */
    char error[512];
    int status = 1;
    setup_read(&setup, argc, argv);
    if (setup.http.port == 0) {
        log_info("nothing to serve: --secure-port is 0");
        return 0;
    }
    struct bus *bus = setup_prepare(&setup) ? bus_open(&setup.bus, error, sizeof(error)) : NULL;
    if (bus != NULL) {
        struct server *server = server_new(&setup.server);
        status = run(bus, server, &setup);
        server_free(&server);
    } else if (!setup.failed) {
        log_error("cannot open the bus|error=\"%s\"", error);
    }
    bus_close(&bus);
    setup_free(&setup);
    return status;
}
