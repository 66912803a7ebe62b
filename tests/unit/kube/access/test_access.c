/* Kubeconfig files, good and bad: each bad one must give exactly one line that names file and
 * field. Also base64, and what an exec plugin may answer. */
#include "proto/base/memory.h"
#include "proto/kube/access/access.h"
#include "proto/kube/access/exec.h"
#include "proto/kube/access/kubeconfig.h"
#include "proto/kube/documents/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/berth-config-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
    (void)state;
    unsetenv("KUBECONFIG");
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
    if (mkdtemp(folder) == NULL)
        return 1;
    setenv("HOME", folder, 1);
    write_file("token", "  secret-1\n");
    write_file("empty", "\n");
    write_file("blank", "a b\n");
    write_file("ca.crt", "-----BEGIN CERTIFICATE-----\n");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"token", "empty", "blank",        "ca.crt",
                                        "kc",    "kc2",   ".kube/config", ".kube"};
    char path[256];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        remove(path);
    }
    return rmdir(folder);
}

static struct kube_config *load(const char *text, char *error, size_t room)
{
    char path[256];
    write_file("kc", text);
    snprintf(path, sizeof(path), "%s/kc", folder);
    return kube_config_load(path, NULL, error, room);
}

#define PEM_B64 "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==" /* -----BEGIN CERTIFICATE----- */
#define HEAD    "apiVersion: v1\nkind: Config\ncurrent-context: x\n"
#define CONTEXT "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
#define CLUSTER "clusters: [{name: c, cluster: {server: 'https://a:1'}}]\n"
#define USER(t) HEAD CONTEXT CLUSTER "users: [{name: u, user: {" t "}}]\n"
#define WITH(t)                                                                                    \
    HEAD CONTEXT "clusters: [{name: c, cluster: {" t "}}]\nusers: [{name: u, user: {}}]\n"
#define EXEC(t) USER("exec: {" t "}")
#define V1      "apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never"

static void everything_known_is_read(void **state)
{
    (void)state;
    char error[512] = "", path[256];
    struct kube_config *c =
        load(HEAD CONTEXT "clusters: [{name: c, cluster: {server: 'https://a:1/prefix/', "
                          "certificate-authority-data: " PEM_B64 ", tls-server-name: b, "
                          "disable-compression: true}}]\n"
                          "users: [{name: u, user: {client-certificate: ca.crt, "
                          "client-key-data: " PEM_B64 ", tokenFile: token}}]\n"
                          "preferences: {}\n",
             error, sizeof(error));
    assert_string_equal(error, "");
    assert_non_null(c);
    assert_string_equal(kube_config_server(c), "https://a:1/prefix");
    assert_string_equal(c->server_name, "b");
    assert_string_equal(c->ca.at, "-----BEGIN CERTIFICATE-----\n");
    assert_string_equal(c->key.at, "-----BEGIN CERTIFICATE-----\n");
    snprintf(path, sizeof(path), "%s/ca.crt", folder);
    assert_string_equal(c->cert_file, path); /* relative to the kubeconfig */
    snprintf(path, sizeof(path), "%s/token", folder);
    assert_string_equal(c->token_file, path);
    kube_config_free(&c);
}

static void json_is_read_too(void **state)
{
    (void)state;
    char error[512] = "";
    struct kube_config *c =
        load("{\"current-context\":\"x\",\"contexts\":[{\"name\":\"x\",\"context\":{\"cluster\":"
             "\"c\",\"user\":\"u\"}}],\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":"
             "\"http://a\"}}],\"users\":[{\"name\":\"u\",\"user\":{\"username\":\"n\",\"password\":"
             "\"p\"}}]}",
             error, sizeof(error));
    assert_string_equal(error, "");
    assert_string_equal(c->server, "http://a");
    assert_string_equal(c->username, "n");
    assert_string_equal(c->password, "p");
    kube_config_free(&c);
}

static void an_exec_plugin_is_read(void **state)
{
    (void)state;
    char error[512] = "", path[256];
    struct kube_config *c =
        load(EXEC("command: ./bin/get, args: [a, b c], env: [{name: NAME, value: v=w}], " V1
                  ", provideClusterInfo: true, installHint: apt install it"),
             error, sizeof(error));
    assert_string_equal(error, "");
    snprintf(path, sizeof(path), "%s/./bin/get", folder);
    assert_string_equal(c->exec->command, path);
    assert_string_equal(c->exec->args[0], path);
    assert_string_equal(c->exec->args[1], "a");
    assert_string_equal(c->exec->args[2], "b c");
    assert_null(c->exec->args[3]);
    assert_string_equal(c->exec->env[0], "NAME=v=w");
    assert_null(c->exec->env[1]);
    struct buffer info = {0};
    exec_info(c, &info);
    assert_string_equal(info.at,
                        "{\"kind\":\"ExecCredential\",\"apiVersion\":"
                        "\"client.authentication.k8s.io/v1\",\"spec\":{\"interactive\":false,"
                        "\"cluster\":{\"server\":\"https://a:1\"}}}");
    buffer_free(&info);
    kube_config_free(&c);
}

/* text of the file, and the error behind "FOLDER/kc: ". */
static const struct {
    const char *text, *error;
} bad[] = {
    {"a: [", "line 2, column 1: did not find expected node content"},
    {"[]", "is not a kubeconfig: must be one YAML or JSON object"},
    {"", "is empty"},
    {"# nothing", "is not a kubeconfig: must be one YAML or JSON object"},
    {"kind: Pod", "kind: \"Pod\" must be Config"},
    {"apiVersion: v2", "apiVersion: \"v2\" must be v1"},
    {"kind: Config", "current-context: is missing"},
    {"current-context: 5", "current-context: must be a string, not a number"},
    {"curent-context: x", "curent-context: is not a known field"},
    {"clusters: {}", "clusters: must be a list"},
    {"users: [{user: {}}]", "users[0].name: is missing"},
    {"current-context: x", "context \"x\" is not defined"},
    {HEAD "contexts: [{name: x}]", "context \"x\": context: is missing"},
    {HEAD "contexts: [{name: x, context: {user: u}}]", "context \"x\": cluster: is missing"},
    {HEAD "contexts: [{name: x, context: {cluster: c, usr: u}}]",
     "context \"x\": usr: is not a known field"},
    {HEAD CONTEXT, "cluster \"c\" is not defined"},
    {HEAD CONTEXT CLUSTER, "user \"u\" is not defined"},
    {WITH(""), "cluster \"c\": server: is missing"},
    {WITH("server: 'ftp://a'"),
     "cluster \"c\": server: \"ftp://a\" must begin with https:// or http://"},
    {WITH("server: 'https://'"),
     "cluster \"c\": server: \"https://\" is not a URL of the form https://host:port"},
    {WITH("server: 'https://a b'"),
     "cluster \"c\": server: \"https://a b\" is not a URL of the form https://host:port"},
    {WITH("server: 'https://a', proxy-url: 'http://p'"),
     "cluster \"c\": proxy-url: is not supported"},
    {WITH("server: 'https://a', insecure-skip-tls-verify: 'yes'"),
     "cluster \"c\": insecure-skip-tls-verify: must be true or false, not a string"},
    {WITH("server: 'https://a', insecure-skip-tls-verify: true, "
          "certificate-authority-data: " PEM_B64),
     "cluster \"c\": insecure-skip-tls-verify: cannot be combined with a certificate authority"},
    {WITH("server: 'https://a', certificate-authority-data: '*'"),
     "cluster \"c\": certificate-authority-data: is not base64"},
    {WITH("server: 'https://a', certificate-authority-data: aGVsbG8="),
     "cluster \"c\": certificate-authority-data: holds no PEM block (-----BEGIN …)"},
    {WITH("server: 'https://a', certificate-authority: /nowhere/ca"),
     "cluster \"c\": certificate-authority: /nowhere/ca: No such file or directory"},
    {USER("auth-provider: {name: gcp}"), "user \"u\": auth-provider: is not supported"},
    {USER("as: somebody"), "user \"u\": as: is not supported"},
    {USER("tokenfile: x"), "user \"u\": tokenfile: is not a known field"},
    {USER("token: 12345"), "user \"u\": token: must be a string, not a number"},
    {USER("token: 'a b'"), "user \"u\": token: holds blanks or control characters"},
    {USER("tokenFile: /nowhere/t"), "user \"u\": tokenFile: /nowhere/t: No such file or directory"},
    {USER("client-certificate-data: " PEM_B64),
     "user \"u\": client-key: is missing beside the client certificate"},
    {USER("client-key-data: " PEM_B64),
     "user \"u\": client-certificate: is missing beside the client key"},
    {USER("password: p"), "user \"u\": username: is missing beside the password"},
    {USER("username: name, token: t"), "user \"u\": token and username cannot be combined"},
    {USER("token: t, exec: {command: c, " V1 "}"),
     "user \"u\": exec: cannot be combined with a token or a username"},
    {EXEC(V1), "user \"u\": exec: command: is missing"},
    {EXEC("command: c"), "user \"u\": exec: apiVersion: is missing"},
    {EXEC("command: c, apiVersion: client.authentication.k8s.io/v1alpha1"),
     "user \"u\": exec: apiVersion: \"client.authentication.k8s.io/v1alpha1\" is not supported "
     "(client.authentication.k8s.io/v1 and v1beta1 are)"},
    {EXEC("command: c, apiVersion: client.authentication.k8s.io/v1"),
     "user \"u\": exec: interactiveMode: is missing"},
    {EXEC("command: c, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always"),
     "user \"u\": exec: interactiveMode: Always is not supported, there is no terminal"},
    {EXEC("command: c, " V1 ", args: [1]"), "user \"u\": exec: args[0]: must be a string"},
    {EXEC("command: c, " V1 ", args: x"), "user \"u\": exec: args: must be a list"},
    {EXEC("command: c, " V1 ", env: [{name: 'a=b', value: c}]"),
     "user \"u\": exec: env[0].name: is missing or malformed"},
    {EXEC("command: c, " V1 ", path: x"), "user \"u\": exec: path: is not a known field"},
};

static void every_mistake_gives_one_line_with_file_and_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char error[512] = "", expected[768];
        struct kube_config *c = load(bad[i].text, error, sizeof(error));
        snprintf(expected, sizeof(expected), "%s/kc: %s", folder, bad[i].error);
        assert_null(c);
        assert_string_equal(error, expected);
    }
}

static void token_files_must_hold_a_token(void **state)
{
    (void)state;
    static const char *const names[] = {"empty", "blank"};
    static const char *const causes[] = {"the token file is empty",
                                         "the token holds blanks or control characters"};
    for (size_t i = 0; i < 2; i++) {
        char text[1024], error[512] = "", expected[768];
        snprintf(text, sizeof(text), USER("tokenFile: %s"), names[i]);
        assert_null(load(text, error, sizeof(error)));
        snprintf(expected, sizeof(expected), "%s/kc: user \"u\": tokenFile: %s/%s: %s", folder,
                 folder, names[i], causes[i]);
        assert_string_equal(error, expected);
    }
}

static void a_file_that_is_not_there_is_named(void **state)
{
    (void)state;
    char error[512];
    assert_null(kube_config_load("/nowhere/kc", NULL, error, sizeof(error)));
    assert_string_equal(error, "/nowhere/kc: No such file or directory");
    setenv("KUBECONFIG", "/nowhere/a:/nowhere/b", 1);
    assert_null(kube_config_load(NULL, NULL, error, sizeof(error)));
    assert_string_equal(error, "KUBECONFIG: none of the files in \"/nowhere/a:/nowhere/b\" exists");
    unsetenv("KUBECONFIG");
    assert_null(kube_config_load("", NULL, error, sizeof(error)));
    assert_string_equal(error, "no kubeconfig: give --kubeconfig or set KUBECONFIG (not in a "
                               "cluster either: KUBERNETES_SERVICE_HOST is not set, and there is "
                               "no ~/.kube/config)");
}

static void several_files_are_merged_first_one_wins(void **state)
{
    (void)state;
    char error[512] = "", list[600];
    write_file("kc", HEAD CONTEXT "clusters: [{name: c, cluster: {server: 'https://first'}}]\n");
    write_file(
        "kc2",
        "current-context: other\nclusters: [{name: c, cluster: {server: 'https://second'}}]\n"
        "users: [{name: u, user: {token: t}}]\n");
    snprintf(list, sizeof(list), "%s/nothing:%s/kc:%s/kc2", folder, folder, folder);
    setenv("KUBECONFIG", list, 1);
    struct kube_config *c = kube_config_load(NULL, NULL, error, sizeof(error));
    unsetenv("KUBECONFIG");
    assert_string_equal(error, "");
    assert_string_equal(c->server, "https://first");
    assert_string_equal(c->token, "t");
    kube_config_free(&c);
}

static void master_overrides_the_server(void **state)
{
    (void)state;
    char error[512] = "", path[256];
    write_file("kc", USER("token: t"));
    snprintf(path, sizeof(path), "%s/kc", folder);
    struct kube_config *c = kube_config_load(path, "https://other:2/", error, sizeof(error));
    assert_non_null(c);
    assert_string_equal(c->server, "https://other:2");
    assert_string_equal(c->token, "t");
    kube_config_free(&c);
    c = kube_config_load(NULL, "http://127.0.0.1:8080", error, sizeof(error));
    assert_non_null(c);
    kube_config_free(&c);
    assert_null(kube_config_load(NULL, "127.0.0.1:8080", error, sizeof(error)));
    assert_string_equal(error, "--master: \"127.0.0.1:8080\" must begin with https:// or http://");
}

static void inside_a_cluster_the_service_account_is_used(void **state)
{
    (void)state;
    char error[512] = "", path[256];
    setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    setenv("BERTH_SERVICE_ACCOUNT_DIR", folder, 1);
    struct kube_config *c = kube_config_load(NULL, NULL, error, sizeof(error));
    assert_non_null(c);
    assert_string_equal(c->server, "https://[fd00::1]:443");
    snprintf(path, sizeof(path), "%s/token", folder);
    assert_string_equal(c->token_file, path);
    kube_config_free(&c);
    setenv("BERTH_SERVICE_ACCOUNT_DIR", "/nowhere", 1);
    assert_null(kube_config_load(NULL, NULL, error, sizeof(error)));
    assert_string_equal(error, "/nowhere/token: No such file or directory");
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("BERTH_SERVICE_ACCOUNT_DIR");
}

static void the_home_folder_comes_last(void **state)
{
    (void)state;
    char error[512] = "", path[256];
    snprintf(path, sizeof(path), "%s/.kube", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(".kube/config", USER("token: home"));
    struct kube_config *c = kube_config_load(NULL, NULL, error, sizeof(error));
    assert_non_null(c);
    assert_string_equal(c->token, "home");
    kube_config_free(&c);
}

static void base64_goes_both_ways(void **state)
{
    (void)state;
    static const char *const plain[] = {"", "f", "fo", "foo", "foob", "fooba", "foobar"};
    static const char *const coded[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                        "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t i = 0; i < 7; i++) {
        struct buffer out = {0}, back = {0};
        base64_encode(str_of(plain[i]), &out);
        assert_true(str_is(buffer_str(&out), coded[i]));
        assert_true(base64_decode(buffer_str(&out), &back));
        assert_true(str_is(buffer_str(&back), plain[i]));
        buffer_free(&out);
        buffer_free(&back);
    }
    static const char *const wrong[] = {"Z", "Zg=", "Z===", "Zg==Zg==", "Zm9v!", "Zm9vY", "=Zg="};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct buffer out = {0};
        assert_false(base64_decode(str_of(wrong[i]), &out));
        buffer_free(&out);
    }
    struct buffer out = {0};
    assert_true(base64_decode(STR_LITERAL("Zm9v\r\n Yg=="), &out));
    assert_true(str_is(buffer_str(&out), "foob"));
    buffer_free(&out);
}

#define ANSWER(status)                                                                             \
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"                  \
    "v1\",\"status\":" status "}"

static const struct {
    const char *text, *error;
} answers[] = {
    {"hello", "exec plugin get: its output is not JSON: line 1, column 1: malformed JSON at "
              "\"hello\""},
    {"{\"kind\":\"Pod\"}", "exec plugin get: its output is not an ExecCredential"},
    {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"v9\"}",
     "exec plugin get: answers with apiVersion \"v9\" instead of client.authentication.k8s.io/v1"},
    {ANSWER("null"), "exec plugin get: status: is missing in its ExecCredential"},
    {ANSWER("{}"), "exec plugin get: status: holds neither token nor clientCertificateData"},
    {ANSWER("{\"clientCertificateData\":\"x\"}"),
     "exec plugin get: status: clientCertificateData and clientKeyData go together"},
    {ANSWER("{\"token\":\"a\\nb\"}"),
     "exec plugin get: status.token: holds blanks or control characters"},
    {ANSWER("{\"token\":\"t\",\"expirationTimestamp\":\"soon\"}"),
     "exec plugin get: status.expirationTimestamp: is not an RFC 3339 time"},
};

static void answers_of_plugins_are_checked(void **state)
{
    (void)state;
    struct kube_exec exec = {.command = (char *)"get",
                             .api_version = (char *)"client.authentication.k8s.io/v1"};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct kube_credential got = {0};
        struct buffer error = {0};
        assert_false(exec_read_answer(&exec, str_of(answers[i].text), &got, &error));
        assert_string_equal(error.at, answers[i].error);
        buffer_free(&error);
        kube_credential_free(&got);
    }
    struct kube_credential got = {0};
    struct buffer error = {0};
    const char *good = ANSWER("{\"token\":\"t\",\"expirationTimestamp\":\"1970-01-01T00:00:02Z\"}");
    assert_true(exec_read_answer(&exec, str_of(good), &got, &error));
    assert_string_equal(got.token, "t");
    assert_int_equal(got.expires_us, 2000000);
    kube_credential_free(&got);
    buffer_free(&error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_known_is_read),
        cmocka_unit_test(json_is_read_too),
        cmocka_unit_test(an_exec_plugin_is_read),
        cmocka_unit_test(every_mistake_gives_one_line_with_file_and_field),
        cmocka_unit_test(token_files_must_hold_a_token),
        cmocka_unit_test(a_file_that_is_not_there_is_named),
        cmocka_unit_test(several_files_are_merged_first_one_wins),
        cmocka_unit_test(master_overrides_the_server),
        cmocka_unit_test(inside_a_cluster_the_service_account_is_used),
        cmocka_unit_test(the_home_folder_comes_last),
        cmocka_unit_test(base64_goes_both_ways),
        cmocka_unit_test(answers_of_plugins_are_checked),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
