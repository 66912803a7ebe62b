/* tracing_config: a TracingConfiguration, as upstream's --tracing-config-file has it. */
#ifndef KUBE_CONFIG_TRACING_CONFIG_H
#define KUBE_CONFIG_TRACING_CONFIG_H

#include "proto/base/arena.h"

#define TRACING_RATE_MOST 1000000
#define TRACING_ENDPOINT  "localhost:4318" /* OTLP over HTTP has this port; gRPC has 4317 */
/* What all programs say of the flag. */
#define TRACING_FLAG "tracing-config-file"

struct tracing_config {
    bool given;
    struct str url;      /* http:// or https:// with host, such as http://localhost:4318 */
    int64_t per_million; /* of attempts that are traced, 0 to 1000000 */
};

/* A text in YAML or JSON. False, with the first thing that is wrong and its field in error; all in
 * memory of the arena. */
bool tracing_config_parse(struct str text, struct tracing_config *config, struct arena *a,
                          struct str *error);
/* The same of a file, which the error begins with. path NULL: nothing is traced. */
bool tracing_config_load(const char *path, struct tracing_config *config, struct arena *a,
                         struct str *error);

#endif
