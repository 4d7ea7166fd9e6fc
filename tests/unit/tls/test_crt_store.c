#include "tls/crt_list.h"

#include "base/mem.h"
#include "tls/tls_conf.h"
#include "unit/tls/tls_rig.h"

static struct bind_rig g;

static int
setup(void **state)
{
	(void)state;
	bind_rig_open(&g);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	bind_rig_close(&g);
	return 0;
}

/* A certificate and its key in files of their own. */
static void
write_apart(const char *crt, const char *key, const char *cn)
{
	struct rig_id id = rig_identity(rig_ec(), cn, NULL, &g.ca, 10);
	char text[RIG_TEXT] = "";

	rig_pem_cert(text, id.cert);
	bind_rig_write(&g, crt, text);
	text[0] = '\0';
	rig_pem_key(text, id.key, NULL);
	bind_rig_write(&g, key, text);
	rig_free(&id);
}

static void
add_load(struct tls_crt_store *s, const char *crt, const char *key, const char *alias)
{
	struct tls_load *l = tls_crt_store_add_load(s);

	l->path.of[TLS_CERT_CRT] = mem_strdup(crt);
	assert_int_equal(mem_copy_string(&l->path.of[TLS_CERT_KEY], key), 0);
	assert_int_equal(mem_copy_string(&l->alias, alias), 0);
}

static struct tls_crt_store *
add_store(const char *name)
{
	struct tls_crt_store *s = tls_crt_store_add(&g.conf.crt_stores, name);

	s->crt_base = mem_strdup(g.dir);
	s->key_base = mem_strdup(g.dir);
	return s;
}

static const char *
found(const char *name)
{
	static char cn[64];
	const struct tls_entry *e = tls_store_find(&g.conf.certs, name);

	cn[0] = '\0';
	if (e)
		(void)X509_NAME_get_text_by_NID(X509_get_subject_name(e->cert->leaf),
			NID_commonName, cn, sizeof(cn));
	return cn;
}

/* By alias, by what is written, and in the store without a name by the path. */
static void
test_names(void **state)
{
	struct tls_crt_store *s = add_store("web"), *plain = add_store("");

	(void)state;
	write_apart("a.crt", "a.k", "a.test");
	write_apart("b.crt", "b.crt.key", "b.test");
	add_load(s, "a.crt", "a.k", "one");
	add_load(s, "b.crt", NULL, NULL);
	add_load(plain, "b.crt", NULL, NULL);
	add_load(plain, "a.crt", "a.k", "two");
	assert_int_equal(tls_crt_stores_load(&g.conf, &g.sys, &g.diag), 0);
	assert_string_equal(found("@web/one"), "a.test");
	assert_string_equal(found("@web/b.crt"), "b.test");
	assert_string_equal(found("@web/a.crt"), "");
	assert_string_equal(found(bind_rig_path(&g, "b.crt")), "b.test");
	assert_string_equal(found("@/two"), "a.test");
}

/* The bases of global are for stores without their own. */
static void
test_bases(void **state)
{
	struct tls_crt_store *s = tls_crt_store_add(&g.conf.crt_stores, "s");

	(void)state;
	write_apart("a.crt", "a.k", "a.test");
	g.conf.files.crt_base = mem_strdup(g.dir);
	g.conf.files.key_base = mem_strdup("/no/such");
	add_load(s, "a.crt", "a.k", NULL);
	assert_int_equal(tls_crt_stores_load(&g.conf, &g.sys, &g.diag), -1);
	assert_true(bind_rig_says(&g, "/no/such/a.k"));
	s->key_base = mem_strdup(g.dir);
	assert_int_equal(tls_crt_stores_load(&g.conf, &g.sys, &g.diag), 0);
	assert_string_equal(found("@s/a.crt"), "a.test");
}

static void
test_mistakes(void **state)
{
	struct tls_crt_store *s = add_store("s");

	(void)state;
	write_apart("a.crt", "a.k", "a.test");
	write_apart("b.crt", "b.k", "b.test");
	add_load(s, "a.crt", "b.k", NULL);
	assert_int_equal(tls_crt_stores_load(&g.conf, &g.sys, &g.diag), -1);
	assert_true(bind_rig_says(&g, "inconsistencies between private key and certificate"));
	add_load(s, "a.crt", "a.k", "x");
	add_load(s, "b.crt", "b.k", "x");
	assert_int_equal(tls_crt_stores_load(&g.conf, &g.sys, &g.diag), -1);
	assert_true(bind_rig_says(&g, "'@s/x' is already defined"));
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.crt");
	mem_free(list_first(&g.bind->sources, struct tls_source, link)->path);
	list_first(&g.bind->sources, struct tls_source, link)->path = mem_strdup("@s/nope");
	assert_int_equal(bind_rig_try_load(&g), -1);
	assert_true(bind_rig_says(&g, "no crt-store has a certificate '@s/nope'"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_names),
		CASE(test_bases),
		CASE(test_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
