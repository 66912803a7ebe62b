/* resource: names of resources, judged as upstream's v1helper does. What must stay true: a name is
 * fixed or scalar or ignored, never two of them. */
#include "scheduler/table/resource.h"

#include "proto/kube/objects/selector.h"

#include <string.h>

int resource_fixed(struct str name)
{
    if (str_is(name, "cpu"))
        return RESOURCE_cpu;
    if (str_is(name, "memory"))
        return RESOURCE_memory;
    if (str_is(name, "ephemeral-storage"))
        return RESOURCE_ephemeral;
    return -1;
}

static bool has_kubernetes_domain(struct str name)
{
    static const char domain[] = "kubernetes.io/";
    size_t len = sizeof(domain) - 1;
    for (size_t i = 0; i + len <= name.len; i++)
        if (memcmp(name.at + i, domain, len) == 0)
            return true;
    return false;
}

bool resource_is_extended(struct str name)
{
    if (str_find(name, '/') < 0 || has_kubernetes_domain(name) ||
        str_starts_with(name, "requests."))
        return false;
    /* A quota must be able to name it, too. */
    char quota[400] = "requests.";
    size_t prefix = strlen(quota);
    if (name.len > sizeof(quota) - prefix)
        return false;
    memcpy(quota + prefix, name.at, name.len);
    return kube_label_key_valid((struct str){quota, (uint32_t)(prefix + name.len)});
}

bool resource_is_scalar(struct str name)
{
    return resource_is_extended(name) || has_kubernetes_domain(name) ||
           str_starts_with(name, "hugepages-") || str_starts_with(name, "attachable-volumes-");
}

int64_t resource_amount(const struct quantity *at, uint32_t count, struct str name)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(at[i].name, name))
            return at[i].amount;
    return 0;
}
