#include "tls/cert.c"
#include "tls/tls_conf.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "cfg/diag.h"
#include "unit/tls/tls_rig.h"
/* The unit itself, instead of the library's. */
#include "tls/tls_conf.c"

static struct sys sys;
static struct tls_chains chains;
static struct cfg_diag diag;
static char dir[64];

static void
write_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int
setup(void **state)
{
	(void)state;
	sys_init(&sys, &sys_linux, NULL);
	tls_chains_init(&chains);
	cfg_diag_init(&diag, 0);
	strcpy(dir, "/tmp/tacit-chains-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int
teardown(void **state)
{
	char cmd[128];

	(void)state;
	tls_chains_fini(&chains);
	cfg_diag_fini(&diag);
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	return system(cmd);
}

/* An issuer that names its key, and a certificate that names the key of its issuer. */
static void
make_pair(struct rig_id *ca, struct rig_id *leaf)
{
	*ca = rig_identity(rig_ec(), "CA", NULL, NULL, 10);
	rig_add_ext(ca->cert, ca->cert, NID_subject_key_identifier, "hash");
	assert_true(X509_sign(ca->cert, ca->key, EVP_sha256()) > 0);
	*leaf = rig_identity(rig_ec(), "leaf.test", NULL, ca, 10);
	rig_add_ext(leaf->cert, ca->cert, NID_authority_key_identifier, "keyid:always");
	assert_true(X509_sign(leaf->cert, ca->key, EVP_sha256()) > 0);
}

static void
issuer_key_finds_its_chain(void **state)
{
	struct rig_id ca, leaf, other_ca, other;
	char text[RIG_TEXT] = "";
	const struct tls_chain *found;

	(void)state;
	make_pair(&ca, &leaf);
	make_pair(&other_ca, &other);
	rig_pem_cert(text, ca.cert);
	write_file("ca.pem", text);
	chains.dir = mem_strdup(dir);
	assert_int_equal(tls_chains_read(&chains, &sys, &diag), 0);
	assert_int_equal(diag.count[CFG_WARNING], 0);
	found = tls_chains_find(&chains, leaf.cert);
	assert_non_null(found);
	assert_int_equal(sk_X509_num(found->certs), 1);
	assert_int_equal(X509_cmp(sk_X509_value(found->certs, 0), ca.cert), 0);
	assert_null(tls_chains_find(&chains, other.cert));
	assert_null(tls_chains_find(&chains, ca.cert));
	rig_free(&ca);
	rig_free(&leaf);
	rig_free(&other_ca);
	rig_free(&other);
}

static void
bad_files_are_reported(void **state)
{
	struct rig_id ca, leaf;
	char text[RIG_TEXT] = "";

	(void)state;
	make_pair(&ca, &leaf);
	rig_pem_cert(text, ca.cert);
	write_file("a.pem", text);
	write_file("again.pem", text);
	write_file("garbage", "no certificate");
	text[0] = '\0';
	rig_pem_cert(text, leaf.cert);
	write_file("without-key-id.pem", text);
	chains.dir = mem_strdup(dir);
	/* A second reading replaces the first. */
	for (unsigned int n = 1; n <= 2; n++) {
		assert_int_equal(tls_chains_read(&chains, &sys, &diag), 0);
		assert_int_equal(diag.count[CFG_WARNING], 3 * n);
	}
	assert_ptr_equal(chains.all.next->next, &chains.all);
	assert_non_null(tls_chains_find(&chains, leaf.cert));
	rig_free(&ca);
	rig_free(&leaf);
}

static void
missing_directory_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(tls_chains_read(&chains, &sys, &diag), 0);
	chains.dir = mem_strdup("/nowhere/at/all");
	assert_int_equal(tls_chains_read(&chains, &sys, &diag), -1);
	assert_int_equal(diag.count[CFG_ALERT], 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(issuer_key_finds_its_chain, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_files_are_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_directory_is_an_error, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
