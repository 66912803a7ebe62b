"""rooms: which folder may know which, where a library may be used, and how large things may become.

A reader who wants to know where something belongs looks here first.
"""

TOPS = ["watcher", "queue", "scheduler", "binder", "proto", "ctl"]

PROCESSES = ["watcher", "queue", "scheduler", "binder"]
PROTO = ["proto", "proto/base"]
DOCUMENTS, OBJECTS = "proto/kube/documents", "proto/kube/objects"
KUBE = ["proto/kube/" + room for room in ("documents", "release", "objects", "access", "watch", "config", "extenders", "writes", "tracing")]
JOURNAL = "proto/journal"
BUS = ["proto/bus", JOURNAL]
PLUGINS = "proto/plugins"
ROOMS = ["scheduler/" + room for room in ("table", "catalog", "rules", "worker", "cluster", "merge", "coordinator")]
TABLE, CATALOG, RULES, WORKER, CLUSTER, MERGE, COORDINATOR = ROOMS
CEL = ["scheduler/cel/cel.h"]
# What each folder may include of ours, besides itself.
MAY_INCLUDE = {
    "proto/base": [],
    "proto": ["proto/base"],
    # what a core is handed, and what it says, is declared in bus/delivery.h and bus/outbox.h
    JOURNAL: PROTO + ["proto/bus/delivery.h", "proto/bus/outbox.h"],
    "proto/bus": PROTO + [JOURNAL],
    # what Kubernetes' documents say, as trees and values; then what reads and writes them
    DOCUMENTS: PROTO,
    "proto/kube/release": PROTO,
    OBJECTS: PROTO + [DOCUMENTS],
    "proto/kube/access": PROTO + [JOURNAL, DOCUMENTS],
    "proto/kube/watch": PROTO + [DOCUMENTS, "proto/kube/access"],
    # the flags that files and command lines share are declared in bus/options.h
    "proto/kube/config": PROTO + [JOURNAL, DOCUMENTS, OBJECTS, "proto/kube/release", "proto/bus/options.h"],
    "proto/kube/extenders": PROTO + [DOCUMENTS, "proto/kube/access", "proto/kube/config", "proto/kube/release"],
    "proto/kube/writes": PROTO + [DOCUMENTS, OBJECTS],
    # plugins that are processes, as whoever asks them sees them
    PLUGINS: PROTO + ["proto/bus/outbox.h", "proto/kube/config"],
    "proto/kube/tracing": PROTO + [DOCUMENTS, "proto/kube/access"],
    # a scheduler's rooms: coordinator and worker are two programs, which share what is below both
    TABLE: PROTO + [DOCUMENTS, OBJECTS],
    CATALOG: PROTO + [DOCUMENTS, OBJECTS, TABLE, "scheduler/devices"] + CEL,
    RULES: PROTO + [DOCUMENTS, OBJECTS, TABLE, CATALOG],
    "scheduler/rules/plugins": PROTO + [DOCUMENTS, OBJECTS, TABLE, CATALOG, RULES, "scheduler/devices"] + CEL,
    WORKER: PROTO + BUS + [TABLE, CATALOG, RULES],
    CLUSTER: PROTO + [DOCUMENTS, OBJECTS, TABLE, CATALOG, RULES, "scheduler/devices"],
    MERGE: PROTO + [OBJECTS, TABLE, CATALOG, RULES, CLUSTER],
    # what is written down of an attempt that is traced
    "scheduler/tracing": PROTO + ["proto/kube/tracing/trace.h"],
    COORDINATOR: PROTO + BUS + KUBE + [PLUGINS, TABLE, CATALOG, RULES, CLUSTER, MERGE, "scheduler/tracing"],
    "scheduler": PROTO + BUS + KUBE + [WORKER, COORDINATOR],
    "scheduler/cel": ["proto/base", "proto/kube/documents/quantity.h"],
    "scheduler/devices": PROTO + [DOCUMENTS, OBJECTS] + CEL,
    "scheduler/extender": PROTO + BUS + KUBE,
    "watcher": PROTO + BUS + KUBE,
    "queue": PROTO + BUS + KUBE + [PLUGINS, "queue/forest", "queue/tracing", "queue/hooks", "queue/bus_plugins"],
    "queue/hooks": PROTO + ["queue", "queue/plugins"],
    "queue/plugins": PROTO + [DOCUMENTS, OBJECTS, "queue"],
    "queue/bus_plugins": PROTO + ["proto/bus/delivery.h", "proto/kube/config/config_file.h", PLUGINS, "queue"],
    "queue/tracing": PROTO + ["proto/kube/tracing/trace.h", "queue"],
    "queue/forest": PROTO + BUS + KUBE + ["queue"],
    "binder": PROTO + BUS + KUBE + ["binder/hooks"],
    "binder/hooks": PROTO + BUS + KUBE + ["binder", "binder/plugins", PLUGINS],
    "binder/plugins": PROTO + ["proto/kube/access", DOCUMENTS, OBJECTS, "proto/kube/writes", "binder"],
    "ctl": PROTO + BUS + KUBE + ROOMS + [PLUGINS, "scheduler", "ctl/preflight", "ctl/explain", "ctl/whatif", "ctl/simulate", "ctl/status", "ctl/tables", "ctl/record", "ctl/import", "ctl/doctor", "ctl/follow", "ctl/debug", "ctl/top", "ctl/completion", "ctl/tap", "ctl/serve/flags.h"],
    "ctl/record": PROTO + BUS + KUBE + ROOMS + ["scheduler", "ctl", "ctl/redact"],
    "ctl/redact": PROTO + [JOURNAL, DOCUMENTS, "ctl/record"],
    "ctl/preflight": PROTO + BUS + KUBE + ROOMS + ["scheduler", "ctl", "ctl/serve/flags.h"],
    "ctl/explain": PROTO + BUS + KUBE + ROOMS + ["scheduler", "ctl", "ctl/record"],
    "ctl/whatif": PROTO + BUS + KUBE + ROOMS + ["scheduler", "ctl", "ctl/explain"],
    "ctl/tables": PROTO + BUS + KUBE + ["ctl", "ctl/explain"],
    "ctl/status": PROTO + BUS + ["ctl"],
    "ctl/simulate": PROTO + BUS + KUBE + ROOMS + ["scheduler", "ctl", "ctl/explain", "ctl/whatif"],
    "ctl/doctor": PROTO + BUS + ["proto/kube/access", OBJECTS, DOCUMENTS, "ctl"],
    "ctl/import": PROTO + BUS + KUBE + ["scheduler", "ctl", "ctl/record", "ctl/whatif"],
    "ctl/follow": PROTO + BUS + [DOCUMENTS, OBJECTS, JOURNAL, "ctl", "ctl/record"],
    "ctl/debug": PROTO + BUS + ["proto/kube/config", "ctl"],
    "ctl/tap": PROTO + BUS + ["ctl", "ctl/record"],
    "ctl/completion": PROTO + ["proto/bus/options.h"],
    "ctl/top": PROTO + BUS + ["ctl", "ctl/explain", "ctl/tables"],
    "ctl/serve": PROTO + BUS + KUBE,
    "tests/apiserver": ["proto/base"],
    "tests/scale": ["proto/base"],
}
LIBRARIES = [  # header pattern, where it may be included
    # tests/bench/core/packages.c measures each beside what is ours
    (r"<(zmq|czmq|zauth|zcert)[a-z_]*\.h>", ["proto/bus", "tests/bench/core"]),
    (r"<curl/", ["proto/kube"]),
    (r"<(nghttp2|openssl)/", ["proto/kube", "tests/unit/kube/access"]),
    (r"<(cjson/)?cJSON\.h>", ["proto/kube", "tests/apiserver", "tests/unit/apiserver", "tests/unit/base",
                                 "tests/bench/core"]),
    (r"<yaml\.h>", ["proto/kube"]),
    (r"<zstd", [JOURNAL]),
    (r"<(microhttpd\.h|gnutls/)", ["ctl/serve", "tests/unit/serve", "tests/apiserver"]),
    (r"<msgpack", ["proto", "proto/bus", "tests/unit", "tests/bench/core"]),
]
CALLS = [  # call, where it may stand, why
    (r"\b(malloc|calloc|realloc|free|strdup|strndup|asprintf)\s*\(", ["proto/base/memory.c"],
     "memory comes from proto/base/memory.h"),
    (r"\b(clock_gettime|gettimeofday|time)\s*\(",
     ["proto/base/moment.c", "tests/bench/core/clock.c"],  # the latter: CPU time
     "time comes from proto/base/moment.h"),
    (r"\b(strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atof|gets)\s*\(", [], "banned call"),
    (r"\b(sleep|usleep|nanosleep)\s*\(", [], "nothing sleeps: wait for an event with a bound"),
    (r"\bassert\s*\(", ["tests/"], "must() stays on in release builds"),
]

MOST_FILES = 40  # .c files in a folder outside of tests/
LONGEST = 700    # lines of a .c file outside of tests/
