/* openb: each row becomes a Node or a Pod as somebody would write it, and is read as such. GPUs are
 * a resource in thousandths, which says nothing of which card a pod gets; the models that a pod
 * asks for are a node affinity. What must stay true: a row that cannot be understood, or that
 * contradicts another, is named, and nothing is made up for it. */
#include "ctl/import/openb.h"

#include "ctl/import/lines.h"
#include "proto/base/json_string.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/kube/documents/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 32
#define NUMBER_MAX  1e9 /* products of two, and microseconds of so many seconds, are int64_t */
#define MODEL       "alibabacloud.com/gpu-model"

struct table {
    struct trace *trace;
    const char *path;
    FILE *file;
    struct str heads[COLUMNS_MAX], cells[COLUMNS_MAX]; /* cells borrow from line */
    size_t count;
    struct buffer line;
    unsigned long number, heads_number; /* of the line, and of that with the heads */
    int64_t begin_us;
    struct str *error;
    struct buffer object;
    struct map *names; /* of the rows so far, to the numbers of their lines */
};

static bool fail(struct table *t, const char *what, struct str of)
{
    *t->error = arena_print(&t->trace->memory, "%s: line %lu: %s%.*s", t->path, t->number, what,
                            STR_ARG(of));
    return false;
}

static size_t split(struct str line, struct str *cells)
{
    size_t count = 0;
    struct str rest = str_trim(line), cell;
    bool more = rest.len > 0;
    while (more && count < COLUMNS_MAX) {
        int64_t comma = str_find(rest, ',');
        more = comma >= 0;
        cell = (struct str){rest.at, more ? (uint32_t)comma : rest.len};
        cells[count++] = str_trim(cell);
        if (more)
            rest = (struct str){rest.at + comma + 1, rest.len - (uint32_t)comma - 1};
    }
    return count;
}

/* The next row; false behind the last one. */
static bool next_row(struct table *t)
{
    while (lines_next(t->file, &t->line)) {
        t->number++;
        for (size_t i = 0; i < COLUMNS_MAX; i++)
            t->cells[i] = (struct str){NULL, 0};
        if (split(buffer_str(&t->line), t->cells) > 0)
            return true;
    }
    return false;
}

/* As errno has it. */
static bool fail_to_read(struct table *t)
{
    *t->error = arena_print(&t->trace->memory, "%s: %s", t->path, strerror(errno));
    return false;
}

/* Spreadsheets write a byte order mark before the first name. */
static struct str unmarked(struct str name)
{
    bool marked = name.len >= 3 && memcmp(name.at, "\xef\xbb\xbf", 3) == 0;
    return marked ? (struct str){name.at + 3, name.len - 3} : name;
}

static bool open_table(struct table *t)
{
    t->file = fopen(t->path, "re");
    if (t->file == NULL)
        return fail_to_read(t);
    if (!next_row(t))
        return ferror(t->file)
                   ? fail_to_read(t)
                   : fail(t, "there is no line with names of columns", (struct str){NULL, 0});
    t->heads_number = t->number;
    t->cells[0] = unmarked(t->cells[0]);
    for (t->count = 0; t->count < COLUMNS_MAX && t->cells[t->count].at != NULL; t->count++)
        t->heads[t->count] = arena_copy(&t->trace->memory, t->cells[t->count]);
    return true;
}

static void close_table(struct table *t)
{
    if (t->file != NULL)
        fclose(t->file);
    buffer_free(&t->line);
    buffer_free(&t->object);
    map_free(&t->names);
}

/* The cell of that column; empty: there is none in this row. */
static bool cell(struct table *t, const char *name, struct str *into)
{
    for (size_t i = 0; i < t->count; i++)
        if (str_is(t->heads[i], name)) {
            *into = t->cells[i];
            return true;
        }
    t->number = t->heads_number; /* what is wrong is there, and nothing more is read */
    return fail(t, "there is no column ", str_of(name));
}

/* A number from 0 on; -1 for an empty cell. */
static bool number(struct table *t, const char *name, int64_t *into)
{
    struct str text = {NULL, 0};
    char digits[32], *end = NULL;
    if (!cell(t, name, &text))
        return false;
    *into = -1;
    if (text.len == 0)
        return true;
    if (text.len >= sizeof(digits))
        return fail(t, "not a number: ", text);
    snprintf(digits, sizeof(digits), "%.*s", STR_ARG(text));
    double value = strtod(digits, &end); /* some are written with a fraction of 0 */
    if (*end != 0)
        return fail(t, "not a number: ", text);
    if (!(value >= 0 && value <= NUMBER_MAX))
        return fail(t, "not from 0 to 1000000000: ", text);
    *into = (int64_t)value;
    return true;
}

static int64_t at_least_0(int64_t value)
{
    return value > 0 ? value : 0;
}

/* A name is one node's or pod's; of two rows the second would be lost, or take the first's place.
 */
static bool is_new(struct table *t, struct str name)
{
    char line[64];
    const unsigned long *before = map_get(t->names, name);
    if (before != NULL) {
        snprintf(line, sizeof(line), "is in line %lu already: ", *before);
        return fail(t, line, name);
    }
    map_set(t->names, name, arena_same(&t->trace->memory, &t->number, sizeof(t->number)));
    return true;
}

static struct kube_json *parse(struct table *t)
{
    struct str why = {NULL, 0};
    struct kube_json *object = kube_json_parse(buffer_str(&t->object), &why, &t->trace->memory);
    if (object == NULL)
        fail(t, "", why);
    return object;
}

static bool read_node(struct table *t)
{
    struct str name = {NULL, 0}, model = {NULL, 0}, why = {NULL, 0};
    int64_t cpu = 0, memory = 0, gpu = 0;
    if (!cell(t, "sn", &name) || !cell(t, "model", &model) || !number(t, "cpu_milli", &cpu) ||
        !number(t, "memory_mib", &memory) || !number(t, "gpu", &gpu) || !is_new(t, name))
        return false;
    buffer_reset(&t->object);
    buffer_add_text(&t->object, "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":");
    json_string(&t->object, name);
    buffer_add_text(&t->object, ",\"labels\":{\"kubernetes.io/hostname\":");
    json_string(&t->object, name);
    if (model.len > 0) {
        buffer_add_text(&t->object, ",\"" MODEL "\":");
        json_string(&t->object, model);
    }
    buffer_print(&t->object,
                 "}},\"status\":{\"allocatable\":{\"cpu\":\"%lldm\",\"memory\":\"%lldMi\","
                 "\"pods\":\"110\",\"" OPENB_GPU "\":\"%lld\"}}}",
                 (long long)at_least_0(cpu), (long long)at_least_0(memory),
                 1000LL * at_least_0(gpu));
    struct kube_json *object = parse(t);
    bool good =
        object != NULL && (trace_node(t->trace, t->begin_us, object, &why) || fail(t, "", why));
    kube_json_free(&object);
    return good;
}

/* Models that will do, with bars between them. */
static void put_models(struct table *t, struct str models)
{
    struct str one;
    const char *comma = "";
    buffer_add_text(&t->object,
                    ",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnored"
                    "DuringExecution\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
                    "\"" MODEL "\",\"operator\":\"In\",\"values\":[");
    while (models.len > 0 && str_split(&models, "|", &one)) {
        buffer_add_text(&t->object, comma);
        json_string(&t->object, str_trim(one));
        comma = ",";
    }
    buffer_add_text(&t->object, "]}]}]}}}");
}

struct row {
    struct str name, models, qos;
    int64_t cpu, memory, gpus, gpu_milli, comes, goes;
};

static bool read_row(struct table *t, struct row *r)
{
    return cell(t, "name", &r->name) && cell(t, "gpu_spec", &r->models) &&
           cell(t, "qos", &r->qos) && number(t, "cpu_milli", &r->cpu) &&
           number(t, "memory_mib", &r->memory) && number(t, "num_gpu", &r->gpus) &&
           number(t, "gpu_milli", &r->gpu_milli) && number(t, "creation_time", &r->comes) &&
           number(t, "deletion_time", &r->goes);
}

static void put_pod(struct table *t, const struct row *r)
{
    struct buffer *out = &t->object;
    buffer_reset(out);
    buffer_add_text(out, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":"
                         "\"default\",\"name\":");
    json_string(out, r->name);
    buffer_add_text(out, ",\"uid\":");
    json_string(out, r->name);
    buffer_add_text(out, ",\"labels\":{\"qos\":");
    json_string(out, r->qos);
    buffer_print(out,
                 "}},\"spec\":{\"schedulerName\":\"default-scheduler\",\"containers\":[{\"name\":"
                 "\"main\",\"image\":\"main\",\"resources\":{\"requests\":{\"cpu\":\"%lldm\","
                 "\"memory\":\"%lldMi\"",
                 (long long)at_least_0(r->cpu), (long long)at_least_0(r->memory));
    if (r->gpus > 0)
        buffer_print(out, ",\"" OPENB_GPU "\":\"%lld\"",
                     (long long)r->gpus * at_least_0(r->gpu_milli));
    buffer_add_text(out, "}}}]");
    if (r->gpus > 0 && r->models.len > 0)
        put_models(t, r->models);
    buffer_add_text(out, "}}");
}

static bool read_pod(struct table *t)
{
    struct row r = {0};
    struct str why = {NULL, 0};
    if (!read_row(t, &r))
        return false;
    if (r.comes < 0)
        return fail(t, "no creation_time of ", r.name);
    if (r.goes >= 0 && r.goes < r.comes)
        return fail(t, "deletion_time is before creation_time: ", r.name);
    if (!is_new(t, r.name))
        return false;
    put_pod(t, &r);
    struct kube_json *object = parse(t);
    bool good =
        object != NULL &&
        (trace_pod(t->trace, t->begin_us + 1000000 * r.comes, object, &why) || fail(t, "", why));
    kube_json_free(&object);
    const struct pod_gone gone = {
        .uid = r.name, .namespace_name = STR_LITERAL("default"), .name = r.name};
    if (good && r.goes >= 0)
        trace_pod_gone(t->trace, t->begin_us + 1000000 * r.goes, &gone);
    return good;
}

static bool read_table(struct trace *trace, const char *path, int64_t begin_us,
                       bool (*row)(struct table *t), struct str *error)
{
    struct table t = {
        .trace = trace, .path = path, .begin_us = begin_us, .error = error, .names = map_new()};
    bool good = open_table(&t);
    while (good && next_row(&t))
        good = row(&t);
    if (good && ferror(t.file))
        good = fail_to_read(&t);
    close_table(&t);
    return good;
}

bool openb_read(struct trace *t, const char *nodes, const char *pods, int64_t begin_us,
                struct str *error)
{
    return read_table(t, nodes, begin_us, read_node, error) &&
           read_table(t, pods, begin_us, read_pod, error);
}
