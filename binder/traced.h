/* traced: what the binder has to say of a bind whose attempt is traced. */
#ifndef BINDER_TRACED_H
#define BINDER_TRACED_H

#include "binder/binds_inside.h"

/* The bind has ended; nothing happens unless it is traced. */
void traced_bind(const struct flight *f, struct instant at, bool bound);

#endif
