/* binder_inside: the state of the binder's core, for binder.c and report.c; nobody else includes
 * it. */
#ifndef BINDER_BINDER_INSIDE_H
#define BINDER_BINDER_INSIDE_H

#include "binder/binder.h"
#include "binder/binds.h"
#include "binder/decisions.h"
#include "binder/events.h"
#include "binder/fitness.h"
#include "binder/groups.h"
#include "binder/hooks/bus_hooks.h"
#include "binder/preempts.h"
#include "binder/releases.h"
#include "binder/status.h"
#include "proto/base/map.h"

enum stage { STAGE_running, STAGE_binds, STAGE_tail, STAGE_release, STAGE_farewell, STAGE_ended };

struct binder {
    struct binder_options options;
    struct lanes *lanes;
    struct lease *lease;
    struct fitness fitness;
    uint32_t scheduler; /* its peer number; 0: not there */
    struct bus_hooks *bus_hooks;
    struct binds *binds;
    struct preempts *preempts;
    struct releases *releases;
    struct statuses *statuses;
    struct groups *groups;
    struct events *events;
    struct map *forbidden; /* "verb resource" -> itself: told once each */
    enum stage stage;
    struct decisions decisions;
    struct moment stage_until;
    bool unclean; /* it waits no more for the answers to what was under way when it stopped */
    struct moment tell_at;
    bool told_leading, told_unanswered;
    int64_t told_term;
    uint64_t refused; /* messages not acted upon: not leading, or malformed */
    uint64_t cuts;    /* requests taken back because the fence was closed */
};

#endif
