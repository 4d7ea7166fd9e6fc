#include "tls/bind.h"

#include "tls/ca.h"
#include "tls/conn_info.h"
#include "unit/tls/tls_rig.h"

static struct bind_rig g;
static struct rig_id other;
static char why[TLS_WHY_MAX];
static unsigned int uses;

static int
setup(void **state)
{
	(void)state;
	bind_rig_open(&g);
	other = rig_identity(rig_ec(), "other CA", NULL, NULL, 10);
	uses = 0;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	bind_rig_close(&g);
	rig_free(&other);
	return 0;
}

#define MEETS(name, subject) assert_string_equal(bind_rig_meet(&g, name, NULL), subject)

static struct tls_entry *
entry(const char *name)
{
	return tls_store_find(&g.conf.certs, bind_rig_path(&g, name));
}

/* A certificate in memory, for an entry. */
static struct tls_cert *
make_cert(EVP_PKEY *key, const char *cn, const char *names)
{
	struct rig_id id = rig_identity(key, cn, names, &g.ca, 10);
	struct tls_cert *c = tls_cert_new();
	char text[RIG_TEXT] = "";

	rig_pem_cert(text, id.cert);
	rig_pem_key(text, id.key, NULL);
	assert_int_equal(tls_cert_add_pem(c, text, strlen(text), why), 0);
	assert_int_equal(tls_cert_complete(c, why), 0);
	rig_free(&id);
	return c;
}

/* As a command does it. */
static void
put_in_place(struct tls_entry *e)
{
	if (e) {
		tls_cert_put(e->cert);
		e->cert = e->next;
		e->next = NULL;
	}
	tls_bind_exchange(g.bind);
	tls_bind_settle(g.bind);
}

/* Nothing is seen of a certificate before it is in place; then names and contexts have it. */
static void
test_certificate(void **state)
{
	struct tls_change change = { .entry = NULL };

	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_cert(&g, "b.pem", rig_ec(), "b.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_source(&g, TLS_SOURCE_CRT, "b.pem");
	bind_rig_load(&g);
	change.entry = entry("a.pem");
	change.entry->next = make_cert(rig_ec(), "new.test", NULL);
	assert_int_equal(tls_bind_prepare(g.bind, &change, &uses, why), 0);
	assert_int_equal(uses, 1);
	MEETS(NULL, "a.test");
	MEETS("a.test", "a.test");
	MEETS("b.test", "b.test");
	put_in_place(change.entry);
	MEETS(NULL, "new.test");
	MEETS("new.test", "new.test");
	MEETS("b.test", "b.test");
	MEETS("a.test", "new.test");
}

/* The certificate of an entry from now on. */
static void
commit(struct tls_entry *e, struct tls_cert *c)
{
	struct tls_change change = { .entry = e };

	e->next = c;
	assert_int_equal(tls_bind_prepare(g.bind, &change, &uses, why), 0);
	put_in_place(e);
}

/* The end of a certificate is read once, and that of the next one is its own. */
static void
test_first_end(void **state)
{
	struct tls_cert *next = make_cert(rig_ec(), "a.test", NULL);
	int64_t first, again;

	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_load(&g);
	assert_ptr_equal(tls_first_cert_end(&g.conf.certs, &first), entry("a.pem"));
	X509_gmtime_adj(X509_getm_notAfter(entry("a.pem")->cert->leaf), 5L * 86400);
	assert_ptr_equal(tls_first_cert_end(&g.conf.certs, &again), entry("a.pem"));
	assert_int_equal(again, first);
	X509_gmtime_adj(X509_getm_notAfter(next->leaf), 2L * 86400);
	commit(entry("a.pem"), next);
	assert_ptr_equal(tls_first_cert_end(&g.conf.certs, &again), entry("a.pem"));
	assert_true(again < first - 7L * 86400);
}

/* A name that leaves one certificate stays with the others, and comes back to its place among
 * them. */
static void
test_shared_names(void **state)
{
	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_cert(&g, "b.pem", rig_ec(), "b.test", "DNS:both.test,DNS:*.w.test");
	bind_rig_cert(&g, "c.pem", rig_ec(), "c.test", "DNS:both.test,DNS:x.w.test");
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_source(&g, TLS_SOURCE_CRT, "b.pem");
	bind_rig_source(&g, TLS_SOURCE_CRT, "c.pem");
	bind_rig_load(&g);
	MEETS("both.test", "b.test");
	commit(entry("b.pem"), make_cert(rig_ec(), "d.test", NULL));
	MEETS("d.test", "d.test");
	MEETS("b.test", "a.test");
	MEETS("both.test", "c.test");
	MEETS("x.w.test", "c.test");
	MEETS("y.w.test", "a.test");
	commit(entry("c.pem"), make_cert(rig_ec(), "c.test", NULL));
	MEETS("both.test", "a.test");
	MEETS("x.w.test", "a.test");
	commit(entry("c.pem"), make_cert(rig_ec(), "c.test", "DNS:both.test"));
	MEETS("both.test", "c.test");
	commit(entry("b.pem"), make_cert(rig_ec(), "b.test", "DNS:both.test,DNS:*.w.test"));
	MEETS("both.test", "b.test");
	MEETS("x.w.test", "b.test");
	MEETS("d.test", "a.test");
	assert_int_equal(uses, 4);
}

/* OpenSSL takes no RSA key of 512 bits: the line stays as it is. */
static void
test_bad_certificate(void **state)
{
	static const char *const names[] = { "a.pem", "b.pem" };

	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_cert(&g, "b.pem", rig_ec(), "b.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_source(&g, TLS_SOURCE_CRT, "b.pem");
	bind_rig_load(&g);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct tls_change change = { .entry = entry(names[i]) };

		change.entry->next = make_cert(EVP_RSA_gen(512), "weak.test", NULL);
		assert_true(tls_bind_prepare(g.bind, &change, &uses, why) < 0);
		assert_non_null(strstr(why, names[i]));
		tls_bind_settle(g.bind);
		tls_cert_put(change.entry->next);
		change.entry->next = NULL;
	}
	MEETS(NULL, "a.test");
	MEETS("b.test", "b.test");
	assert_int_equal(ERR_peek_error(), 0);
}

static void
present_client(const struct rig_id *by)
{
	struct rig_id id = rig_identity(rig_ec(), "client", NULL, by, 10);

	assert_int_equal(SSL_CTX_use_certificate(g.client, id.cert), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(g.client, id.key), 1);
	rig_free(&id);
}

/* Another CA counts once it is in place, and sessions of clients of the previous one end. */
static void
test_ca(void **state)
{
	struct tls_change change = { .entry = NULL };
	struct tls_ca *ca, *made;
	SSL_SESSION *session;
	char text[RIG_TEXT] = "";

	(void)state;
	rig_pem_cert(text, g.ca.cert);
	bind_rig_write(&g, "ca.crt", text);
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_set(&g, "ca-file", bind_rig_path(&g, "ca.crt"));
	bind_rig_set(&g, "verify", "required");
	bind_rig_load(&g);
	present_client(&g.ca);
	SSL_CTX_set_max_proto_version(g.client, TLS1_2_VERSION);
	MEETS("a.test", "a.test");
	session = SSL_get1_session(g.ssl);
	bind_rig_meet(&g, "a.test", session);
	assert_true(SSL_session_reused(g.ssl));
	change.ca = ca = tls_ca_find(&g.conf.cas, TLS_CA_FILE, bind_rig_path(&g, "ca.crt"));
	assert_int_equal(ca->uses, 1);
	made = tls_ca_new(TLS_CA_FILE, "made");
	text[0] = '\0';
	rig_pem_cert(text, other.cert);
	assert_int_equal(tls_ca_add(made, text, strlen(text), why), 0);
	tls_ca_exchange(ca, made);
	assert_int_equal(tls_bind_prepare(g.bind, &change, &uses, why), 0);
	MEETS("a.test", "a.test");
	put_in_place(NULL);
	MEETS("a.test", "");
	bind_rig_meet(&g, "a.test", session);
	assert_false(SSL_session_reused(g.ssl));
	present_client(&other);
	MEETS("a.test", "a.test");
	SSL_SESSION_free(session);
	tls_ca_free(made);
}

static int
try_line(struct tls_crt_list *list, const char *text)
{
	struct tls_change change = { .list = list, .listed = entry("b.pem") };
	struct tls_list_line line;
	char copy[256];
	int r;

	snprintf(copy, sizeof(copy), "%s", text);
	assert_int_equal(tls_list_line_parse(copy, &line, why), 0);
	list->last++;
	r = tls_list_add_line(g.bind, &g.conf, list, entry("b.pem"), &line, why);
	if (!r)
		r = tls_bind_prepare(g.bind, &change, &uses, why);
	tls_settings_free(&line.own);
	return r;
}

/* Lines of a list come and go; one whose settings cannot be used leaves nothing behind. */
static void
test_list(void **state)
{
	static const char *const bad[] = { "b.pem [ciphers NONE] x.test",
		"b.pem [ca-file nope verify required] x.test", "b.pem [verify required] x.test" };
	struct tls_change change = { .entry = NULL };
	struct tls_crt_list *list;
	struct tls_cert *c;
	struct tls_entry *e;

	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	snprintf(why, sizeof(why), "%s\n\n", bind_rig_path(&g, "a.pem"));
	bind_rig_write(&g, "list", why);
	bind_rig_source(&g, TLS_SOURCE_LIST, "list");
	bind_rig_load(&g);
	list = tls_crt_lists_find_path(&g.conf.crt_lists, bind_rig_path(&g, "list"));
	assert_non_null(list);
	assert_int_equal(list->last, 2);
	c = make_cert(rig_ec(), "b.test", NULL);
	e = tls_store_add(&g.conf.certs, bind_rig_path(&g, "b.pem"));
	tls_entry_set(e, c);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_true(try_line(list, bad[i]) < 0);
		tls_bind_settle(g.bind);
		tls_list_remove_line(g.bind, list, list->last--, e);
		assert_int_equal(g.bind->n_variants, 1);
		assert_int_equal(e->uses, 0);
		MEETS("x.test", "a.test");
	}
	/* A certificate that OpenSSL refuses is no better here than in the configuration. */
	tls_entry_set(e, make_cert(EVP_RSA_gen(512), "b.test", NULL));
	assert_true(try_line(list, "b.pem x.test") < 0);
	assert_non_null(strstr(why, "b.pem': ee key too small"));
	tls_bind_settle(g.bind);
	tls_list_remove_line(g.bind, list, list->last--, e);
	MEETS("x.test", "a.test");
	tls_entry_set(e, make_cert(rig_ec(), "b.test", NULL));
	assert_int_equal(try_line(list, "b.pem [ssl-max-ver TLSv1.2] x.test *.y.test"), 0);
	MEETS("x.test", "a.test");
	put_in_place(NULL);
	MEETS("x.test", "b.test");
	assert_int_equal(SSL_version(g.ssl), TLS1_2_VERSION);
	MEETS("z.y.test", "b.test");
	MEETS("b.test", "a.test");
	assert_int_equal(e->uses, 1);
	assert_string_equal(list_entry(g.bind->lines.prev, struct tls_line, link)->options,
		"ssl-max-ver TLSv1.2");
	list_entry(g.bind->lines.prev, struct tls_line, link)->is_leaving = 1;
	change.list = list;
	change.listed = e;
	assert_int_equal(tls_bind_prepare(g.bind, &change, &uses, why), 0);
	put_in_place(NULL);
	tls_list_remove_line(g.bind, list, list->last, e);
	MEETS("x.test", "a.test");
	assert_int_equal(e->uses, 0);
}

static void
remove_last_line(struct tls_crt_list *list, struct tls_entry *e)
{
	struct tls_change change = { .list = list, .listed = e };

	list_entry(g.bind->lines.prev, struct tls_line, link)->is_leaving = 1;
	assert_int_equal(tls_bind_prepare(g.bind, &change, &uses, why), 0);
	put_in_place(NULL);
	tls_list_remove_line(g.bind, list, list->last, e);
}

static struct tls_ca *
add_ca(const struct rig_id *id)
{
	struct tls_ca *ca = tls_ca_new(TLS_CA_FILE, "own.pem");
	char text[RIG_TEXT] = "";

	rig_pem_cert(text, id->cert);
	assert_int_equal(tls_ca_add(ca, text, strlen(text), why), 0);
	tls_ca_insert(&g.conf.cas, ca);
	return ca;
}

/* A file of CAs is free when the last line with it has left. A line with the same settings that
 * comes later trusts the file of that time. */
static void
test_trusted_of_lines(void **state)
{
	static const char line[] = "b.pem [ca-file own.pem verify required] x.test";
	struct tls_crt_list *list;
	struct tls_entry *e;
	struct tls_ca *ca;

	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	snprintf(why, sizeof(why), "%s\n", bind_rig_path(&g, "a.pem"));
	bind_rig_write(&g, "list", why);
	bind_rig_source(&g, TLS_SOURCE_LIST, "list");
	bind_rig_load(&g);
	list = tls_crt_lists_find_path(&g.conf.crt_lists, bind_rig_path(&g, "list"));
	e = tls_store_add(&g.conf.certs, bind_rig_path(&g, "b.pem"));
	tls_entry_set(e, make_cert(rig_ec(), "b.test", NULL));
	for (int i = 0; i < 3; i++) {
		const struct rig_id *trusted = i % 2 ? &other : &g.ca;

		ca = add_ca(trusted);
		assert_int_equal(try_line(list, line), 0);
		put_in_place(NULL);
		assert_int_equal(ca->uses, 1);
		present_client(trusted);
		MEETS("x.test", "b.test");
		present_client(i % 2 ? &g.ca : &other);
		MEETS("x.test", "");
		/* A line that cannot be used changes nothing of that. */
		assert_true(
			try_line(list, "b.pem [ca-file own.pem verify required ciphers NONE]") < 0);
		tls_bind_settle(g.bind);
		tls_list_remove_line(g.bind, list, list->last--, e);
		assert_int_equal(ca->uses, 1);
		MEETS("x.test", "");
		remove_last_line(list, e);
		assert_int_equal(ca->uses, 0);
		MEETS("x.test", "a.test");
		assert_int_equal(g.bind->n_variants, 2);
		tls_ca_free(ca);
	}
	/* Without the file the line is refused as if it were the first one. */
	assert_true(try_line(list, line) < 0);
	tls_bind_settle(g.bind);
	tls_list_remove_line(g.bind, list, list->last--, e);
	MEETS("x.test", "a.test");
}

/* Changes of other certificates leave the line alone. */
static void
test_strangers(void **state)
{
	struct tls_change change = { .entry = NULL };

	(void)state;
	bind_rig_cert(&g, "a.pem", rig_ec(), "a.test", NULL);
	bind_rig_source(&g, TLS_SOURCE_CRT, "a.pem");
	bind_rig_load(&g);
	change.entry = tls_store_add(&g.conf.certs, "other");
	assert_int_equal(tls_bind_prepare(g.bind, &change, &uses, why), 0);
	assert_null(g.bind->change);
	change.entry = NULL;
	change.list = tls_crt_lists_take(&g.conf.crt_lists, "other");
	assert_int_equal(tls_bind_prepare(g.bind, &change, &uses, why), 0);
	assert_null(g.bind->change);
	assert_int_equal(uses, 0);
	tls_bind_exchange(g.bind);
	tls_bind_settle(g.bind);
	MEETS("a.test", "a.test");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_certificate),
		CASE(test_first_end),
		CASE(test_shared_names),
		CASE(test_bad_certificate),
		CASE(test_ca),
		CASE(test_list),
		CASE(test_trusted_of_lines),
		CASE(test_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
