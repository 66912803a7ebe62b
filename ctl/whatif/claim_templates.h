/* claim_templates: the claims that a StatefulSet's controller makes of its volumeClaimTemplates,
 * one of each template for each pod: TEMPLATE-POD. Mirrored: getPersistentVolumeClaims and
 * updateStorage. */
#ifndef CTL_WHATIF_CLAIM_TEMPLATES_H
#define CTL_WHATIF_CLAIM_TEMPLATES_H

#include "ctl/json_out.h"
#include "ctl/whatif/manifests.h"

/* True: each has a name. False with what is wrong, a path first. */
bool claim_templates_check(const struct kube_json *templates, struct str *error, struct arena *a);
uint32_t claim_templates_count(const struct workload *load);
/* What the claim of that template is called, which is the index-th. */
struct str claim_templates_name(const struct workload *load, uint32_t index, struct str pod,
                                struct arena *a);
/* The claim as its controller would write it, to be freed by the caller. */
struct kube_json *claim_templates_object(const struct workload *load, uint32_t index,
                                         struct str pod, struct arena *a);
/* A member "spec" of the pod of that name, whose volumes are the claims', then its own others. */
void claim_templates_write_spec(struct json_out *j, const struct workload *load,
                                const struct kube_json *spec, struct str pod, struct arena *a);

#endif
