/* config_bus_events: events and queueingHints of BusPluginArgs. */
#ifndef KUBE_CONFIG_CONFIG_BUS_EVENTS_H
#define KUBE_CONFIG_CONFIG_BUS_EVENTS_H

#include "proto/kube/config/config_args.h"

/* Into b; what is wrong is said as of any argument. */
void config_bus_events_read(const struct args_reader *r, const struct cursor *args,
                            struct bus_plugin *b);
/* The events as a JSON list, and as lines of YAML among the other arguments; none: no line. */
void config_bus_events_json(const struct bus_plugin *b, struct buffer *out);
void config_bus_events_print(const struct bus_plugin *b, struct buffer *out);

#endif
