/*
 * A configuration of proxies with the k-th allocation failing, for every k: this program brings its
 * own allocator. What loads is whole, the rest is refused with a word, and nothing is lost.
 */
#include <stdlib.h>
#include <string.h>

static unsigned int calls, fail_at, armed;
static long live; /* allocations that were not freed yet */

#define WORLD_BEGINS() (calls = 0, armed = 1)
#define WORLD_ENDS() (armed = 0)
#include "unit/proxy/proxies_rig.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "proxy/config/server_add.h"
#include "proxy/sample/route.h"

static int
refuses(void)
{
	return armed && ++calls == fail_at;
}

static void *
counted(void *p)
{
	live += p != NULL;
	return p;
}

void *
mem_alloc(size_t size)
{
	return refuses() ? NULL : counted(malloc(size ? size : 1));
}

void *
mem_zalloc(size_t size)
{
	return refuses() ? NULL : counted(calloc(1, size ? size : 1));
}

void *
mem_alloc_aligned(size_t align, size_t size)
{
	return refuses() ? NULL : counted(aligned_alloc(align, size));
}

void *
mem_zalloc_aligned(size_t align, size_t size)
{
	void *p = mem_alloc_aligned(align, size);

	return p ? memset(p, 0, size) : NULL;
}

void *
mem_resize(void *p, size_t n, size_t size)
{
	if (refuses())
		return NULL;
	return p ? reallocarray(p, n ? n : 1, size) : counted(reallocarray(p, n ? n : 1, size));
}

char *
mem_strndup(const char *s, size_t n)
{
	return refuses() ? NULL : counted(strndup(s, n));
}

char *
mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

void
mem_free(void *p)
{
	live -= p != NULL;
	free(p);
}

static const char text[] =
	"defaults d\n timeout client 1s\n timeout connect 2s\n timeout server 3s\n"
	" default_backend b\n default-server weight 5\n log 127.0.0.1:514 local0\n"
	"frontend f from d\n bind :80-82,/x name web\n bind :90 id 7\n use_backend c\n"
	" description what it is for\n"
	"backend b from d\n balance random(3)\n source 10.0.0.1\n"
	" server one 10.0.0.1:80 source 10.0.0.2:1000-2000\n server two 10.0.0.2:80 backup\n"
	"backend c from d\n balance source\n server one 10.0.0.1:80\n server two 10.0.0.2:80 "
	"id 9\n"
	"defaults e\n timeout client 1s\n timeout connect 2s\n timeout server 3s\n"
	"listen l from e\n bind abns@x\n server one 10.0.0.1:80\n";

/* Keywords of proxies, and sections that they name. */
static const char rich_text[] = WORLD_DEFAULTS
	"userlist u\n"
	" group admins users anna,bert\n"
	" user anna insecure-password one\n"
	" user bert insecure-password two groups admins\n"
	"cache store\n"
	" total-max-size 4\n"
	" max-age 60\n"
	" process-vary on\n"
	"resolvers dns\n"
	" nameserver one 192.0.2.1:53\n"
	" nameserver two tcp@192.0.2.2:53\n"
	" hold valid 3s\n"
	" resolve_retries 2\n"
	"peers group\n"
	" bind 127.0.0.1:1024\n"
	" server local\n"
	" server other 192.0.2.9:1024\n"
	" table t type ip size 1k store gpc0,http_req_rate(10s),bytes_in_rate(1s)\n"
	"http-errors pages\n"
	" errorfile 503 /dev/null\n"
	"frontend web\n"
	" mode http\n"
	" bind :8080 name a\n"
	" id 7\n"
	" unique-id-format %[rand]-%ci\n"
	" unique-id-header x-id\n"
	" log 127.0.0.1:514 len 2000 format rfc5424 local0 info\n"
	" log 127.0.0.1:515 sample 1,3:4 local1\n"
	" log-format \"%ci %[capture.req.hdr(0)] %{+Q}r\"\n"
	" capture request header host len 20\n"
	" capture response header server len 10\n"
	" capture cookie SESSION len 10\n"
	" option forwardfor except 10.0.0.0/8 header x-client\n"
	" option originalto\n"
	" compression algo gzip deflate\n"
	" compression type text/html text/plain\n"
	" compression direction both\n"
	" errorfile 403 /dev/null\n"
	" errorloc302 502 http://192.0.2.1/sorry\n"
	" http-error status 404 content-type text/plain string gone\n"
	" errorfiles pages\n"
	" monitor-uri /alive\n"
	" monitor fail if { nbsrv(b) eq 0 }\n"
	" stats uri /stats\n"
	" stats auth anna:one\n"
	" stats realm two\\ words\n"
	" stats admin if { src 127.0.0.1 }\n"
	" acl local src 10.0.0.0/8 192.168.0.0/16\n"
	" acl words path_reg ^/[a-z]+$\n"
	" acl names hdr(host) -i a.example b.example\n"
	" filter bwlim-out down default-limit 1m default-period 1s\n"
	" filter bwlim-in up limit 1m key src table group/t\n"
	" filter cache store\n"
	" filter compression\n"
	" tcp-request connection reject if local\n"
	" tcp-request connection track-sc0 src table group/t\n"
	" tcp-request session track-sc2 src table group/t\n"
	" tcp-request session set-var(sess.a) src,ipmask(8)\n"
	" tcp-request content set-var(txn.c) req.payload(0,4)\n"
	" tcp-request inspect-delay 5s\n"
	" tcp-request content accept if { req.len gt 0 }\n"
	" http-request set-header x-a \"%[src,ipmask(24)] %[path,lower]\"\n"
	" http-request set-var(txn.a) hdr(host),field(1,.),upper\n"
	" http-request set-var-fmt(txn.b) \"%ci-%[rand(10)]\"\n"
	" http-request replace-header host (.*)\\.example \\1.test\n"
	" http-request replace-path /old/(.*) /new/\\1 if words\n"
	" http-request redirect location https://%[hdr(host)]%[path] code 301 if names\n"
	" http-request return status 200 content-type text/plain lf-string \"%[path]\" hdr "
	"x-b \"%[src]\" if local\n"
	" http-request deny deny_status 429 if { sc_http_req_rate(0) gt 10 }\n"
	" http-request auth realm a\\ b if !{ http_auth(u) }\n"
	" http-request capture req.hdr(x) len 10\n"
	" http-request wait-for-body time 1s at-least 10\n"
	" http-request do-resolve(txn.ip,dns,ipv4) hdr(host),lower\n"
	" http-request set-dst var(txn.ip) if { var(txn.ip) -m found }\n"
	" http-request set-src hdr_ip(x-forwarded-for)\n"
	" http-request set-query %[query,regsub(a,b,g)]\n"
	" http-request track-sc1 hdr(x-key),concat(-,txn.a,-) table group/t\n"
	" http-request sc-inc-gpc0(1) if { url_param(a) -m beg x y z }\n"
	" http-request sc-set-gpt0(1) int(3) if FALSE\n"
	" http-request set-priority-class int(2)\n"
	" http-request return status 503 errorfiles pages if { path /gone }\n"
	" http-request return status 200 content-type \"text/plain\" file /dev/null if { "
	"path /file }\n"
	" http-request add-header x-json %[src,json(utf8),base64]\n"
	" http-request del-header x- -m beg\n"
	" http-request early-hint link \"%[var(txn.a)]; rel=preload\"\n"
	" http-request unset-var(txn.b)\n"
	" http-request silent-drop if { src -n 192.0.2.66 192.0.2.67 }\n"
	" http-request tarpit deny_status 400 if { hdr_cnt(host) gt 1 }\n"
	" http-request reject if { hdr(a),length gt 20 } { hdr(b) -m len 3 }\n"
	" http-response deny deny_status 502 if { status 500:599 }\n"
	" http-response return status 200 content-type text/plain string ok if { res.hdr(x) "
	"-m sub a b }\n"
	" http-response redirect location /x code 302 drop-query if { res.cook(a) -m found }\n"
	" http-response replace-value set-cookie (.*) \"\\1; Secure\"\n"
	" http-response sc-inc-gpc(0,1)\n"
	" http-after-response strict-mode on\n"
	" http-request cache-use store\n"
	" http-response cache-store store\n"
	" http-response set-header x-c \"%[status]\"\n"
	" http-response set-bandwidth-limit down limit 1000\n"
	" http-after-response set-header x-d \"e f\"\n"
	" use_backend %[hdr(host),lower] if names\n"
	" use_backend b if local\n"
	" use_backend tcp2 if { req.ver 1.0 } || { method PUT } !local\n"
	" default_backend b\n"
	"backend b\n"
	" mode http\n"
	" option httpchk\n"
	" balance hdr(x-user)\n"
	" hash-type consistent djb2 avalanche\n"
	" cookie SRV insert indirect nocache maxidle 30m attr SameSite=None\n"
	" dynamic-cookie-key secret\n"
	" stick-table type string len 32 size 1k expire 1m peers group store "
	"gpc(2),http_req_rate(10s),server_key\n"
	" stick on hdr(x-user)\n"
	" stick store-response res.cook(a)\n"
	" http-check connect port 81\n"
	" http-check send meth GET uri /health hdr host a.example body ok\n"
	" http-check expect status 200-299\n"
	" http-check set-var(check.a) str(b)\n"
	" http-check comment two\n"
	" http-check expect rstring ^ok error-status L7STS on-error \"%[status]\"\n"
	" server-template t 3 name.example:80 resolvers dns init-addr none check\n"
	" server one 192.0.2.1:80 cookie a weight 10 maxconn 20 check inter 1s fall 2 "
	"send-proxy-v2 proxy-v2-options unique-id\n"
	" server two 192.0.2.2:80 cookie b backup track one\n"
	" server three 192.0.2.3:80 set-proxy-v2-tlv-fmt(0xe1) %[src] send-proxy-v2 socks4 "
	"192.0.2.4:1080\n"
	" use-server one if { path /one }\n"
	" force-persist if { src 127.0.0.1 }\n"
	" http-reuse always\n"
	" retry-on 503 conn-failure\n"
	"listen admin\n"
	" mode http\n"
	" bind :8081\n"
	" stats uri /stats\n"
	" stats http-request allow if { src 192.0.2.0/24 }\n"
	"backend tcp\n"
	" mode tcp\n"
	" option tcp-check\n"
	" tcp-check connect linger\n"
	" tcp-check send-binary 0102\n"
	" tcp-check send-lf \"a %[str(b)]\"\n"
	" tcp-check expect binary 0304 on-success \"%[rand]\"\n"
	" tcp-check expect string ok\n"
	" server one 192.0.2.1:80 check agent-check agent-port 99 agent-send \"x y\"\n"
	"backend tcp2\n"
	" mode http\n"
	" balance uri whole depth 3\n"
	" option smtpchk EHLO example.test\n"
	" http-send-name-header x-server\n"
	" fullconn 100\n"
	" server one 192.0.2.1:80 check addr 192.0.2.9 port 25 on-marked-down "
	"shutdown-sessions on-error mark-down observe layer7 error-limit 3\n"
	" server two 192.0.2.2:80 source 192.0.2.8 slowstart 5s disabled\n"
	"backend db\n"
	" mode tcp\n"
	" option mysql-check user anna post-41\n"
	" stick match src table group/t\n"
	" stick store-request src\n"
	" stick-table type ip size 100 store server_id\n"
	" persist rdp-cookie(mstshash)\n"
	" tcp-response inspect-delay 1s\n"
	" tcp-response content reject if { res.len gt 5 }\n"
	" server one 192.0.2.1:3306 check weight 0\n"
	"backend pg\n"
	" mode tcp\n"
	" option pgsql-check user anna\n"
	" balance rdp-cookie(mstshash)\n"
	" server one 192.0.2.1:5432 check\n"
	"backend ldap\n"
	" mode tcp\n"
	" option ldap-check\n"
	" balance leastconn\n"
	" server one 192.0.2.1:389 check inter 2s fastinter 1s downinter 3s\n"
	"backend redis\n"
	" mode tcp\n"
	" option redis-check\n"
	" log-tag red\n"
	" server one 192.0.2.1:6379 check\n"
	"backend spop\n"
	" mode tcp\n"
	" option spop-check\n"
	" server one 192.0.2.1:12345 check\n";

static void
describe_proxy(const struct proxy *p, struct sbuf *out)
{
	sbuf_addf(out, "%s %d [%s] [%s] %s:", p->name, p->id, p->description ? p->description : "",
		p->default_be_name ? p->default_be_name : "",
		p->default_be ? p->default_be->name : "-");
	list_each(it, &p->binds) {
		const struct bind_conf *b = list_entry(it, const struct bind_conf, link);

		sbuf_addf(out, " (%s %u)", b->name ? b->name : "", b->n_listeners);
	}
	list_each(it, &p->use_backends)
		sbuf_addf(out, " use %s", list_entry(it, const struct use_backend, link)->name);
	list_each(it, &p->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		sbuf_addf(out, " %s/%d/%d/%u", s->name, s->id, s->conf.weight,
			s->conf.source.port_hi);
	}
	list_each(it, &p->logs) {
		sbuf_adds(out, " log");
	}
	sbuf_addf(out, " %u of %u\n", p->lb.n, p->n_servers);
}

static void
describe(const struct world *w, struct sbuf *out)
{
	sbuf_reset(out);
	list_each(it, &w->proxies.all) describe_proxy(list_entry(it, struct proxy, link), out);
	assert_false(out->failed);
}

static void
test_torture(void **state)
{
	static char whole_text[4096], now_text[4096];
	struct sbuf whole, now;
	struct world w;
	unsigned int total, refused = 0;

	(void)state;
	sbuf_init_fixed(&whole, whole_text, sizeof(whole_text));
	sbuf_init_fixed(&now, now_text, sizeof(now_text));
	fail_at = 0;
	world_good(&w, text);
	total = calls;
	describe(&w, &whole);
	assert_non_null(strstr(whole_text, "c 3 [] [] -: one/1/5/0 two/9/5/0 log 2 of 2"));
	world_fini(&w);
	assert_in_range(total, 60, 2000);
	for (unsigned int k = 1; k <= total; k++) {
		fail_at = k;
		world_load(&w, text);
		if (w.result) {
			refused++;
			assert_true(w.diag.count[CFG_ALERT] > 0);
		} else {
			describe(&w, &now);
			assert_string_equal(now_text, whole_text);
		}
		world_fini(&w);
	}
	assert_true(refused > total / 2);
}

static void
test_rich_configuration(void **state)
{
	long before = live;
	unsigned int total;
	struct world w;

	(void)state;
	fail_at = 0;
	world_load(&w, rich_text);
	if (w.result || w.printed[0])
		fail_msg("%s", w.printed);
	total = calls;
	world_fini(&w);
	assert_int_equal(live, before);
	assert_in_range(total, 500, 10000);
	for (unsigned int k = 1; k <= total; k++) {
		fail_at = k;
		world_load(&w, rich_text);
		world_fini(&w);
		if (live != before)
			fail_msg("allocation %u fails: %ld are not freed\n%s", k, live - before,
				w.printed);
	}
}

/* Objects made before the failure are freed with the proxies. */
static void
test_shards(void **state)
{
	unsigned int refused = 0;

	(void)state;
	for (unsigned int k = 1;; k++) {
		struct world w;
		int r;

		fail_at = 0;
		world_good(&w, text);
		fail_at = k;
		WORLD_BEGINS();
		r = proxies_shard(&w.proxies, 4);
		WORLD_ENDS();
		world_fini(&w);
		if (r == 0)
			break;
		assert_int_equal(r, -ERR_NOMEM);
		refused++;
	}
	/* Four proxies with two sets of histograms, five servers with one. */
	assert_int_equal(refused, 4 * 3 + 5 * 2);
}

/* Adds a server while the k-th allocation fails; renewed: in the memory of another one. 1: it was
 * added without a failure. Otherwise nothing has changed. */
static int
try_to_add(unsigned int k, int renewed)
{
	static char before_text[4096], now_text[4096];
	char *argv[] = { "n", "10.0.0.9:80", "cookie", "x", "enabled", NULL };
	struct server_line line = { .argc = 5, .argv = argv };
	struct sbuf before, now;
	struct server *s;
	struct world w;

	sbuf_init_fixed(&before, before_text, sizeof(before_text));
	sbuf_init_fixed(&now, now_text, sizeof(now_text));
	fail_at = 0;
	world_good(&w, text);
	assert_int_equal(proxies_shard(&w.proxies, 4), 0);
	line.proxies = &w.proxies;
	line.registry = &w.registry;
	line.env = &w.env;
	line.be = proxies_find(&w.proxies, "b", PROXY_BE);
	s = renewed ? server_add(&line, &w.diag) : NULL;
	if (s)
		server_remove(&w.proxies, s);
	describe(&w, &before);
	fail_at = k;
	WORLD_BEGINS();
	s = server_add(&line, &w.diag);
	WORLD_ENDS();
	describe(&w, &now);
	if (!s)
		assert_string_equal(now_text, before_text);
	assert_int_equal(line.be->lb.n, s ? 2 : 1);
	world_fini(&w);
	return s && calls < k;
}

static void
test_added_server(void **state)
{
	(void)state;
	for (int renewed = 0; renewed < 2; renewed++) {
		unsigned int k = 1;

		while (!try_to_add(k, renewed))
			k++;
		assert_in_range(k, 6, 60);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_torture),
		cmocka_unit_test(test_rich_configuration),
		cmocka_unit_test(test_shards),
		cmocka_unit_test(test_added_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
