/* roles: which kinds of process connect to which, and whose terms they follow. */
#ifndef BUS_ROLES_H
#define BUS_ROLES_H

#include "proto/messages.h"

/* The kinds that may come in through the door of such a process. Tools may everywhere. Nobody comes
 * in whom the process connects to itself: that link is made by us, and no caller takes its place.
 */
enum process roles_served(enum process door);
/* The kinds of which a door serves one living process at a time. */
enum process roles_single(void);
/* The kinds whose terms such a process follows; 0 for a binder, which makes them. */
enum process roles_leaders(enum process process);

#endif
