#include "tls/cert_files.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tls/store.h"
#include "unit/tls/tls_rig.h"

static struct sys sys;
static struct rig_id ca, leaf;
static char dir[64], why[TLS_WHY_MAX], warning[TLS_WHY_MAX];
static struct tls_file_rules rules;
static struct tls_store store;

static int
setup(void **state)
{
	(void)state;
	sys_init(&sys, &sys_linux, NULL);
	ca = rig_identity(rig_ec(), "test CA", NULL, NULL, 10);
	leaf = rig_identity(rig_ec(), "leaf.test", NULL, &ca, 10);
	strcpy(dir, "/tmp/tacit-cert-XXXXXX");
	memset(&rules, 0, sizeof(rules));
	rules.extra = TLS_EXTRA_ALL;
	tls_store_init(&store);
	return mkdtemp(dir) ? 0 : -1;
}

static int
teardown(void **state)
{
	char cmd[128];

	(void)state;
	tls_store_fini(&store);
	rig_free(&ca);
	rig_free(&leaf);
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	return system(cmd);
}

static const char *
path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* A file with: c the certificate, k its key, i the issuer. */
static void
write_parts(const char *name, const char *parts)
{
	char text[RIG_TEXT] = "";
	FILE *f = fopen(path_of(name), "w");

	for (; *parts; parts++) {
		if (*parts == 'c')
			rig_pem_cert(text, leaf.cert);
		else if (*parts == 'k')
			rig_pem_key(text, leaf.key, NULL);
		else
			rig_pem_cert(text, ca.cert);
	}
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int
read_cert(const char *path, struct tls_cert **c)
{
	struct tls_cert_paths paths = { { NULL } };
	char copy[128];

	snprintf(copy, sizeof(copy), "%s", path);
	paths.of[TLS_CERT_CRT] = copy;
	return tls_cert_read(&sys, &rules, &paths, c, why, warning);
}

static void
test_side_files(void **state)
{
	struct tls_cert *c;

	(void)state;
	write_parts("a.crt", "c");
	assert_int_equal(read_cert(path_of("a.crt"), &c),
		-ERR_MISSING);
	assert_non_null(strstr(why, "No Private Key found"));
	write_parts("a.crt.key", "k");
	assert_int_equal(read_cert(path_of("a.crt"), &c), 0);
	assert_null(c->issuer);
	tls_cert_put(c);
	write_parts("a.crt.issuer", "i");
	write_parts("a.crt.ocsp", "");
	assert_int_equal(read_cert(path_of("a.crt"), &c), 0);
	assert_non_null(c->issuer);
	assert_int_equal(c->wants_ocsp, 1);
	tls_cert_put(c);
	rules.extra = TLS_EXTRA_KEY;
	assert_int_equal(read_cert(path_of("a.crt"), &c), 0);
	assert_null(c->issuer);
	assert_int_equal(c->wants_ocsp, 0);
	tls_cert_put(c);
	rules.extra = 0;
	assert_true(read_cert(path_of("a.crt"), &c) < 0);
}

/* A response that cannot be used is a warning; timestamps that cannot be used are an error. */
static void
test_bad_side_files(void **state)
{
	struct tls_cert *c;

	(void)state;
	write_parts("a.pem", "cki");
	write_parts("a.pem.ocsp", "c");
	assert_int_equal(read_cert(path_of("a.pem"), &c), 0);
	assert_non_null(strstr(warning, "Unable to parse OCSP response"));
	assert_null(c->ocsp);
	tls_cert_put(c);
	write_parts("a.pem.sctl", "c");
	assert_true(read_cert(path_of("a.pem"), &c) < 0);
	assert_non_null(strstr(why, "a.pem.sctl"));
}

static void
test_del_ext(void **state)
{
	struct tls_cert *c;

	(void)state;
	write_parts("b.crt", "c");
	write_parts("b.key", "k");
	assert_true(read_cert(path_of("b.crt"), &c) < 0);
	rules.del_ext = 1;
	assert_int_equal(read_cert(path_of("b.crt"), &c), 0);
	tls_cert_put(c);
}

static void
test_missing(void **state)
{
	struct tls_cert *c;

	(void)state;
	assert_int_equal(read_cert(path_of("no.pem"), &c), -ENOENT);
	assert_non_null(strstr(why, "No such file or directory"));
	assert_non_null(strstr(why, "no.pem"));
}

static void
test_directory(void **state)
{
	struct tls_dir d;

	(void)state;
	write_parts("b.pem", "ck");
	write_parts("a.pem", "ck");
	write_parts("a.pem.ocsp", "");
	write_parts("c.issuer", "");
	write_parts(".hidden", "");
	assert_int_equal(mkdir(path_of("sub"), 0700), 0);
	assert_int_equal(tls_dir_read(&sys, dir, tls_is_cert_name, &d), 0);
	assert_int_equal(d.n, 2);
	assert_string_equal(d.path[0], path_of("a.pem"));
	assert_string_equal(d.path[1], path_of("b.pem"));
	tls_dir_free(&d);
	assert_true(tls_dir_read(&sys, path_of("none"), tls_is_cert_name, &d) < 0);
}

/* A file is read once, and again after its entry was removed. */
static void
test_store(void **state)
{
	struct tls_entry *a, *b;

	(void)state;
	write_parts("a.pem", "ck");
	assert_int_equal(
		tls_store_load(&store, &sys, &rules, path_of("a.pem"), &a, why, warning), 0);
	write_parts("a.pem", "");
	assert_int_equal(
		tls_store_load(&store, &sys, &rules, path_of("a.pem"), &b, why, warning), 0);
	assert_ptr_equal(a, b);
	assert_ptr_equal(tls_store_find(&store, path_of("a.pem")), a);
	a->is_there = 0;
	tls_entry_set(a, NULL);
	assert_null(tls_store_find(&store, path_of("a.pem")));
	assert_true(tls_store_load(&store, &sys, &rules, path_of("a.pem"), &b, why, warning) < 0);
	assert_ptr_equal(tls_store_add(&store, path_of("a.pem")), a);
	assert_null(a->cert);
}

static void
test_path(void **state)
{
	static const char *const rows[][3] = {
		{ NULL, "x", "x" },
		{ "/d", "x", "/d/x" },
		{ "/d/", "x", "/d/x" },
		{ "/d", "/x", "/x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *p = tls_path(rows[i][0], rows[i][1]);

		assert_string_equal(p, rows[i][2]);
		mem_free(p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_side_files),
		CASE(test_bad_side_files),
		CASE(test_del_ext),
		CASE(test_missing),
		CASE(test_directory),
		CASE(test_store),
		CASE(test_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
