/* test_redact_members: a name goes wherever the API has a text: in each member of the schema, in
 * errors whatever the name looks like, and in expressions of CEL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ctl/redact/documents.h"
#include "ctl/redact/messages.h"
#include "ctl/redact/names.h"
#include "ctl/redact/vocabulary.h"
#include "proto/base/memory.h"
#include "proto/codec.h"
#include "proto/messages.h"

#include <stdio.h>
#include <string.h>

#define SEED 42
#define NAME "zanzibar"

/* Every field of the schema, of whatever type. */
static const struct schema_field {
    const char *name, *form, *value;
} fields[] = {
#define SCHEMA_KIND(version, kind, type)
#define SCHEMA_TYPE(type)
#define SCHEMA_FIELD(name, form, value) {name, #form, #value},
#define SCHEMA_END
#include "ctl/schema_1_37.def"
#undef SCHEMA_KIND
#undef SCHEMA_TYPE
#undef SCHEMA_FIELD
#undef SCHEMA_END
};
#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

/* What becomes of a document. */
static char *redacted(const char *document)
{
    struct names *n = names_new();
    char *text = memory_copy(document, strlen(document));
    documents_json(n, str_of(text));
    names_draw(n, SEED);
    documents_json(n, str_of(text));
    assert_int_equal(strlen(text), strlen(document));
    names_free(&n);
    return text;
}

/* Prose, in which names are changed that stand elsewhere. */
static bool is_prose(const char *name)
{
    static const char *const all[] = {"message", "note", "error", "expression"};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(name, all[i]) == 0)
            return true;
    return false;
}

static void check_field(const struct schema_field *f, const char *text, bool stays)
{
    char document[256];
    const char *open = "\"", *close = "\"";
    if (strcmp(f->form, "list") == 0)
        open = "[\"", close = "\"]";
    else if (strcmp(f->form, "map") == 0)
        open = "{\"cpu\":\"", close = "\"}";
    snprintf(document, sizeof(document), "{\"%s\":%s%s%s}", f->name, open, text, close);
    char *to = redacted(document);
    if ((strstr(to, text) != NULL) != stays)
        fail_msg("%s became %s", document, to);
    memory_free(to);
}

static void a_name_goes_from_each_text(void **state)
{
    size_t checked = 0;
    (void)state;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const struct schema_field *f = &fields[i];
        bool text = strcmp(f->value, "VALUE_text") == 0 || strcmp(f->value, "VALUE_any") == 0 ||
                    strcmp(f->value, "VALUE_int_or_text") == 0;
        if (!text || is_prose(f->name))
            continue;
        check_field(f, NAME, false);
        checked++;
    }
    assert_true(checked > 300);
}

/* Those that a process knows: all others go, whatever they are. */
static void times_and_amounts_stay(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const struct schema_field *f = &fields[i];
        if (!vocabulary_has(str_of(f->name)))
            continue;
        if (strcmp(f->value, "VALUE_time") == 0)
            check_field(f, "2026-11-30T23:43:25Z", true);
        if (strcmp(f->value, "VALUE_quantity") == 0)
            check_field(f, "1536Mi", true);
    }
}

static void words_of_the_api_stay(void **state)
{
    static const char document[] =
        "{\"phase\":\"Running\",\"operator\":\"NotIn\",\"effect\":\"NoSchedule\",\"type\":"
        "\"ADDED\",\"status\":\"True\",\"resourceVersion\":\"123456789\",\"apiGroup\":\"apps\","
        "\"preemptionPolicy\":\"Never\",\"volumeBindingMode\":\"WaitForFirstConsumer\","
        "\"annotations\":{\"pv.kubernetes.io/bound-by-controller\":\"yes\"}}";
    (void)state;
    char *to = redacted(document);
    assert_string_equal(to, document);
    memory_free(to);
}

/* ---- what is said ---- */

static char *said(const char *text, enum text_class class)
{
    struct names *n = names_new();
    char *copy = memory_copy(text, strlen(text));
    names_take(n, str_of(copy), class, false);
    names_draw(n, SEED);
    names_take(n, str_of(copy), class, false);
    names_free(&n);
    return copy;
}

/* What stands between % and % goes, and nothing else does. */
static void check_said(const char *marked, enum text_class class)
{
    char text[256];
    bool goes[256] = {false}, inside = false;
    size_t len = 0;
    for (const char *c = marked; *c != 0; c++) {
        if (*c == '%') {
            inside = !inside;
            continue;
        }
        goes[len] = inside && strchr("/.:-_@ ", *c) == NULL;
        text[len++] = *c;
    }
    text[len] = 0;
    char *to = said(text, class);
    for (size_t i = 0; i < len; i++)
        if ((to[i] != text[i]) != goes[i])
            fail_msg("%s became %s", text, to);
    memory_free(to);
}

static void errors_tell_no_names(void **state)
{
    (void)state;
    check_said("https://%acme%-%lb%:6443: Could not resolve host: %acme%-%lb%", TEXT_hosts);
    check_said("https://%kubemaster%:6443: Connection refused", TEXT_hosts);
    check_said("https://%kubemaster%", TEXT_hosts);
    check_said("https://%API%.%Acmebank%.%COM%/x: timed out", TEXT_hosts);
    check_said("https://%target%:6443: timed out", TEXT_hosts);
    check_said(
        "https://localhost:6443: certificate authority /etc/%acme%/%pki%/%trust%.%crt% cannot "
        "be used: no such file",
        TEXT_hosts);
    check_said("client certificate /etc/%acme%/%tls%.%crt% cannot be used: bad", TEXT_hosts);
    check_said("client certificate of exec plugin %acmelogin% cannot be used: bad", TEXT_hosts);
    check_said(
        "certificate-authority-data of cluster \"%Acme%\" in /%home%/%alice%/.kube/%vault%: bad",
        TEXT_hosts);
    check_said("exec plugin /%opt%/%acme%/%login%: exited with status 1: %denied%: %user% "
               "%alice%@%acmebank% %project% %payroll7%",
               TEXT_hosts);
    check_said("exec plugin %acmelogin%: was ended by signal 9: %bye alice%", TEXT_hosts);
    check_said("exec plugin %acmelogin%: gave no answer within 60 s", TEXT_hosts);
    check_said("it exited with status 1: %denied for alice%", TEXT_words);
}

static void expressions_tell_no_names(void **state)
{
    (void)state;
    check_said("device.driver == \"%chips%.%acme%.%dev%\"", TEXT_expression);
    check_said("device.attributes[\"%chips%.%acme%\"].%brand% in ['%Zeta%', \"%Omega%\"]",
               TEXT_expression);
    check_said("device.capacity[\"%acme%\"].memory.compareTo(quantity(\"10Gi\")) >= 0",
               TEXT_expression);
    check_said("device.attributes['%acme%'].%index% > 3", TEXT_expression);
    check_said("device.driver == \"%cut%", TEXT_expression);
    char *to =
        redacted("{\"expression\":\"device.driver == \\\"chips.acme\\\" && "
                 "device.attributes[\\\"chips.acme\\\"].brand == 1\",\"driver\":\"chips.acme\"}");
    assert_null(strstr(to, "chips"));
    assert_null(strstr(to, "acme"));
    assert_null(strstr(to, "brand"));
    char *first = strstr(to, "== \\\"") + 5, *driver = strstr(to, "\"driver\":\"") + 10;
    assert_memory_equal(first, driver, 10);
    memory_free(to);
}

/* What stands in the place of a handle has a claim's name in it, and the scheduler's words. */
static void a_sentence_for_a_handle_stays(void **state)
{
    static const char sentence[] = "claim without a volume: ";
    const struct attached_volume v = {.handle = STR_LITERAL("claim without a volume: acme/claim")};
    struct buffer body = {0};
    struct names *n = names_new();
    (void)state;
    codec_encode(&attached_volume_record, &v, &body);
    messages_take(n, &attached_volume_record, buffer_str(&body));
    names_draw(n, SEED);
    messages_take(n, &attached_volume_record, buffer_str(&body));
    assert_non_null(memmem(body.at, body.len, sentence, sizeof(sentence) - 1));
    assert_null(memmem(body.at, body.len, "acme", 4));
    assert_null(memmem(body.at, body.len, "/claim", 6));
    buffer_free(&body);
    names_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_goes_from_each_text),
        cmocka_unit_test(times_and_amounts_stay),
        cmocka_unit_test(words_of_the_api_stay),
        cmocka_unit_test(errors_tell_no_names),
        cmocka_unit_test(expressions_tell_no_names),
        cmocka_unit_test(a_sentence_for_a_handle_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
