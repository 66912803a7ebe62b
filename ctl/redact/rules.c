/* rules: a table of members. What must stay true: what a member says stays only if the table has
 * that: as a word of the API that berth knows, or as no word at all. A member that is not in the
 * table holds a name, or is not read at all if no process knows its name. */
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
#define FIGURE(name)                                                                               \
    {                                                                                              \
        name,                                                                                      \
        {                                                                                          \
            RULE_plain, TEXT_figure                                                                \
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
    {"Error", {RULE_plain, TEXT_hosts}},
    NAME("Node"),
    {"NodeNameToMetaVictims", {RULE_by_key, TEXT_name}},
    {"NodeNameToVictims", {RULE_by_key, TEXT_name}},
    NAME("NodeNames"),
    NAME("PodName"),
    NAME("PodNamespace"),
    NAME("PodUID"),
    OPTION("accessModes"),
    FIGURE("acquireTime"),
    OPTION("action"),
    OPTION("add"),
    NAME("address"),
    AMOUNT("allocatable"),
    AMOUNT("allocatedResources"),
    OPTION("allocationMode"),
    FIGURE("allocationTimestamp"),
    {"annotations", {RULE_notes, TEXT_name}},
    OPTION("apiGroup"),
    OPTION("apiVersion"),
    UNREAD("args"),
    NAME("attacher"),
    {"attributes", {RULE_by_key, TEXT_name}},
    NAME("bindingConditions"),
    NAME("bindingFailureConditions"),
    {"capacity", {RULE_amounts, TEXT_words}},
    KEY("capacityKey"),
    FIGURE("capacityMultiplier"),
    NAME("claimName"),
    UNREAD("clientCertificateData"),
    UNREAD("clientKeyData"),
    UNREAD("command"),
    NAME("compatibilityGroups"),
    {"consumedCapacity", {RULE_amounts, TEXT_words}},
    NAME("containerName"),
    NAME("containers"),
    NAME("continue"),
    NAME("counterSet"),
    {"counters", {RULE_by_key, TEXT_words}},
    FIGURE("creationTimestamp"),
    UNREAD("data"),
    OPTION("declaredFeatures"),
    FIGURE("default"),
    FIGURE("deletionTimestamp"),
    UNREAD("description"),
    NAME("device"),
    NAME("deviceClassName"),
    NAME("deviceID"),
    FIGURE("deviceMultiplier"),
    NAME("directory"),
    OPTION("disableResizePreemption"),
    NAME("diskName"),
    NAME("diskURI"),
    {"disruptedPods", {RULE_labels, TEXT_words}},
    NAME("distinctAttribute"),
    FIGURE("divisor"),
    KEY("driver"),
    OPTION("effect"),
    UNREAD("env"),
    {"error", {RULE_plain, TEXT_hosts}},
    FIGURE("eventTime"),
    FIGURE("expirationTimestamp"),
    {"expression", {RULE_plain, TEXT_expression}},
    KEY("extendedResourceName"),
    {"failedAndUnresolvableNodes", {RULE_labels, TEXT_words}},
    {"failedNodes", {RULE_labels, TEXT_words}},
    OPTION("field"),
    KEY("finalizers"),
    FIGURE("firstTimestamp"),
    NAME("generateName"),
    OPTION("gitVersion"),
    OPTION("group"),
    OPTION("groupVersion"),
    OPTION("health"),
    NAME("holderIdentity"),
    NAME("host"),
    NAME("hostIP"),
    NAME("hostname"),
    NAME("image"),
    NAME("ip"),
    NAME("iqn"),
    KEY("key"),
    OPTION("kind"),
    LABELS("labels"),
    FIGURE("lastObservedTime"),
    FIGURE("lastProbeTime"),
    FIGURE("lastTimestamp"),
    FIGURE("lastTransitionTime"),
    AMOUNT("limits"),
    FIGURE("major"),
    UNREAD("managedFields"),
    KEY("matchAttribute"),
    KEY("matchLabelKeys"),
    LABELS("matchLabels"),
    FIGURE("max"),
    FIGURE("maximumVolumeSize"),
    {"message", {RULE_plain, TEXT_hosts}},
    FIGURE("min"),
    AMOUNT("minResources"),
    FIGURE("minor"),
    KEY("mismatchLabelKeys"),
    OPTION("mode"),
    NAME("monitors"),
    NAME("name"),
    NAME("names"),
    NAME("namespace"),
    NAME("namespaces"),
    OPTION("nodeAffinityPolicy"),
    NAME("nodeName"),
    {"nodeSelector", {RULE_selector, TEXT_name}},
    OPTION("nodeTaintsPolicy"),
    NAME("nodenames"),
    NAME("nominatedNodeName"),
    {"note", {RULE_plain, TEXT_hosts}},
    NAME("occupiedBy"),
    OPTION("operation"),
    OPTION("operator"),
    AMOUNT("overhead"),
    {"parameters", {RULE_nested, TEXT_key}},
    NAME("parent"),
    NAME("parentCompositePodGroupName"),
    NAME("path"),
    NAME("pdName"),
    FIGURE("perContainer"),
    FIGURE("perPod"),
    NAME("persistentVolumeName"),
    OPTION("phase"),
    NAME("podGroupName"),
    NAME("pool"),
    NAME("port"),
    OPTION("preemptionPolicy"),
    NAME("prefix"),
    NAME("priorityClassName"),
    OPTION("protocol"),
    KEY("provisioner"),
    FIGURE("quantity"),
    OPTION("reason"),
    NAME("reference"),
    FIGURE("renewTime"),
    NAME("reportingController"),
    NAME("reportingInstance"),
    NAME("request"),
    NAME("requestName"),
    {"requests", {RULE_amounts, TEXT_name}},
    OPTION("resize"),
    OPTION("resource"),
    NAME("resourceClaimName"),
    NAME("resourceClaimTemplateName"),
    KEY("resourceName"),
    FIGURE("resourceVersion"),
    OPTION("restartPolicy"),
    FIGURE("scheduleStartTime"),
    NAME("schedulerName"),
    OPTION("scheme"),
    NAME("secretName"),
    NAME("secretNamespace"),
    {"selector", {RULE_selector, TEXT_name}},
    NAME("server"),
    NAME("service"),
    NAME("serviceAccount"),
    NAME("serviceAccountName"),
    NAME("shareID"),
    NAME("shareName"),
    OPTION("skipNodeOperations"),
    OPTION("source"),
    FIGURE("startTime"),
    OPTION("status"),
    FIGURE("step"),
    NAME("storageClassName"),
    NAME("string"),
    UNREAD("stringData"),
    NAME("strings"),
    NAME("subdomain"),
    OPTION("subresource"),
    NAME("system"),
    FIGURE("time"),
    UNREAD("token"),
    KEY("topologyKey"),
    OPTION("type"),
    NAME("uid"),
    NAME("url"),
    NAME("user"),
    FIGURE("validValues"),
    NAME("value"),
    NAME("values"),
    NAME("version"),
    NAME("volume"),
    NAME("volumeAttributesClassName"),
    OPTION("volumeBindingMode"),
    NAME("volumeHandle"),
    NAME("volumeID"),
    OPTION("volumeMode"),
    NAME("volumeName"),
    NAME("volumePath"),
    OPTION("whenUnsatisfiable"),
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
    return (struct rule){RULE_plain, vocabulary_has(name) ? TEXT_key : TEXT_unread};
}

enum text_class rules_note(struct str key, struct str text)
{
    if (!vocabulary_has(key))
        return TEXT_unread;
    if (str_is(key, "pv.kubernetes.io/bound-by-controller") ||
        str_is(key, "pv.kubernetes.io/bind-completed"))
        return TEXT_option; /* yes, as the binder writes it */
    return text.len > 0 && (*text.at == '{' || *text.at == '[') ? TEXT_words : TEXT_name;
}
