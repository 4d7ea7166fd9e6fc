/* OCSP responses by the ids of certificates: which certificates one is about, what is shown. */
#include "tls/ocsp_store.h"

#include "base/err.h"
#include "base/mem.h"
#include "unit/tls/tls_rig.h"
#include "tls/bind.h"

static struct rig_id ca, one, two;
static struct tls_store store;
static struct tls_bind *b;
static char text[RIG_TEXT], why[TLS_WHY_MAX];

/* An entry with this certificate, used by a bind line, that wants a response. */
static struct tls_entry *
add(const char *name, const struct rig_id *id)
{
	struct tls_entry *e = tls_store_add(&store, name);
	struct tls_cert *c = tls_cert_new();

	assert_true(e && c);
	text[0] = '\0';
	rig_pem_cert(text, id->cert);
	rig_pem_key(text, id->key, NULL);
	rig_pem_cert(text, ca.cert);
	assert_int_equal(tls_cert_add_pem(c, text, strlen(text), why), 0);
	assert_int_equal(tls_cert_complete(c, why), 0);
	assert_int_equal(tls_cert_add_ocsp(c, "", 0, why), 0);
	assert_int_equal(tls_cert_check_ocsp(c, why), 0);
	tls_entry_set(e, c);
	assert_non_null(tls_bind_add_line(b, e));
	return e;
}

static int
setup(void **state)
{
	(void)state;
	ca = rig_identity(rig_ec(), "test CA", NULL, NULL, 10);
	one = rig_identity(rig_ec(), "one.test", NULL, &ca, 10);
	two = rig_identity(rig_ec(), "two.test", NULL, &ca, 10);
	tls_store_init(&store);
	b = tls_bind_new();
	return b ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	tls_bind_free(&b);
	tls_store_fini(&store);
	rig_free(&ca);
	rig_free(&one);
	rig_free(&two);
	return 0;
}

static void
test_keys(void **state)
{
	struct tls_ocsp_keys k;
	struct tls_entry *a;
	struct sbuf out;

	(void)state;
	assert_int_equal(tls_ocsp_keys(&store, &k), 0);
	assert_int_equal(k.n, 0);
	tls_ocsp_keys_free(&k);
	a = add("a", &one);
	add("b", &two);
	add("c", &one);
	assert_int_equal(tls_ocsp_keys(&store, &k), 0);
	assert_int_equal(k.n, 2);
	assert_true(strcmp(k.key[0].hex, k.key[1].hex) < 0);
	sbuf_init(&out, 0);
	tls_ocsp_key_show(&k.key[0], &out);
	assert_non_null(strstr(out.p, "\n   Issuer Key Hash: "));
	sbuf_fini(&out);
	for (size_t i = 0; i < k.n; i++)
		assert_non_null(tls_ocsp_find(&store, k.key[i].hex));
	k.key[0].hex[strlen(k.key[0].hex) - 1] = '\0';
	assert_null(tls_ocsp_find(&store, k.key[0].hex));
	tls_ocsp_keys_free(&k);
	/* A server's certificate, or one that no line uses, is not stapled. */
	a->binds = 0;
	assert_int_equal(tls_ocsp_keys(&store, &k), 0);
	assert_int_equal(k.n, 2);
	a->binds = 1;
	tls_ocsp_keys_free(&k);
}

static struct tls_ocsp *
response(void)
{
	struct tls_ocsp *o = mem_zalloc(sizeof(*o) + 1);

	assert_non_null(o);
	o->refs = 1;
	o->len = 1;
	return o;
}

/* All files with the certificate, and the transaction, unless that has a response of its own. */
static void
test_users(void **state)
{
	struct tls_entry *a = add("a", &one), *c;
	struct tls_ocsp *first = response(), *second = response();
	struct tls_ocsp_users u;

	(void)state;
	add("b", &two);
	c = add("c", &one);
	assert_int_equal(tls_ocsp_users(&store, a->cert->ocsp_id, &u), 0);
	assert_int_equal(u.n, 2);
	tls_ocsp_users_set(&u, first);
	tls_ocsp_users_free(&u);
	assert_ptr_equal(a->cert->ocsp, first);
	assert_ptr_equal(c->cert->ocsp, first);
	assert_int_equal(first->refs, 3);
	store.change.entry = c;
	store.change.cert = tls_cert_copy(c->cert);
	assert_non_null(store.change.cert);
	assert_int_equal(tls_ocsp_users(&store, a->cert->ocsp_id, &u), 0);
	assert_int_equal(u.n, 3);
	tls_ocsp_users_set(&u, second);
	tls_ocsp_users_free(&u);
	assert_ptr_equal(store.change.cert->ocsp, second);
	assert_int_equal(first->refs, 1);
	assert_int_equal(tls_cert_add_ocsp(store.change.cert, "x", 1, why), 0);
	assert_int_equal(tls_ocsp_users(&store, a->cert->ocsp_id, &u), 0);
	assert_int_equal(u.n, 2);
	tls_ocsp_users_free(&u);
	tls_ocsp_put(first);
	tls_ocsp_put(second);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_users, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
