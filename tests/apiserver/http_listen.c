/* The listening socket, made by hand so that an error can name the address and the reason.
 *
 * The one idea: libmicrohttpd says only that it could not start; bind and listen say why. */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Cuts "host:port" or "[host]:port" in two; false when there is no port. */
static bool cut_address(const char *address, char host[static 64], char port[static 16])
{
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon[1] == 0 || colon - address >= 64 || strlen(colon + 1) >= 16)
        return false;
    size_t size = (size_t)(colon - address);
    memcpy(host, address, size);
    host[size] = 0;
    if (size > 1 && host[0] == '[' && host[size - 1] == ']') {
        host[size - 1] = 0;
        memmove(host, host + 1, size - 1);
    }
    snprintf(port, 16, "%s", colon + 1);
    return strspn(port, "0123456789") == strlen(port);
}

static int listen_on(const struct addrinfo *info)
{
    int on = 1, fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, 1024) == 0)
        return fd;
    int failed = errno;
    close(fd);
    errno = failed;
    return -1;
}

int http_listen(const char *address, struct buffer *why)
{
    char host[64], port[16];
    if (!cut_address(address, host, port)) {
        buffer_print(why, "--listen %s: expected ADDR:PORT", address);
        return -1;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_PASSIVE},
                    *found;
    int code = getaddrinfo(*host ? host : NULL, port, &hints, &found);
    if (code != 0) {
        buffer_print(why, "--listen %s: %s", address, gai_strerror(code));
        return -1;
    }
    int fd = listen_on(found);
    if (fd < 0)
        buffer_print(why, "--listen %s: %s", address, strerror(errno));
    freeaddrinfo(found);
    return fd;
}

char *http_address(int listener, char out[static 96])
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } bound = {0};
    socklen_t size = sizeof bound;
    char host[64] = "";
    must(getsockname(listener, &bound.any, &size) == 0);
    if (bound.any.sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = &bound.six;
        bool any = IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr);
        inet_ntop(AF_INET6, any ? &in6addr_loopback : &six->sin6_addr, host, sizeof host);
        snprintf(out, 96, "[%s]:%d", host, ntohs(six->sin6_port));
    } else {
        const struct sockaddr_in *four = &bound.four;
        struct in_addr loopback = {htonl(INADDR_LOOPBACK)};
        bool any = four->sin_addr.s_addr == INADDR_ANY;
        inet_ntop(AF_INET, any ? &loopback : &four->sin_addr, host, sizeof host);
        snprintf(out, 96, "%s:%d", host, ntohs(four->sin_port));
    }
    return out;
}
