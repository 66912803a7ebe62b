/* bus_plugins: plugins that are processes on the bus: who is there, and how one is asked. */
#ifndef SCHEDULER_COORDINATOR_BUS_PLUGINS_H
#define SCHEDULER_COORDINATOR_BUS_PLUGINS_H

#include "proto/kube/extenders/extenders.h"
#include "proto/plugins/processes.h"
#include "scheduler/merge/consultation.h"

struct coordinator;
struct flight;

/* In sets of extenders a plugin is the bit behind these. */
#define BUS_PLUGIN_BIT(slot) (UINT64_C(1) << (EXTENDERS_MAX + (slot)))
#define EXTENDER_BITS        ((UINT64_C(1) << EXTENDERS_MAX) - 1)
_Static_assert(EXTENDERS_MAX + CONFIG_BUS_PLUGINS_MAX <= 64, "sets are 64 bits wide");

/* The plugins that the profiles name, from now on; nobody may be asked just now. */
void bus_plugins_configure(struct coordinator *c);
/* A process came, or went. */
void bus_plugins_up(struct coordinator *c, struct str name, uint32_t peer);
void bus_plugins_down(struct coordinator *c, uint32_t peer);
/* Its slot. */
struct bus_plugin_slot *bus_plugins_slot(struct coordinator *c, const struct bus_plugin *plugin);
/* Adds who of the profile's is asked about a pod; see extension.h. */
void bus_plugins_wanted(struct coordinator *c, const struct profile *profile,
                        struct extension_asked *asked);

/* Asks; the flight knows whom, and until when. False with why, until the cycle ends: it cannot be
 * asked. */
bool bus_plugins_ask(struct coordinator *c, struct moment now, struct flight *f,
                     const struct consultation_turn *t, struct str *why);
/* The plugin has failed; why is completed to a sentence that names it, from the arena. */
struct str bus_plugins_failed(struct coordinator *c, const struct bus_plugin *plugin,
                              struct str why, struct arena *a);
/* Logs that, now and then; ignored: the pod goes on without it. */
void bus_plugins_say_failed(struct coordinator *c, struct moment now, const struct flight *f,
                            bool ignored, struct str why);
/* It let the deadline pass: the same, and it is left alone for a while. */
struct str bus_plugins_late(struct coordinator *c, struct moment now,
                            const struct bus_plugin *plugin, struct arena *a);
/* It has answered well: who was turned away because it did not is told. */
void bus_plugins_fine(struct coordinator *c, const struct bus_plugin *plugin);
/* Something came from this process: it is alive. */
void bus_plugins_heard(struct coordinator *c, uint32_t peer);
/* No answer is owed. what: bound or unreserved. */
void bus_plugins_tell(struct coordinator *c, const struct bus_plugin *plugin, enum plugin_news what,
                      const struct flight *f);
/* The pod is bound: to those that the profile names at PostBind. */
void bus_plugins_post_bind(struct coordinator *c, const struct flight *f);
void bus_plugins_status(const struct coordinator *c, struct moment now, struct buffer *lines);

/* Whether the profile has somebody at Permit, or at Reserve. */
bool bus_plugins_permit(const struct profile *profile);
bool bus_plugins_reserve(const struct profile *profile);

#endif
