/* vocabulary: two sorted tables. That of the processes' texts is made of their sources when berth
 * is built (the Makefile says how), so that no list has to follow them. What must stay true: who
 * only says what is in the tables says nothing about a cluster. */
#include "ctl/redact/vocabulary.h"

#include <stdlib.h>
#include <string.h>

/* In the order of bytes. */
static const char *const texts[] = {
#include "vocabulary.inc"
};

/* In the order of bytes. */
static const char *const staying[] = {
    "abac",       "alpha",         "amd64",    "apps",      "arch",    "arm64",
    "attachable", "authenticated", "batch",    "berth",     "beta",    "binder",
    "config",     "control",       "core",     "cpu",       "daemon",  "default",
    "dns",        "docker",        "domain",   "ephemeral", "etc",     "etcd",
    "failure",    "false",         "group",    "hostname",  "http",    "https",
    "hugepages",  "instance",      "io",       "ipc",       "json",    "k8s",
    "kube",       "kubernetes",    "latest",   "lease",     "library", "linux",
    "localhost",  "master",        "memory",   "node",      "nodes",   "none",
    "os",         "own",           "plane",    "pod",       "pods",    "proxy",
    "public",     "queue",         "region",   "role",      "root",    "run",
    "scheduler",  "scheduling",    "sha256",   "sigs",      "storage", "system",
    "tcp",        "tmp",           "topology", "true",      "type",    "usr",
    "v1",         "v1alpha1",      "v1alpha2", "v1alpha3",  "v1beta1", "v1beta2",
    "v2",         "var",           "volumes",  "watcher",   "windows", "worker",
    "x",          "yaml",          "yml",      "zone",
};

static int compare(const void *key, const void *each)
{
    const struct str *text = key;
    return str_compare(*text, str_of(*(const char *const *)each));
}

static bool found(struct str text, const char *const *table, size_t count)
{
    return bsearch(&text, table, count, sizeof(*table), compare) != NULL;
}

bool vocabulary_has(struct str text)
{
    if (text.len > 0 && *text.at == '$') /* a directive of a patch */
        text = (struct str){text.at + 1, text.len - 1};
    return found(text, texts, sizeof(texts) / sizeof(texts[0]));
}

bool vocabulary_stays(struct str word)
{
    return found(word, staying, sizeof(staying) / sizeof(staying[0]));
}
