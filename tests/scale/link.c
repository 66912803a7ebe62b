/* link: a slow and lossy line between two network namespaces. It makes a TUN interface in the one
 * it is started in and one in another, and carries packets from each to the other.
 *
 *   link --namespace NAME|PATH --here ADDRESS --there ADDRESS [--delay-us N] [--jitter-us N]
 *        [--loss-percent X] [--queue N] [--seed N]
 *
 * Each packet comes out the delay later than it went in, and up to the jitter later still, but
 * never before one that went in before it. A packet is lost by the throw of a seeded generator, one
 * for each direction, so which of them are lost follows from the seed. Each direction holds 1,000
 * packets
 * (--queue), and what comes while it is full is dropped, as a router does.
 *
 * It prints "ready" once packets can pass, and at its end (SIGTERM, SIGINT, or the end of who
 * started it) one JSON object with what became of the packets. SIGUSR1 cuts the line: what goes in
 * is lost until SIGUSR2.
 *
 * What must stay true: nothing is ever early; what is late beyond its delay is told; the interfaces
 * go with this process, whatever ends it, since they are bound to its descriptors; and every packet
 * that went in is counted once: carried, lost, too many, cut off, refused by the kernel, or still
 * under way at the end. */
#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/base/random.h"
#include "proto/base/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define PACKET_MAX   1500 /* the MTU of Ethernet, and of both interfaces */
#define QUEUE        1000 /* packets, as long as Linux makes an interface's own queue */
#define AT_ONCE      64   /* packets read of one side before the other has its turn */
#define PRIORITY     10   /* of the real-time ones, low */
#define WHOLE_SECOND INT64_C(1000000000)

struct settings {
    const char *namespace_name, *here, *there;
    struct span delay, jitter;
    double loss; /* of 1 */
    uint32_t queue;
    uint64_t seed;
};

struct packet {
    struct moment due;
    size_t len;
    unsigned char bytes[PACKET_MAX];
};

/* One way: a ring of packets in the order in which they went in, which is that of their times. */
struct direction {
    int from, to;
    struct random chance;
    struct packet *ring;
    uint32_t first, held;
    struct moment last_due;
    uint64_t entered, carried, bytes, lost, full, cut, refused;
    struct span late; /* the most that one came out after its time */
};

struct line {
    struct settings settings;
    struct direction ways[2]; /* from here to there, and back */
};

static volatile sig_atomic_t stopped, is_cut;

static void on_signal(int number)
{
    if (number == SIGUSR1)
        is_cut = 1;
    else if (number == SIGUSR2)
        is_cut = 0;
    else
        stopped = 1;
}

_Noreturn static void give_up(const char *what)
{
    fprintf(stderr, "link: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- interfaces ---- */

static void set_address(int socket_fd, struct ifreq *request, unsigned long which, const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    if (inet_pton(AF_INET, text, &address.sin_addr) != 1) {
        errno = EINVAL;
        give_up(text);
    }
    memcpy(&request->ifr_addr, &address, sizeof(address));
    if (ioctl(socket_fd, which, request) != 0)
        give_up(text);
}

/* An interface of the namespace that this thread is in, with its own address and the other end's.
 */
static int open_interface(const char *own, const char *other)
{
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    snprintf(request.ifr_name, sizeof(request.ifr_name), "link%%d");
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0)
        give_up("/dev/net/tun");
    int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket_fd < 0)
        give_up("socket");
    set_address(socket_fd, &request, SIOCSIFADDR, own);
    set_address(socket_fd, &request, SIOCSIFDSTADDR, other);
    request.ifr_mtu = PACKET_MAX;
    if (ioctl(socket_fd, SIOCSIFMTU, &request) != 0)
        give_up("the interface's MTU");
    request.ifr_flags = IFF_UP | IFF_POINTOPOINT | IFF_RUNNING;
    if (ioctl(socket_fd, SIOCSIFFLAGS, &request) != 0)
        give_up("the interface cannot be set up");
    close(socket_fd);
    return fd;
}

static int open_namespace(const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s%s", strchr(name, '/') != NULL ? "" : "/run/netns/", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        give_up(path);
    return fd;
}

static void open_ways(struct line *line)
{
    const struct settings *s = &line->settings;
    int here = open_namespace("/proc/self/ns/net"), there = open_namespace(s->namespace_name);
    if (setns(there, CLONE_NEWNET) != 0)
        give_up(s->namespace_name);
    int far = open_interface(s->there, s->here);
    if (setns(here, CLONE_NEWNET) != 0)
        give_up("back to the own namespace");
    int near = open_interface(s->here, s->there);
    close(here);
    close(there);
    for (int i = 0; i < 2; i++)
        line->ways[i] =
            (struct direction){.from = i == 0 ? near : far,
                               .to = i == 0 ? far : near,
                               .chance = {s->seed * 2 + (uint64_t)i},
                               .ring = memory_take_array(s->queue, sizeof(struct packet))};
}

/* ---- packets ---- */

static struct packet *packet_at(const struct line *line, struct direction *way, uint32_t i)
{
    return &way->ring[(way->first + i) % line->settings.queue];
}

/* The throw comes first, so that what is lost does not depend on how full the line is. */
static uint64_t *fate(const struct line *line, struct direction *way)
{
    bool loses = random_fraction(&way->chance) < line->settings.loss;
    if (is_cut)
        return &way->cut;
    if (loses)
        return &way->lost;
    return way->held == line->settings.queue ? &way->full : NULL;
}

static void put(const struct line *line, struct direction *way, const unsigned char *bytes,
                size_t len)
{
    const struct settings *s = &line->settings;
    way->entered++;
    uint64_t *dropped = fate(line, way);
    if (dropped != NULL) {
        ++*dropped;
        return;
    }
    struct moment due = moment_after(moment_now(), s->delay);
    if (s->jitter.ns > 0)
        due = moment_after(
            due, (struct span){(int64_t)random_below(&way->chance, (uint64_t)s->jitter.ns)});
    if (!moment_reached(due, way->last_due))
        due = way->last_due;
    struct packet *packet = packet_at(line, way, way->held++);
    packet->due = way->last_due = due;
    packet->len = len;
    memcpy(packet->bytes, bytes, len);
}

static void take_in(const struct line *line, struct direction *way)
{
    unsigned char bytes[PACKET_MAX];
    for (int i = 0; i < AT_ONCE; i++) {
        ssize_t len = read(way->from, bytes, sizeof(bytes));
        if (len <= 0)
            return;
        put(line, way, bytes, (size_t)len);
    }
}

static void let_out(const struct line *line, struct direction *way)
{
    struct moment now = moment_now();
    while (way->held > 0 && moment_reached(now, way->ring[way->first].due)) {
        const struct packet *packet = &way->ring[way->first];
        struct span late = moment_since(now, packet->due);
        if (late.ns > way->late.ns)
            way->late = late;
        if (write(way->to, packet->bytes, packet->len) == (ssize_t)packet->len) {
            way->carried++;
            way->bytes += packet->len;
        } else {
            way->refused++;
        }
        way->first = (way->first + 1) % line->settings.queue;
        way->held--;
        now = moment_now();
    }
}

/* ---- the loop ---- */

/* Until the next packet is due, or without an end. */
static struct timespec *time_left(const struct line *line, struct timespec *out)
{
    struct moment due = MOMENT_NEVER;
    for (int i = 0; i < 2; i++)
        if (line->ways[i].held > 0)
            due = moment_earlier(due, line->ways[i].ring[line->ways[i].first].due);
    if (due.ns == MOMENT_NEVER.ns)
        return NULL;
    struct moment now = moment_now();
    int64_t ns = moment_reached(now, due) ? 0 : moment_since(due, now).ns;
    *out = (struct timespec){.tv_sec = ns / WHOLE_SECOND, .tv_nsec = ns % WHOLE_SECOND};
    return out;
}

/* Signals are let in while it waits and at no other time, so that none is missed. */
static void carry(struct line *line, const sigset_t *while_waiting)
{
    while (!stopped) {
        struct pollfd fds[2];
        for (int i = 0; i < 2; i++)
            fds[i] = (struct pollfd){.fd = line->ways[i].from, .events = POLLIN};
        struct timespec left;
        if (ppoll(fds, 2, time_left(line, &left), while_waiting) < 0) {
            if (errno != EINTR)
                give_up("waiting for packets");
            continue;
        }
        for (int i = 0; i < 2; i++)
            if (fds[i].revents != 0)
                take_in(line, &line->ways[i]);
        for (int i = 0; i < 2; i++)
            let_out(line, &line->ways[i]);
    }
}

static void catch_signals(sigset_t *while_waiting)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2};
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction action = {.sa_handler = on_signal};
        sigaction(numbers[i], &action, NULL);
        sigaddset(&blocked, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &blocked, while_waiting);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigdelset(while_waiting, numbers[i]);
}

/* A wire does not wait for a processor, so this should not either. Timers come to the microsecond:
 * the kernel's usual slack of 50 us would be a quarter of a delay of 0.2 ms. */
static bool be_punctual(void)
{
    const struct sched_param priority = {.sched_priority = PRIORITY};
    prctl(PR_SET_TIMERSLACK, 1);
    return sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
}

static void tell(const char *name, const struct direction *way, const char *end)
{
    printf("\"%s\": {\"entered\": %" PRIu64 ", \"carried\": %" PRIu64 ", \"bytes\": %" PRIu64
           ", \"lost\": %" PRIu64 ", \"queue_full\": %" PRIu64 ", \"cut_off\": %" PRIu64
           ", \"refused\": %" PRIu64 ", \"under_way\": %" PRIu32 ", \"latest_us\": %" PRId64 "}%s",
           name, way->entered, way->carried, way->bytes, way->lost, way->full, way->cut,
           way->refused, way->held, way->late.ns / 1000, end);
}

/* ---- the command line ---- */

static bool take_number(const char *text, int64_t least, int64_t most, int64_t *out)
{
    return str_to_i64(str_of(text), out) && *out >= least && *out <= most;
}

static bool take_percent(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end) / 100;
    return *text != 0 && *end == 0 && *out >= 0 && *out <= 1;
}

static bool take(struct settings *s, int option, const char *text)
{
    int64_t n = 0;
    switch (option) {
    case 'n': s->namespace_name = text; return true;
    case 'h': s->here = text; return true;
    case 't': s->there = text; return true;
    case 'l': return take_percent(text, &s->loss);
    case 'd':
    case 'j':
        if (!take_number(text, 0, 10000000, &n))
            return false;
        *(option == 'd' ? &s->delay : &s->jitter) = span_of_us(n);
        return true;
    case 'q':
        if (!take_number(text, 1, 100000, &n))
            return false;
        s->queue = (uint32_t)n;
        return true;
    case 's':
        if (!take_number(text, 0, INT64_MAX / 4, &n))
            return false;
        s->seed = (uint64_t)n;
        return true;
    default: return false;
    }
}

static void read_settings(struct settings *s, int argc, char **argv)
{
    static const struct option options[] = {{"namespace", required_argument, NULL, 'n'},
                                            {"here", required_argument, NULL, 'h'},
                                            {"there", required_argument, NULL, 't'},
                                            {"delay-us", required_argument, NULL, 'd'},
                                            {"jitter-us", required_argument, NULL, 'j'},
                                            {"queue", required_argument, NULL, 'q'},
                                            {"loss-percent", required_argument, NULL, 'l'},
                                            {"seed", required_argument, NULL, 's'},
                                            {NULL, 0, NULL, 0}};
    *s = (struct settings){.queue = QUEUE, .seed = 1};
    bool well = true;
    for (int option; well && (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        well = take(s, option, optarg);
    if (well && optind == argc && s->namespace_name != NULL && s->here != NULL && s->there != NULL)
        return;
    fprintf(stderr, "usage: link --namespace NAME|PATH --here ADDRESS --there ADDRESS "
                    "[--delay-us N] [--jitter-us N] [--loss-percent X] [--queue N] [--seed N]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    struct line line;
    sigset_t while_waiting;
    read_settings(&line.settings, argc, argv);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    catch_signals(&while_waiting);
    open_ways(&line);
    bool real_time = be_punctual();
    printf("ready\n");
    fflush(stdout);
    carry(&line, &while_waiting);
    printf("{\"real_time\": %s, ", real_time ? "true" : "false");
    tell("there", &line.ways[0], ", ");
    tell("back", &line.ways[1], "}\n");
    for (int i = 0; i < 2; i++)
        memory_free(line.ways[i].ring);
    return 0;
}
