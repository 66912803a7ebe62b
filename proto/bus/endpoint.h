/* endpoint: the addresses of sockets: which may be used without encryption, where a run directory's
 * doors and taps are, and the lock that keeps two processes from one ipc path. */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

#define ENDPOINT_MAX 256 /* bytes with the zero; ipc paths are shorter still */

bool endpoint_is_ipc(const char *endpoint);
bool endpoint_is_tcp(const char *endpoint);
/* True for tcp on 127.0.0.0/8, [::1] or localhost. */
bool endpoint_is_loopback(const char *endpoint);
/* ipc://DIR/NAME.SUFFIX; false when it does not fit a socket address. */
bool endpoint_in_dir(char out[ENDPOINT_MAX], const char *dir, const char *name, const char *suffix);
/* The paths of all processes' sockets in it fit socket addresses. */
bool endpoint_dir_fits(const char *dir);
/* Makes the directory with mode 0700 if it is missing; false with a line in error, also when it is
 * another user's or others may write to it. visiting: we put nothing there; then root may use any
 * user's. */
bool endpoint_make_dir(const char *dir, bool visiting, char *error, size_t room);
/* Takes the ipc path for this process: locks PATH.lock, writes our pid into it and removes a dead
 * process's socket file. Returns the lock's descriptor, to be kept open as long as the socket, or
 * -1 with a line in error; *in_use tells that a living process has it. */
int endpoint_claim(const char *endpoint, bool *in_use, char *error, size_t room);
/* Gives the path back and removes its files. */
void endpoint_release(const char *endpoint, int *lock_fd);

#endif
