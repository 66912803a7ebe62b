/* config_watch: a look at a file a second. The one idea: what stat says of it is compared,
 * following links, so that a file that was replaced, written to or linked anew is noticed without a
 * watch of the kernel's, which mounted ConfigMaps and network file systems do not all have. What
 * must stay true: nothing is read here. */
#include "proto/kube/config/config_watch.h"

#include "proto/journal/journal.h"

#include <sys/stat.h>

static bool look(struct config_watch *w, struct moment now, bool asked)
{
    struct stat s;
    if (!asked && !moment_reached(now, w->next))
        return false;
    w->next = moment_after(now, span_of_ms(CONFIG_WATCH_MS));
    if (stat(w->path, &s) != 0)
        return false;
    struct config_watch new = *w;
    new.seen = true;
    new.device = (uint64_t)s.st_dev;
    new.inode = (uint64_t)s.st_ino;
    new.size = (uint64_t)s.st_size;
    new.changed_ns = (int64_t)s.st_mtim.tv_sec * 1000000000 + s.st_mtim.tv_nsec;
    bool same = new.device == w->device &&new.inode == w->inode &&new.size ==
                w->size &&new.changed_ns == w->changed_ns;
    bool first = !w->seen;
    *w = new;
    return asked || (!first && !same);
}

bool config_watch_changed(struct config_watch *w, struct moment now, bool asked)
{
    return w->path != NULL && journal_change(w->path, !journal_plays() && look(w, now, asked));
}
