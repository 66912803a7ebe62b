/* tolerations: a toleration against a taint, for those who ask seldom. What must stay true: the
 * scheduler's rules, which ask once a node, take operators and numbers from here. */
#include "proto/kube/objects/tolerations.h"

enum kube_comparison kube_comparison_of(struct str operator_name, bool comparison)
{
    if (operator_name.len == 0 || str_is(operator_name, "Equal"))
        return COMPARISON_equal;
    if (str_is(operator_name, "Exists"))
        return COMPARISON_none;
    if (comparison && str_is(operator_name, "Lt"))
        return COMPARISON_less;
    return comparison && str_is(operator_name, "Gt") ? COMPARISON_greater : COMPARISON_unknown;
}

bool kube_whole_number(struct str text, int64_t *value)
{
    uint32_t first = text.len > 0 && text.at[0] == '-';
    if (first == text.len || text.at[0] == '+' || (text.at[first] == '0' && text.len > 1))
        return false;
    return str_to_i64(text, value);
}

static bool compares(enum kube_comparison how, struct str bound, struct str value)
{
    int64_t a, b;
    if (!kube_whole_number(bound, &a) || !kube_whole_number(value, &b))
        return false;
    return how == COMPARISON_less ? b < a : b > a;
}

bool kube_tolerates(const struct toleration *t, const struct taint *taint, bool comparison)
{
    enum kube_comparison how = kube_comparison_of(t->operator_name, comparison);
    if ((t->effect.len > 0 && !str_equal(t->effect, taint->effect)) ||
        (t->key.len > 0 && !str_equal(t->key, taint->key)) || how == COMPARISON_unknown)
        return false;
    if (how == COMPARISON_none)
        return true;
    return how == COMPARISON_equal ? str_equal(t->value, taint->value)
                                   : compares(how, t->value, taint->value);
}
