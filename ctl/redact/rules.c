/* rules: a table of members. What must stay true: a member that holds a name of the cluster is in
 * it; one that is not is read as something said, in which names that stand elsewhere are found, or
 * is not read at all if no process knows its name. */
#include "ctl/redact/rules.h"

#include "ctl/redact/vocabulary.h"

#include <stdlib.h>
#include <string.h>

struct row {
    const char *name;
    struct rule rule;
};

#define NAME(name)                                                                                 \
    {                                                                                              \
        name,                                                                                      \
        {                                                                                          \
            RULE_plain, TEXT_name                                                                  \
        }                                                                                          \
    }
#define KEY(name)                                                                                  \
    {                                                                                              \
        name,                                                                                      \
        {                                                                                          \
            RULE_plain, TEXT_key                                                                   \
        }                                                                                          \
    }
#define OPTION(name)                                                                               \
    {                                                                                              \
        name,                                                                                      \
        {                                                                                          \
            RULE_plain, TEXT_option                                                                \
        }                                                                                          \
    }
#define UNREAD(name)                                                                               \
    {                                                                                              \
        name,                                                                                      \
        {                                                                                          \
            RULE_plain, TEXT_unread                                                                \
        }                                                                                          \
    }
#define LABELS(name)                                                                               \
    {                                                                                              \
        name,                                                                                      \
        {                                                                                          \
            RULE_labels, TEXT_name                                                                 \
        }                                                                                          \
    }
#define AMOUNT(name)                                                                               \
    {                                                                                              \
        name,                                                                                      \
        {                                                                                          \
            RULE_amounts, TEXT_words                                                               \
        }                                                                                          \
    }

/* In the order of bytes. */
static const struct row rows[] = {
    NAME("Node"),
    NAME("NodeNames"),
    NAME("PodName"),
    NAME("PodNamespace"),
    NAME("PodUID"),
    AMOUNT("allocatable"),
    AMOUNT("allocatedResources"),
    {"annotations", {RULE_notes, TEXT_name}},
    OPTION("apiVersion"),
    UNREAD("args"),
    NAME("attacher"),
    {"attributes", {RULE_by_key, TEXT_name}},
    NAME("bindingConditions"),
    NAME("bindingFailureConditions"),
    {"capacity", {RULE_amounts, TEXT_words}},
    KEY("capacityKey"),
    NAME("claimName"),
    UNREAD("command"),
    NAME("compatibilityGroups"),
    {"consumedCapacity", {RULE_amounts, TEXT_words}},
    NAME("containers"),
    NAME("continue"),
    NAME("counterSet"),
    {"counters", {RULE_by_key, TEXT_words}},
    UNREAD("data"),
    NAME("device"),
    NAME("deviceClassName"),
    NAME("deviceID"),
    NAME("diskName"),
    NAME("diskURI"),
    {"disruptedPods", {RULE_labels, TEXT_words}},
    NAME("distinctAttribute"),
    KEY("driver"),
    UNREAD("env"),
    KEY("extendedResourceName"),
    {"failedAndUnresolvableNodes", {RULE_labels, TEXT_words}},
    {"failedNodes", {RULE_labels, TEXT_words}},
    KEY("finalizers"),
    NAME("generateName"),
    NAME("holderIdentity"),
    NAME("host"),
    NAME("hostIP"),
    NAME("hostname"),
    NAME("image"),
    NAME("iqn"),
    KEY("key"),
    OPTION("kind"),
    LABELS("labels"),
    AMOUNT("limits"),
    UNREAD("managedFields"),
    KEY("matchAttribute"),
    KEY("matchLabelKeys"),
    LABELS("matchLabels"),
    {"message", {RULE_plain, TEXT_hosts}},
    KEY("mismatchLabelKeys"),
    NAME("monitors"),
    NAME("name"),
    NAME("names"),
    NAME("namespace"),
    NAME("namespaces"),
    NAME("nodeName"),
    {"nodeSelector", {RULE_selector, TEXT_name}},
    NAME("nodenames"),
    NAME("nominatedNodeName"),
    {"note", {RULE_plain, TEXT_hosts}},
    AMOUNT("overhead"),
    {"parameters", {RULE_nested, TEXT_words}},
    NAME("parent"),
    NAME("pdName"),
    NAME("persistentVolumeName"),
    NAME("podGroupName"),
    NAME("pool"),
    NAME("priorityClassName"),
    KEY("provisioner"),
    OPTION("reason"),
    NAME("reference"),
    NAME("reportingController"),
    NAME("reportingInstance"),
    NAME("request"),
    {"requests", {RULE_amounts, TEXT_name}},
    NAME("resourceClaimName"),
    NAME("resourceClaimTemplateName"),
    NAME("schedulerName"),
    NAME("secretName"),
    NAME("secretNamespace"),
    {"selector", {RULE_selector, TEXT_name}},
    NAME("serviceAccountName"),
    NAME("shareID"),
    NAME("shareName"),
    NAME("storageClassName"),
    NAME("string"),
    UNREAD("stringData"),
    NAME("strings"),
    KEY("topologyKey"),
    OPTION("type"),
    NAME("uid"),
    NAME("value"),
    NAME("values"),
    NAME("volumeAttributesClassName"),
    NAME("volumeHandle"),
    NAME("volumeID"),
    NAME("volumeName"),
    NAME("volumePath"),
};

static int compare(const void *key, const void *each)
{
    const struct str *name = key;
    const struct row *row = each;
    return str_compare(*name, str_of(row->name));
}

struct rule rules_member(struct str name)
{
    const struct row *row =
        bsearch(&name, rows, sizeof(rows) / sizeof(rows[0]), sizeof(rows[0]), compare);
    if (row != NULL)
        return row->rule;
    return (struct rule){RULE_plain, vocabulary_has(name) ? TEXT_words : TEXT_unread};
}

enum text_class rules_note(struct str key, struct str text)
{
    if (!vocabulary_has(key))
        return TEXT_unread;
    return text.len > 0 && (*text.at == '{' || *text.at == '[') ? TEXT_words : TEXT_name;
}
