/* claim_templates: the one idea: a claim is written down as its controller would have sent it, and
 * read as any claim is. What must stay true: the pod's volumes name the very claims that are made.
 */
#include "ctl/whatif/claim_templates.h"

static const struct kube_json *template_at(const struct workload *load, uint32_t index)
{
    const struct kube_json *i = kube_json_first(load->claims);
    while (i != NULL && index-- > 0)
        i = kube_json_next(i);
    return i;
}

static struct str name_of(const struct kube_json *template)
{
    return kube_json_text(kube_json_path(template, "metadata.name"));
}

bool claim_templates_check(const struct kube_json *templates, struct str *error, struct arena *a)
{
    unsigned index = 0;
    for (const struct kube_json *i = kube_json_first(templates); i != NULL; i = kube_json_next(i)) {
        if (name_of(i).len == 0) {
            *error =
                arena_print(a, "spec.volumeClaimTemplates[%u].metadata.name: is missing", index);
            return false;
        }
        index++;
    }
    return true;
}

uint32_t claim_templates_count(const struct workload *load)
{
    return (uint32_t)kube_json_count(load->claims);
}

struct str claim_templates_name(const struct workload *load, uint32_t index, struct str pod,
                                struct arena *a)
{
    return arena_print(a, "%.*s-%.*s", STR_ARG(name_of(template_at(load, index))), STR_ARG(pod));
}

struct kube_json *claim_templates_object(const struct workload *load, uint32_t index,
                                         struct str pod, struct arena *a)
{
    const struct kube_json *template = template_at(load, index), *i;
    struct buffer text = {0};
    struct json_out j = {.out = &text};
    struct str error;
    json_open(&j, NULL, '{');
    json_str(&j, "apiVersion", STR_LITERAL("v1"));
    json_str(&j, "kind", STR_LITERAL("PersistentVolumeClaim"));
    json_open(&j, "metadata", '{');
    i = kube_json_first(kube_json_get(template, "metadata"));
    for (; i != NULL; i = kube_json_next(i))
        if (!str_is(kube_json_name(i), "name") && !str_is(kube_json_name(i), "namespace"))
            json_value(&j, i);
    json_str(&j, "name", claim_templates_name(load, index, pod, a));
    json_str(&j, "namespace", load->space);
    json_close(&j, '}');
    if (kube_json_get(template, "spec") != NULL)
        json_value(&j, kube_json_get(template, "spec"));
    json_close(&j, '}');
    struct kube_json *claim = kube_json_parse(buffer_str(&text), &error, a);
    buffer_free(&text);
    return claim;
}

static bool is_template(const struct workload *load, struct str name)
{
    const struct kube_json *i = kube_json_first(load->claims);
    while (i != NULL && !str_equal(name_of(i), name))
        i = kube_json_next(i);
    return i != NULL;
}

static void write_volumes(struct json_out *j, const struct workload *load,
                          const struct kube_json *own, struct str pod, struct arena *a)
{
    json_open(j, "volumes", '[');
    for (uint32_t i = 0; i < claim_templates_count(load); i++) {
        json_open(j, NULL, '{');
        json_str(j, "name", name_of(template_at(load, i)));
        json_open(j, "persistentVolumeClaim", '{');
        json_str(j, "claimName", claim_templates_name(load, i, pod, a));
        json_close(j, '}');
        json_close(j, '}');
    }
    for (const struct kube_json *i = kube_json_first(own); i != NULL; i = kube_json_next(i))
        if (!is_template(load, kube_json_text(kube_json_get(i, "name"))))
            json_value(j, i);
    json_close(j, ']');
}

void claim_templates_write_spec(struct json_out *j, const struct workload *load,
                                const struct kube_json *spec, struct str pod, struct arena *a)
{
    const struct kube_json *own = kube_json_get(spec, "volumes");
    if (own != NULL && !kube_json_is_array(own) && !kube_json_is_null(own)) {
        json_value(j, spec); /* refused where the pod is read */
        return;
    }
    json_open(j, "spec", '{');
    for (const struct kube_json *i = kube_json_first(spec); i != NULL; i = kube_json_next(i))
        if (!str_is(kube_json_name(i), "volumes"))
            json_value(j, i);
    write_volumes(j, load, own, pod, a);
    json_close(j, '}');
}
