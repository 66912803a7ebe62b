/* encode: the bodies that the binder writes for every pod, for tests/wire/run to post. What must
 * stay true: both forms are asked for the same record, so that a server must make the same of them.
 */
#include "proto/kube/writes/writes.h"

#include <stdio.h>
#include <string.h>

static void put_binding(struct buffer *out, struct str space, struct str name, bool protobuf)
{
    struct bind bind = {.namespace_name = space, .name = name, .node_name = STR_LITERAL("node-a")};
    if (protobuf)
        writes_binding_protobuf(out, &bind);
    else
        writes_binding(out, &bind);
}

static void put_event(struct buffer *out, struct str space, struct str name, bool protobuf)
{
    struct writes_event event = {.name = name,
                                 .regarding = {.kind = STR_LITERAL("Pod"),
                                               .api_version = STR_LITERAL("v1"),
                                               .namespace_name = space,
                                               .name = STR_LITERAL("a-pod"),
                                               .uid = STR_LITERAL("11-22"),
                                               .resource_version = STR_LITERAL("42")},
                                 .controller = STR_LITERAL("default-scheduler"),
                                 .instance = STR_LITERAL("default-scheduler-host"),
                                 .type = STR_LITERAL("Warning"),
                                 .reason = STR_LITERAL("FailedScheduling"),
                                 .action = STR_LITERAL("Scheduling"),
                                 .note = STR_LITERAL("0/1 nodes \"é\" <&> \t世界"),
                                 .time_us = 1767323045000006,
                                 .series_count = 300,
                                 .series_last_us = 1767323046999999};
    if (protobuf)
        writes_event_protobuf(out, &event);
    else
        writes_event(out, &event);
}

int main(int argc, char **argv)
{
    struct buffer out = {0};
    if (argc != 5) {
        fprintf(stderr, "usage: encode binding|event json|protobuf NAMESPACE NAME\n");
        return 2;
    }
    bool protobuf = strcmp(argv[2], "protobuf") == 0;
    if (strcmp(argv[1], "binding") == 0)
        put_binding(&out, str_of(argv[3]), str_of(argv[4]), protobuf);
    else
        put_event(&out, str_of(argv[3]), str_of(argv[4]), protobuf);
    fwrite(out.at, 1, out.len, stdout);
    buffer_free(&out);
    return 0;
}
