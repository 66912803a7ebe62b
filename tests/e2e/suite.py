"""The list of cases, and what each gets: a fresh API server, schedulers, and their removal."""
import os
import traceback

import checks
import cluster
import kube
import objects
import subject

CASES = []
REAL_ONLY = {}  # case to what the small API server lacks for it
COSCHEDULING = set()  # cases that kube-scheduler with the Coscheduling plugin can pass
TIMED = set()  # cases that measure time or ratios, and so want the machine for themselves


def case(name, not_upstream=None, coscheduling=False, not_small=None, timed=False):
    """Register a case.  `not_upstream`: why kube-scheduler as the subject cannot pass it;
    `coscheduling`: it can with that plugin; `not_small`: why only on the real API server;
    `timed`: it measures time or ratios."""
    def register(function):
        if timed:
            TIMED.add(name)
        if not_small:
            REAL_ONLY[name] = not_small
        if coscheduling:
            COSCHEDULING.add(name)
        CASES.append((name, not_upstream, function))
        return function
    return register


class World:
    """One case's surroundings; everything started through it is stopped by close()."""

    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.subjects, self.mirrors, self.clusters = [], [], []
        self.others = []  # whatever else has a stop()
        self.cluster = self.new_cluster("api")
        self.admin, self.log = self.cluster.admin, self.cluster.log

    def new_cluster(self, name, flags=(), release=None):
        self.clusters.append(cluster.start(self.options.api, os.path.join(self.directory, name), flags,
                                           release or self.options.release))
        return self.clusters[-1]

    def reference(self):
        """The command of the real kube-scheduler of the release that is tested; None when it is not built."""
        built = cluster.reference_scheduler(self.options.release)
        return subject.reference(self.options.release) if built else None

    def prepare(self, name="subject", kubeconfig=None, user="scheduler", flags=(), template=None,
                where=None, **configuration):
        """A scheduler that is not started yet."""
        directory = os.path.join(self.directory, name)
        template = template or self.options.scheduler
        # kube-scheduler writes protobuf unless told otherwise; our API server reads JSON alone.
        json_only = self.options.api == "small" and "{rundir}" not in template
        made = subject.Subject(template, directory,
                               kubeconfig or (where or self.cluster).kubeconfig(user), flags,
                               json_only, **configuration)
        self.subjects.append(made)
        return made

    def scheduler(self, *arguments, **options):
        return self.prepare(*arguments, **options).start()

    def mirror(self, path, shape, where=None):
        """A live view of some objects."""
        mirror = kube.Mirror((where or self.cluster).admin, path, shape)
        self.mirrors.append(mirror)
        return mirror

    def pods(self, where=None):
        return self.mirror(kube.PODS, objects.shape, where)

    def close(self):
        """Stop everything; what cannot be stopped is told, but does not keep the rest alive."""
        troubles = []
        steps = [each.stop for each in self.others + self.mirrors + self.subjects + self.clusters]
        for step in steps:
            try:
                step()
            except Exception as error:  # the other steps must run
                troubles.append("%s: %s" % (step.__qualname__, error))
        return troubles

    def log_tail(self, lines=12):
        text = []
        for each in self.subjects:
            text += ["    %s| %s" % (os.path.basename(each.directory), line)
                     for line in each.log_lines()[-lines:]]
        return "\n".join(text)


def run_case(name, function, options, directory):
    """Run one case; the reason why it failed, with the schedulers' last words, or None."""
    world, why, tail, troubles = None, None, "", []
    try:
        world = World(options, directory)
        function(world)
    except checks.Failed as failure:
        why = str(failure)
    except Exception:  # a broken case is a failed case, and the next one still runs
        why = traceback.format_exc().strip()
    finally:
        # Also when the suite itself is interrupted: nothing may be left running.
        if world:
            tail = world.log_tail() if why else ""
            troubles = world.close()
    if troubles and not why:
        why = "; ".join(troubles)
    return "%s\n%s" % (why, tail) if tail else why
