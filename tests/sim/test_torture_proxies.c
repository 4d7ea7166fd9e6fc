/*
 * A configuration of proxies with the k-th allocation failing, for every k: this program brings its
 * own allocator. What loads is whole, the rest is refused with a word, and nothing is lost.
 */
#include <stdlib.h>
#include <string.h>

static unsigned int calls, fail_at, armed;

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

void *
mem_alloc(size_t size)
{
	return refuses() ? NULL : malloc(size ? size : 1);
}

void *
mem_zalloc(size_t size)
{
	return refuses() ? NULL : calloc(1, size ? size : 1);
}

void *
mem_alloc_aligned(size_t align, size_t size)
{
	return refuses() ? NULL : aligned_alloc(align, size);
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
	return refuses() ? NULL : reallocarray(p, n ? n : 1, size);
}

char *
mem_strndup(const char *s, size_t n)
{
	return refuses() ? NULL : strndup(s, n);
}

char *
mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

void
mem_free(void *p)
{
	free(p);
}

static const char text[] =
	"defaults d\n timeout client 1s\n timeout connect 2s\n timeout server 3s\n"
	" default_backend b\n default-server weight 5\n log 127.0.0.1:514 local0\n"
	"frontend f from d\n bind :80-82,/x name web\n bind :90 id 7\n use_backend c\n"
	" description what it is for\n"
	"backend b from d\n balance random(3)\n source 10.0.0.1\n"
	" server one 10.0.0.1:80 source 10.0.0.2:1000-2000\n server two 10.0.0.2:80 backup\n"
	"backend c from d\n balance source\n server one 10.0.0.1:80\n server two 10.0.0.2:80 id 9\n"
	"defaults e\n timeout client 1s\n timeout connect 2s\n timeout server 3s\n"
	"listen l from e\n bind abns@x\n server one 10.0.0.1:80\n";

/* All possible allocation failures. */
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
		cmocka_unit_test(test_shards),
		cmocka_unit_test(test_added_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
