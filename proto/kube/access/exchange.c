/* request: sets up one curl handle and turns what curl says into a kube_response.
 *
 * The one idea: doubt is kept. When bytes of a write went out and no answer came, maybe_done is
 * set, and curl's own silent retries of writes are refused for the same reason. What must stay
 * true: every error names the server, and certificate errors name what it was checked with. */
#include "proto/kube/access/exchange.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/access/http2.h"
#include "proto/kube/access/measure.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

#define CONNECT_TIMEOUT_MS 10000L
#define CONNECTION_AGE_S   90L /* idle connections older than this are not used again */
#define READ_BUFFER        (256L << 10)
#define READ_AHEAD         (64u << 10)

/* ---- where to ---- */

static bool is_loopback(struct str host)
{
    return str_is(host, "localhost") || str_starts_with(host, "127.") || str_is(host, "[::1]");
}

/* Splits https://host:port/prefix; port is empty when not written. */
static void split(const char *server, struct str *scheme, struct str *host, struct str *port)
{
    const char *at = strstr(server, "://");
    *scheme = (struct str){server, (uint32_t)(at - server)};
    at += 3;
    size_t len = strcspn(at, "/");
    const char *colon = NULL;
    for (size_t i = len; i > 0 && at[i - 1] != ']'; i--)
        if (at[i - 1] == ':') {
            colon = at + i - 1;
            break;
        }
    *host = (struct str){at, (uint32_t)(colon ? (size_t)(colon - at) : len)};
    *port = (struct str){colon ? colon + 1 : at + len, 0};
    if (colon != NULL)
        port->len = (uint32_t)(at + len - colon - 1);
}

void target_init(struct target *e, const struct kube_config *config)
{
    struct str scheme, host, port;
    split(config->server, &scheme, &host, &port);
    const char *rest = port.at + port.len; /* the prefix, or nothing */
    e->config = config;
    e->loopback = is_loopback(host);
    if (config->server_name == NULL) {
        e->base = str_copy(str_of(config->server));
        return;
    }
    /* The name to check goes into the URL, the real address into connect-to. */
    if (port.len == 0)
        port = str_is(scheme, "https") ? STR_LITERAL("443") : STR_LITERAL("80");
    struct buffer url = {0}, to = {0}, header = {0};
    buffer_print(&url, "%.*s://%s:%.*s%s", STR_ARG(scheme), config->server_name, STR_ARG(port),
                 rest);
    buffer_print(&to, "%s:%.*s:%.*s:%.*s", config->server_name, STR_ARG(port), STR_ARG(host),
                 STR_ARG(port));
    buffer_print(&header, "Host: %.*s:%.*s", STR_ARG(host), STR_ARG(port));
    e->base = url.at;
    e->host_header = header.at;
    e->connect_to = curl_slist_append(NULL, to.at);
    buffer_free(&to);
}

void target_free(struct target *e)
{
    memory_free(e->user_agent);
    memory_free(e->base);
    memory_free(e->host_header);
    curl_slist_free_all(e->connect_to);
}

/* ---- life ---- */

struct exchange *exchange_new(const struct kube_request *from, const struct target *target)
{
    struct exchange *r = memory_take(sizeof(*r));
    r->target = target;
    r->method = from->method;
    r->unread = from->unread;
    r->accept = from->accept != NULL ? from->accept : "application/json";
    r->channel = from->channel;
    r->path = str_copy(from->path);
    r->content_type = from->content_type ? str_copy(str_of(from->content_type)) : NULL;
    buffer_add_str(&r->body, from->body);
    r->timeout = from->timeout;
    r->idle_timeout = from->idle_timeout;
    r->context = from->context;
    r->data = from->data;
    r->done = from->done;
    r->deadline = MOMENT_NEVER;
    return r;
}

void exchange_free(struct exchange **request)
{
    struct exchange *r = *request;
    if (r == NULL)
        return;
    must(r->pool == NULL);
    memory_free(r->path);
    buffer_free(&r->whole_path);
    memory_free(r->content_type);
    buffer_free(&r->body);
    buffer_free(&r->answer);
    buffer_free(&r->error);
    memory_free(r);
    *request = NULL;
}

/* ---- what curl calls ---- */

static void hear(struct exchange *r)
{
    r->heard = r->pool->pools->now;
    r->pool->heard = r->heard;
}

static bool is_good(const struct exchange *r)
{
    return r->status >= 200 && r->status < 300;
}

static bool is_stream(const struct exchange *r)
{
    return r->data != NULL && is_good(r);
}

void exchange_opened(struct exchange *r)
{
    hear(r);
    if (is_stream(r) && !r->cancelled) {
        measure_opened(r);
        r->data(r->context, (struct str){"", 0});
    }
}

bool exchange_take(struct exchange *r, struct str piece)
{
    hear(r);
    if (r->cancelled)
        return false;
    r->received += piece.len;
    if (is_stream(r)) {
        r->data(r->context, piece);
        return !r->cancelled;
    }
    if (r->unread && is_good(r))
        return true;
    r->too_long = piece.len > EXCHANGE_BODY_MAX - r->answer.len;
    if (!r->too_long)
        buffer_add_str(&r->answer, piece);
    return !r->too_long;
}

static size_t on_header(char *at, size_t size, size_t count, void *context)
{
    struct exchange *r = context;
    hear(r);
    if (r->pool->protocol <= PROTOCOL_failed) {
        long version = 0;
        curl_easy_getinfo(r->easy, CURLINFO_HTTP_VERSION, &version);
        r->pool->protocol = version == CURL_HTTP_VERSION_2_0 ? PROTOCOL_http2 : PROTOCOL_http1;
    }
    bool last = size * count == 2 && memcmp(at, "\r\n", 2) == 0;
    curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &r->status);
    if (last)
        exchange_opened(r);
    return size * count;
}

static size_t on_body(char *at, size_t size, size_t count, void *context)
{
    size_t len = size * count;
    return exchange_take(context, (struct str){at, (uint32_t)len}) ? len : CURL_WRITEFUNC_ERROR;
}

/* Just before a request is sent. curl sends again by itself when a connection that it reused breaks
 * before an answer; the server may have carried out the first one, so for writes we decide. */
static int on_send(void *context, char *to_ip, char *from_ip, int to_port, int from_port)
{
    (void)to_ip, (void)from_ip, (void)to_port, (void)from_port;
    struct exchange *r = context;
    r->attempts++;
    return r->attempts > 1 && r->method != KUBE_GET ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* ---- setting up ---- */

static void add_header(struct exchange *r, const char *name, const char *value)
{
    struct buffer line = {0};
    buffer_print(&line, "%s%s", name, value);
    r->headers = curl_slist_append(r->headers, line.at);
    must(r->headers != NULL);
    buffer_free(&line);
}

static void set_headers(struct exchange *r)
{
    const struct target *e = r->target;
    const char *token = credentials_token(e->credentials);
    add_header(r, "Accept: ", r->accept);
    if (r->content_type != NULL)
        add_header(r, "Content-Type: ", r->content_type);
    if (token != NULL)
        add_header(r, "Authorization: Bearer ", token);
    if (e->host_header != NULL)
        r->headers = curl_slist_append(r->headers, e->host_header);
    r->headers = curl_slist_append(r->headers, "Expect:"); /* no 100-continue round trip */
    curl_easy_setopt(r->easy, CURLOPT_HTTPHEADER, r->headers);
    if (token == NULL && e->config->username != NULL) {
        curl_easy_setopt(r->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(r->easy, CURLOPT_USERNAME, e->config->username);
        curl_easy_setopt(r->easy, CURLOPT_PASSWORD, e->config->password ? e->config->password : "");
    }
}

static void set_blob(CURL *easy, CURLoption option, struct str bytes)
{
    /* curl copies it, but wants a pointer to what it may change. */
    union {
        const char *from;
        void *to;
    } data = {.from = bytes.at};
    struct curl_blob blob = {data.to, bytes.len, CURL_BLOB_COPY};
    curl_easy_setopt(easy, option, &blob);
}

static void set_tls(struct exchange *r)
{
    const struct kube_config *c = r->target->config;
    struct str cert, key;
    curl_easy_setopt(r->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(r->easy, CURLOPT_SSL_VERIFYPEER, c->insecure ? 0L : 1L);
    curl_easy_setopt(r->easy, CURLOPT_SSL_VERIFYHOST, c->insecure ? 0L : 2L);
    curl_easy_setopt(r->easy, CURLOPT_CA_CACHE_TIMEOUT, 60L); /* a rotated file is seen */
    if (c->ca.len > 0)
        set_blob(r->easy, CURLOPT_CAINFO_BLOB, buffer_str(&c->ca));
    else if (c->ca_file != NULL)
        curl_easy_setopt(r->easy, CURLOPT_CAINFO, c->ca_file);
    if (credentials_certificate(r->target->credentials, &cert, &key)) {
        set_blob(r->easy, CURLOPT_SSLCERT_BLOB, cert);
        set_blob(r->easy, CURLOPT_SSLKEY_BLOB, key);
        return;
    }
    if (c->cert.len > 0)
        set_blob(r->easy, CURLOPT_SSLCERT_BLOB, buffer_str(&c->cert));
    else if (c->cert_file != NULL)
        curl_easy_setopt(r->easy, CURLOPT_SSLCERT, c->cert_file);
    if (c->key.len > 0)
        set_blob(r->easy, CURLOPT_SSLKEY_BLOB, buffer_str(&c->key));
    else if (c->key_file != NULL)
        curl_easy_setopt(r->easy, CURLOPT_SSLKEY, c->key_file);
}

static void set_transport(struct exchange *r)
{
    const struct target *e = r->target;
    curl_easy_setopt(r->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(r->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(r->easy, CURLOPT_PIPEWAIT, 1L); /* rather share a connection than open one */
    curl_easy_setopt(r->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(r->easy, CURLOPT_QUICK_EXIT, 1L); /* giving up on a slow resolver: no join */
    curl_easy_setopt(r->easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(r->easy, CURLOPT_SOCKOPTFUNCTION, pools_socket_options);
    curl_easy_setopt(r->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
    curl_easy_setopt(r->easy, CURLOPT_MAXAGE_CONN, CONNECTION_AGE_S);
    curl_easy_setopt(r->easy, CURLOPT_BUFFERSIZE, READ_BUFFER);
    curl_easy_setopt(r->easy, CURLOPT_TIMEOUT_MS, (long)span_ms(r->timeout));
    if (e->connect_to != NULL)
        curl_easy_setopt(r->easy, CURLOPT_CONNECT_TO, e->connect_to);
    if (e->loopback)
        curl_easy_setopt(r->easy, CURLOPT_PROXY, "");
}

static void set_method(struct exchange *r)
{
    if (r->method == KUBE_GET) {
        curl_easy_setopt(r->easy, CURLOPT_HTTPGET, 1L);
        return;
    }
    if (r->method != KUBE_DELETE || r->body.len > 0) {
        curl_easy_setopt(r->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
        curl_easy_setopt(r->easy, CURLOPT_POSTFIELDS, r->body.at ? r->body.at : "");
    }
    curl_easy_setopt(r->easy, CURLOPT_CUSTOMREQUEST, kube_method_name(r->method));
}

static void set_url(struct exchange *r, const char *path)
{
    struct buffer url = {0};
    buffer_print(&url, "%s%s", r->target->base, path);
    curl_easy_setopt(r->easy, CURLOPT_URL, url.at);
    buffer_free(&url);
}

static void start_with_curl(struct exchange *r)
{
    r->easy = curl_easy_init();
    must(r->easy != NULL);
    set_url(r, r->path);
    curl_easy_setopt(r->easy, CURLOPT_PRIVATE, r);
    curl_easy_setopt(r->easy, CURLOPT_ERRORBUFFER, r->curl_error);
    curl_easy_setopt(r->easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(r->easy, CURLOPT_WRITEDATA, r);
    curl_easy_setopt(r->easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(r->easy, CURLOPT_HEADERDATA, r);
    curl_easy_setopt(r->easy, CURLOPT_PREREQFUNCTION, on_send);
    curl_easy_setopt(r->easy, CURLOPT_PREREQDATA, r);
    curl_easy_setopt(r->easy, CURLOPT_USERAGENT, r->target->user_agent);
    set_transport(r);
    set_method(r);
    set_headers(r);
    set_tls(r);
    must(curl_multi_add_handle(r->pool->multi, r->easy) == CURLM_OK);
    r->pool->with_curl++;
}

void exchange_start(struct exchange *r, struct pool *pool)
{
    must(r->pool == NULL && !pool->retired);
    r->pool = pool;
    r->sent = r->heard = pool->pools->now;
    r->credentials = credentials_generation(r->target->credentials);
    r->status = 0;
    r->attempts = 0;
    r->curl_error[0] = 0;
    r->left = r->ended = r->fetched = false;
    r->body_at = 0;
    r->retry_after_s = -1;
    r->received = 0;
    buffer_reset(&r->answer);
    r->fast = pool->fast != NULL &&
              http2_state(pool->fast, r->credentials, pool->pools->now) == HTTP2_ready;
    r->deadline = r->fast && r->timeout.ns > 0 ? moment_after(r->sent, r->timeout) : MOMENT_NEVER;
    pool->active++;
    if (r->fast)
        http2_start(pool->fast, r);
    else
        start_with_curl(r);
}

/* Told of HTTP/2, curl would speak it itself as soon as it is connected. */
static CURLcode offer_http2(CURL *easy, void *context, void *unused)
{
    (void)easy, (void)unused;
    /* One read for all that is there, not two for each of many small records. */
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, READ_AHEAD);
    int failed = SSL_CTX_set_alpn_protos(context, (const unsigned char *)"\x02h2", 3);
    return failed ? CURLE_SSL_CONNECT_ERROR : CURLE_OK;
}

void exchange_connect(struct exchange *r, struct pool *pool)
{
    r->pool = pool;
    r->easy = curl_easy_init();
    must(r->easy != NULL);
    set_url(r, "/");
    curl_easy_setopt(r->easy, CURLOPT_ERRORBUFFER, r->curl_error);
    curl_easy_setopt(r->easy, CURLOPT_CONNECT_ONLY, 1L);
    set_transport(r);
    set_tls(r);
    curl_easy_setopt(r->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(r->easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
    curl_easy_setopt(r->easy, CURLOPT_SSL_CTX_FUNCTION, offer_http2);
    must(curl_multi_add_handle(pool->multi, r->easy) == CURLM_OK);
    pool->with_curl++;
}

void exchange_stop(struct exchange *r)
{
    must(r->pool != NULL);
    if (r->fast) {
        http2_stop(r->pool->fast, r);
    } else {
        curl_multi_remove_handle(r->pool->multi, r->easy);
        curl_easy_cleanup(r->easy);
        curl_slist_free_all(r->headers);
        r->pool->with_curl--;
    }
    r->pool->active--;
    r->easy = NULL;
    r->headers = NULL;
    r->pool = NULL;
    r->fast = false;
    r->deadline = MOMENT_NEVER;
}

/* ---- what became of it ---- */

static void say_authority(const struct kube_config *c, struct buffer *out)
{
    if (c->ca.len > 0)
        buffer_print(out, "certificate-authority-data of cluster \"%s\" in %s", c->cluster,
                     c->source);
    else if (c->ca_file != NULL)
        buffer_print(out, "certificate authority %s", c->ca_file);
    else
        buffer_add_text(out, "the system's certificate authorities");
}

static void say_certificate(const struct kube_config *c, struct buffer *out)
{
    if (c->exec != NULL)
        buffer_print(out, "client certificate of exec plugin %s", c->exec->command);
    else if (c->cert_file != NULL)
        buffer_print(out, "client certificate %s", c->cert_file);
    else
        buffer_print(out, "client-certificate-data of user \"%s\" in %s", c->user ? c->user : "",
                     c->source);
}

static void say_error(struct exchange *r, CURLcode code)
{
    const struct kube_config *c = r->target->config;
    const char *cause = r->curl_error[0] ? r->curl_error : curl_easy_strerror(code);
    buffer_reset(&r->error);
    buffer_print(&r->error, "%s: ", c->server);
    if (r->idle_expired) {
        buffer_print(&r->error, "no byte for %.3g s", (double)span_ms(r->idle_timeout) / 1000);
    } else if (r->too_long) {
        buffer_print(&r->error, "the answer is longer than %zu MiB", EXCHANGE_BODY_MAX >> 20);
    } else if (code == CURLE_ABORTED_BY_CALLBACK) {
        buffer_add_text(&r->error, "the connection broke before the answer");
    } else if (code == CURLE_PEER_FAILED_VERIFICATION) {
        buffer_add_text(&r->error, "the server's certificate is refused by ");
        say_authority(c, &r->error);
        buffer_print(&r->error, ": %s", cause);
    } else if (code == CURLE_SSL_CACERT_BADFILE) {
        say_authority(c, &r->error);
        buffer_print(&r->error, " cannot be used: %s", cause);
    } else if (code == CURLE_SSL_CERTPROBLEM) {
        say_certificate(c, &r->error);
        buffer_print(&r->error, " cannot be used: %s", cause);
    } else {
        buffer_add_text(&r->error, cause);
    }
}

/* True when at least a byte of the request may have reached the server. */
static bool may_have_left(struct exchange *r)
{
    long sent = 0;
    if (r->fast)
        return r->left;
    curl_easy_getinfo(r->easy, CURLINFO_REQUEST_SIZE, &sent);
    return r->attempts > 1 || (r->attempts == 1 && sent > 0);
}

struct kube_response exchange_response(struct exchange *r, CURLcode code, struct moment now)
{
    struct kube_response response = {.error = "", .retry_after_s = -1};
    response.took = moment_since(now, r->sent);
    long status = r->status;
    curl_off_t after = r->retry_after_s;
    if (!r->fast) {
        curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(r->easy, CURLINFO_RETRY_AFTER, &after);
    }
    if (after > 0)
        response.retry_after_s = after > INT32_MAX ? INT32_MAX : (int)after;
    if (code == CURLE_OK) {
        response.status = (int)status;
        response.body = buffer_str(&r->answer);
        response.maybe_done = status == 504;
        return response;
    }
    say_error(r, code);
    response.error = r->error.at;
    response.status = r->data != NULL ? (int)status : 0;
    response.maybe_done = may_have_left(r);
    return response;
}
