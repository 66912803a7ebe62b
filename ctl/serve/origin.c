/* origin: addresses and counts, no sockets. What must stay true: the table holds exactly the
 * origins that have a question under way, so it can never be full while there is a turn left. */
#include "ctl/serve/origin.h"

#include "proto/base/must.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define PREFIX_BYTES 8 /* of an IPv6 address */

struct origin origin_of(const struct sockaddr *address)
{
    struct origin out = {0};
    if (address != NULL && address->sa_family == AF_INET) {
        struct sockaddr_in four;
        memcpy(&four, address, sizeof(four));
        out.at[10] = out.at[11] = 0xff;
        memcpy(out.at + 12, &four.sin_addr, 4);
    } else if (address != NULL && address->sa_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, address, sizeof(six));
        bool mapped = IN6_IS_ADDR_V4MAPPED(&six.sin6_addr);
        memcpy(out.at, &six.sin6_addr, mapped ? sizeof(out.at) : PREFIX_BYTES);
    }
    return out;
}

bool origin_same(const struct origin *a, const struct origin *b)
{
    return memcmp(a->at, b->at, sizeof(a->at)) == 0;
}

void origin_print(const struct origin *origin, char *out, size_t room)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    char text[INET6_ADDRSTRLEN] = "";
    bool four = memcmp(origin->at, mapped, sizeof(mapped)) == 0;
    inet_ntop(four ? AF_INET : AF_INET6, origin->at + (four ? sizeof(mapped) : 0), text,
              sizeof(text));
    snprintf(out, room, "%s%s", text, four ? "" : "/64");
}

static struct turn *turn_of(struct turns *turns, const struct origin *origin)
{
    for (uint32_t i = 0; i < turns->origins; i++)
        if (origin_same(&turns->at[i].origin, origin))
            return &turns->at[i];
    return NULL;
}

bool turns_take(struct turns *turns, const struct origin *origin, bool known)
{
    if (known && turns->known < TURNS_KNOWN) {
        turns->known++;
        return true;
    }
    if (known || turns->strangers == TURNS_MAX)
        return false;
    struct turn *turn = turn_of(turns, origin);
    if (turn != NULL && turn->count == TURNS_OF_ORIGIN)
        return false;
    if (turn == NULL) {
        turn = &turns->at[turns->origins++];
        *turn = (struct turn){.origin = *origin};
    }
    turn->count++;
    turns->strangers++;
    return true;
}

void turns_give(struct turns *turns, const struct origin *origin, bool known)
{
    if (known) {
        must(turns->known > 0);
        turns->known--;
        return;
    }
    struct turn *turn = turn_of(turns, origin);
    must(turn != NULL && turns->strangers > 0);
    turns->strangers--;
    if (--turn->count == 0)
        *turn = turns->at[--turns->origins];
}
