/* waiting: which sockets have something, and sleeping until one has. The one idea: ZeroMQ's own
 * descriptors lie in one epoll, so that a round asks nothing of the sockets that are silent.
 * zmq_poll asks every one of them twice, with two system calls each.
 *
 * Such a descriptor is readable when the socket's I/O thread has told it something that it has not
 * looked at. Receiving until nothing is left looks; so does, now and then, sending. What must stay
 * true: a wire is marked as ready by its descriptor and by every send, and loses the mark only when
 * it was asked and had nothing. */
#include "proto/bus/inside.h"

#include "proto/base/must.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define WAIT_MAX   3600000 /* ms */

static int descriptor_of(void *socket)
{
    int fd = -1;
    size_t size = sizeof(fd);
    must(zmq_getsockopt(socket, ZMQ_FD, &fd, &size) == 0);
    return fd;
}

static void watch(struct bus *bus, void *socket, bool *ready)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = ready};
    must(epoll_ctl(bus->waiter, EPOLL_CTL_ADD, descriptor_of(socket), &event) == 0);
    *ready = true;
}

static void watch_both(struct bus *bus, struct wire *wire)
{
    watch(bus, wire->socket, &wire->ready);
    watch(bus, wire->monitor, &wire->has_news);
}

/* ZeroMQ closes the descriptor when it gets to it, so it has to be taken out. */
static void forget(const struct bus *bus, void *socket)
{
    must(epoll_ctl(bus->waiter, EPOLL_CTL_DEL, descriptor_of(socket), NULL) == 0);
}

bool waiting_reopen(struct bus *bus, struct wire *wire)
{
    struct wire fresh;
    if (!wire_open(&bus->wires, &fresh, WIRE_link, wire->endpoint))
        return false;
    forget(bus, wire->socket);
    forget(bus, wire->monitor);
    wire_close(wire);
    *wire = fresh;
    watch_both(bus, wire);
    return true;
}

void waiting_open(struct bus *bus)
{
    bus->waiter = epoll_create1(EPOLL_CLOEXEC);
    must(bus->waiter >= 0);
    for (size_t i = 0; i < bus->link_count; i++)
        watch_both(bus, &bus->links[i]);
    if (bus->has_door)
        watch_both(bus, &bus->door);
    if (bus->has_tap)
        watch(bus, bus->tap.socket, &bus->tap.ready);
    if (bus->wires.keeper != NULL)
        watch(bus, bus->wires.keeper, &bus->wires.keeper_ready);
}

void waiting_close(struct bus *bus)
{
    if (bus->waiter >= 0)
        close(bus->waiter);
}

bool waiting_look(struct bus *bus)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(bus->waiter, events, EVENTS_MAX, 0);
    for (int i = 0; i < count; i++)
        *(bool *)events[i].data.ptr = true;
    bus->looked = true;
    bus->since_look = 0;
    return count > 0;
}

/* What was sent may have made a socket look; then its descriptor says no more. */
static bool any_readable(struct bus *bus)
{
    bool any = bus->unread.len > 0;
    for (size_t i = 0; i < bus->link_count; i++)
        any = wire_readable(&bus->links[i]) || any;
    return (bus->has_door && wire_readable(&bus->door)) || any;
}

void bus_wait(struct bus *bus, int extra_fd, struct moment now, struct moment deadline)
{
    struct pollfd fds[2] = {{bus->waiter, POLLIN, 0}, {extra_fd, POLLIN, 0}};
    int64_t wait_ms = span_ms(moment_since(deadline, now)) + 1;
    if (bus->event_next < bus->event_count || moment_reached(now, deadline) || any_readable(bus))
        wait_ms = 0;
    else if (wait_ms > WAIT_MAX)
        wait_ms = WAIT_MAX;
    if (poll(fds, 2, (int)wait_ms) > 0 && fds[0].revents != 0)
        waiting_look(bus);
    bus->looked = true;
}
