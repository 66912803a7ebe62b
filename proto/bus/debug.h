/* debug: full detail for single pods (berth debug pod): what each process hears and says of one is
 * logged, and each of its log lines that names it (proto/base/log_pods.h). */
#ifndef BUS_DEBUG_H
#define BUS_DEBUG_H

#include "proto/bus/inside.h"

/* A tool asks for a pod, or that it be no more; answered with what is in force. */
void debug_take(struct bus *bus, struct peer *peer, const struct debug_pod *asked);
/* A message that came, or that goes, if it speaks of such a pod. To be called only while there is
 * one (log_pods_count). */
void debug_heard(const struct peer *peer, const struct message *m);
void debug_said(const struct peer *peer, const struct outgoing *head, struct str body);

#endif
