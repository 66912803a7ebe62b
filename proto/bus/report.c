/* report: what a process tells about itself when asked: the core's own lines, then the bus's
 * counters. What must stay true: only counters that are not zero are named, so that a report stays
 * small enough to read. */
#include "proto/bus/inside.h"
#include "proto/bus/options.h"

#include "proto/base/beat.h"
#include "proto/base/log_out.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/metrics.h"
#include "proto/process.h"

#include <string.h>
#include <unistd.h>

/* Two for each message type, the reasons, the peers, and some single ones. */
#define COUNTERS_MAX (2 * MSG_COUNT + REFUSED_COUNT + DROP_COUNT + 8)

static const char *const drop_names[] = {
#define DROP(name) #name,
    DROPS
#undef DROP
};

struct labels {
    struct label *at;
    uint32_t count, room;
    struct arena *arena;
};

static struct label *add(struct labels *labels)
{
    must(labels->count < labels->room);
    return &labels->at[labels->count++];
}

static void add_number(struct labels *labels, const char *group, const char *name, uint64_t value)
{
    if (value == 0)
        return;
    struct label *label = add(labels);
    label->key = arena_print(labels->arena, "%s%s", group, name);
    label->value = arena_print(labels->arena, "%llu", (unsigned long long)value);
}

static void add_traffic(struct labels *labels, const struct counts *counts)
{
    for (int type = 1; type < MSG_COUNT; type++) {
        const struct traffic *sent = &counts->sent[type], *received = &counts->received[type];
        if (sent->messages > 0) {
            struct label *label = add(labels);
            label->key = arena_print(labels->arena, "sent.%s", frame_type_name(type));
            label->value =
                arena_print(labels->arena, "messages=%llu bytes=%llu",
                            (unsigned long long)sent->messages, (unsigned long long)sent->bytes);
        }
        if (received->messages > 0 || counts->handled_us[type] > 0) {
            struct label *label = add(labels);
            label->key = arena_print(labels->arena, "received.%s", frame_type_name(type));
            label->value = arena_print(
                labels->arena, "messages=%llu bytes=%llu handled_us=%lld slowest_us=%lld",
                (unsigned long long)received->messages, (unsigned long long)received->bytes,
                (long long)counts->handled_us[type], (long long)counts->slowest_us[type]);
        }
    }
}

static void add_peers(const struct bus *bus, struct labels *labels)
{
    for (size_t i = 0; i < bus->peer_count; i++) {
        const struct peer *peer = bus->peers[i];
        const char *state = peer->state == PEER_up ? "up" : "waiting";
        struct label *label = add(labels);
        label->key = arena_print(labels->arena, "peer.%s",
                                 peer->instance[0]  ? peer->instance
                                 : peer->connecting ? process_name(peer->expected)
                                                    : "unknown");
        label->value = arena_print(
            labels->arena, "kind=%s state=%s for_ms=%lld heard_ms=%lld session=%lld",
            process_name(peer->process ? peer->process : peer->expected), state,
            (long long)span_ms(
                moment_since(bus->now, peer->state == PEER_up ? peer->up_at : bus->started)),
            (long long)span_ms(moment_since(bus->now, peer->heard_at)), (long long)peer->session);
    }
}

static void add_counters(struct bus *bus, struct labels *labels)
{
    add_peers(bus, labels);
    for (int why = 1; why < REFUSED_COUNT; why++)
        add_number(labels, "refused.", refusal_name((enum refusal)why), bus->counts.refused[why]);
    for (int why = 0; why < DROP_COUNT; why++)
        add_number(labels, "dropped.", drop_names[why], bus->counts.dropped[why]);
    add_number(labels, "", "handshakes_failed", bus->counts.handshakes_failed);
    add_number(labels, "", "connections_lost", bus->counts.connections_lost);
    add_number(labels, "", "not_accepted", bus->counts.not_accepted);
    add_number(labels, "", "turned_away", bus->counts.turned_away);
    add_number(labels, "", "log_lines_lost", log_out_lost() + beat_lost());
    add_traffic(labels, &bus->counts);
}

static uint32_t count_lines(struct str text)
{
    uint32_t lines = 0;
    for (uint32_t i = 0; i < text.len; i++)
        lines += text.at[i] == '\n';
    return lines + 1;
}

/* key=value lines into labels; a line without a sign is a key alone. */
static void split_lines(struct str text, struct labels *labels)
{
    while (text.len > 0) {
        int64_t end = str_find(text, '\n');
        struct str line = {text.at, end < 0 ? text.len : (uint32_t)end};
        uint32_t used = line.len + (end >= 0);
        text = (struct str){text.at + used, text.len - used};
        if (line.len == 0)
            continue;
        int64_t sign = str_find(line, '=');
        uint32_t key = sign < 0 ? line.len : (uint32_t)sign;
        uint32_t value = sign < 0 ? line.len : key + 1;
        struct label *label = add(labels);
        label->key = arena_copy(labels->arena, (struct str){line.at, key});
        label->value = arena_copy(labels->arena, (struct str){line.at + value, line.len - value});
    }
}

static void add_lines(struct bus *bus, struct status *status, struct arena *arena)
{
    struct buffer text = {0};
    if (bus->lines)
        bus->lines(bus->lines_state, &text);
    struct labels lines = {.room = count_lines(buffer_str(&text)), .arena = arena};
    lines.at = arena_take(arena, lines.room * sizeof(struct label));
    split_lines(buffer_str(&text), &lines);
    status->lines.at = lines.at;
    status->lines.count = lines.count;
    buffer_free(&text);
}

void report_fill(struct bus *bus, struct status *status, struct arena *arena)
{
    *status = (struct status){.process = str_of(process_name(bus->process)),
                              .instance = str_of(bus->instance),
                              .pid = getpid(),
                              .uptime_ms = span_ms(moment_since(bus->now, bus->started)),
                              .term = bus->term,
                              .generation = bus->generation};
    add_lines(bus, status, arena);
    struct labels counters = {.room = COUNTERS_MAX + (uint32_t)bus->peer_count, .arena = arena};
    counters.at = arena_take(arena, counters.room * sizeof(struct label));
    add_counters(bus, &counters);
    status->counters.at = counters.at;
    status->counters.count = counters.count;
}

/* ---- metrics ---- */

/* A counter that somebody else keeps. */
static void count(enum metric metric, const char *label, uint64_t value)
{
    if (value > 0)
        metric_series(metric, METRIC_VALUES(str_of(label)))->value = (int64_t)value;
}

static void measure_traffic(const struct counts *counts)
{
    uint64_t sent = 0, received = 0;
    for (int type = 1; type < MSG_COUNT; type++) {
        const char *name = frame_type_name(type);
        sent += counts->sent[type].bytes;
        received += counts->received[type].bytes;
        count(METRIC_berth_bus_messages_sent_total, name, counts->sent[type].messages);
        count(METRIC_berth_bus_messages_received_total, name, counts->received[type].messages);
        count(METRIC_berth_bus_handled_seconds_total, name,
              (uint64_t)counts->handled_us[type] * 1000);
    }
    count(METRIC_berth_bus_sent_bytes_total, "", sent);
    count(METRIC_berth_bus_received_bytes_total, "", received);
}

static void measure(struct bus *bus)
{
    int64_t up = 0;
    for (size_t i = 0; i < bus->peer_count; i++)
        up += bus->peers[i]->state == PEER_up;
    metric_set(METRIC_berth_bus_peers, up);
    for (int why = 1; why < REFUSED_COUNT; why++)
        count(METRIC_berth_bus_refused_total, refusal_name((enum refusal)why),
              bus->counts.refused[why]);
    for (int why = 0; why < DROP_COUNT; why++)
        count(METRIC_berth_bus_dropped_total, drop_names[why], bus->counts.dropped[why]);
    measure_traffic(&bus->counts);
    process_measure(OPTIONS_VERSION);
}

void report_metrics(struct bus *bus, bool checks_only, struct metrics *metrics, struct arena *arena)
{
    metrics->process = str_of(process_name(bus->process));
    metrics->instance = str_of(bus->instance);
    metrics->incarnation = bus->incarnation;
    if (!checks_only)
        measure(bus);
    metrics_fill(metrics, checks_only, arena);
}

uint64_t bus_refused(const struct bus *bus, const char *reason)
{
    for (int why = 1; why < REFUSED_COUNT; why++)
        if (strcmp(refusal_name((enum refusal)why), reason) == 0)
            return bus->counts.refused[why];
    return 0;
}

uint64_t bus_dropped(const struct bus *bus)
{
    uint64_t sum = 0;
    for (int why = 0; why < DROP_COUNT; why++)
        sum += bus->counts.dropped[why];
    return sum;
}

uint64_t bus_gaps(const struct bus *bus)
{
    return bus->counts.refused[REFUSED_gap];
}

uint64_t bus_handshakes_failed(const struct bus *bus)
{
    return bus->counts.handshakes_failed;
}
