#include "tls/cert.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cfg/env.h"
#include "tls/ocsp.h"
#include "unit/tls/tls_rig.h"

static struct rig_id ca, leaf, other;
static char text[RIG_TEXT], why[TLS_WHY_MAX];
static struct tls_cert *cert;

static int
setup(void **state)
{
	(void)state;
	ca = rig_identity(rig_ec(), "test CA", NULL, NULL, 10);
	leaf = rig_identity(rig_ec(), "leaf.test", "DNS:leaf.test", &ca, 10);
	other = rig_identity(EVP_RSA_gen(2048), "other.test", NULL, NULL, 10);
	text[0] = why[0] = '\0';
	cert = tls_cert_new();
	return cert ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	tls_cert_put(cert);
	rig_free(&ca);
	rig_free(&leaf);
	rig_free(&other);
	return 0;
}

static void
assert_is_leaf(void)
{
	assert_int_equal(tls_cert_add_pem(cert, text, strlen(text), why), 0);
	assert_int_equal(tls_cert_complete(cert, why), 0);
	assert_int_equal(X509_cmp(cert->leaf, leaf.cert), 0);
	assert_int_equal(EVP_PKEY_eq(cert->key, leaf.key), 1);
	assert_int_equal(sk_X509_num(cert->chain), 1);
	assert_int_equal(X509_cmp(cert->issuer, ca.cert), 0);
	assert_int_equal(cert->kind, TLS_KEY_ECDSA);
}

/* The key may stand anywhere, and text between the blocks is skipped. */
static void
test_any_order(void **state)
{
	(void)state;
	rig_pem_cert(text, leaf.cert);
	rig_pem_cert(text, ca.cert);
	rig_pem_key(text, leaf.key, NULL);
	assert_is_leaf();
	strcpy(text, "subject=leaf\n");
	rig_pem_key(text, leaf.key, NULL);
	strcat(text, "a remark\n");
	rig_pem_cert(text, leaf.cert);
	rig_pem_cert(text, ca.cert);
	assert_is_leaf();
	text[0] = '\0';
	rig_pem_cert(text, leaf.cert);
	rig_pem_key(text, leaf.key, NULL);
	rig_pem_cert(text, ca.cert);
	assert_is_leaf();
}

/* A command brings a key with a passphrase, or a file does and there is no ssl-passphrase-cmd. */
static void
test_passphrase(void **state)
{
	struct tls_passphrases none = { .cmd = NULL };

	(void)state;
	rig_pem_cert(text, leaf.cert);
	rig_pem_key(text, leaf.key, "secret");
	assert_int_equal(tls_cert_add_pem(cert, text, strlen(text), why), -ERR_UNSUPPORTED);
	assert_non_null(strstr(why, "passphrase: commands take keys without one"));
	cert->passphrases = &none;
	assert_int_equal(tls_cert_add_pem(cert, text, strlen(text), why), -ERR_UNSUPPORTED);
	assert_non_null(strstr(why, "passphrase: 'ssl-passphrase-cmd' of section global names"));
}

/* --- ssl-passphrase-cmd --- */

static struct cfg_env env;
static struct tls_passphrases secrets;
static char secret_file[64];

/* Writes the file that the command writes: it is cat, whose argument is the path. */
static void
write_secret(const char *words)
{
	FILE *f = fopen(secret_file, "w");

	assert_non_null(f);
	fputs(words, f);
	fclose(f);
}

static int
setup_command(void **state)
{
	static struct sys real;
	int fd;

	if (setup(state))
		return -1;
	sys_init(&real, &sys_linux, NULL);
	cfg_env_init(&env);
	strcpy(secret_file, "/tmp/tacit-secret-XXXXXX");
	fd = mkstemp(secret_file);
	secrets = (struct tls_passphrases){ .sys = &real, .env = &env, .path = secret_file };
	secrets.cmd = mem_zalloc(3 * sizeof(*secrets.cmd));
	secrets.cmd[0] = mem_strdup("/bin/cat");
	cert->passphrases = &secrets;
	rig_pem_cert(text, leaf.cert);
	return fd >= 0 ? close(fd) : -1;
}

static int
teardown_command(void **state)
{
	tls_passphrases_clear(&secrets);
	assert_null(secrets.cmd);
	cfg_env_fini(&env);
	unlink(secret_file);
	return teardown(state);
}

static int
add_text(void)
{
	return tls_cert_add_pem(cert, text, strlen(text), why);
}

/* The first line counts; the next key with this passphrase needs no command. */
static void
test_command(void **state)
{
	(void)state;
	rig_pem_key(text, leaf.key, "secret");
	write_secret("secret\r\nmore\n");
	assert_int_equal(add_text(), 0);
	assert_int_equal(EVP_PKEY_eq(cert->key, leaf.key), 1);
	assert_int_equal(secrets.n_known, 1);
	unlink(secret_file);
	assert_int_equal(add_text(), 0);
	assert_int_equal(secrets.n_known, 1);
	assert_int_equal(ERR_peek_error(), 0);
}

/* Each passphrase that is known is tried before the command is run again. */
static void
test_several_passphrases(void **state)
{
	(void)state;
	write_secret("one");
	rig_pem_key(text, leaf.key, "one");
	assert_int_equal(add_text(), 0);
	write_secret("two");
	text[0] = '\0';
	rig_pem_key(text, other.key, "two");
	assert_int_equal(tls_cert_add_key(cert, text, strlen(text), why), 0);
	assert_int_equal(EVP_PKEY_eq(cert->key, other.key), 1);
	assert_int_equal(secrets.n_known, 2);
	text[0] = '\0';
	rig_pem_key(text, leaf.key, "one");
	assert_int_equal(tls_cert_add_key(cert, text, strlen(text), why), 0);
	assert_int_equal(secrets.n_known, 2);
}

/* "Proc-Type: 4,ENCRYPTED" */
static void
test_encrypted_by_header(void **state)
{
	BIO *b = BIO_new(BIO_s_mem());
	char phrase[] = "secret";

	(void)state;
	write_secret(phrase);
	assert_int_equal(PEM_write_bio_PrivateKey_traditional(b, leaf.key, EVP_aes_128_cbc(),
		(unsigned char *)phrase, 6, NULL, NULL), 1);
	rig_append(text, b);
	assert_non_null(strstr(text, "Proc-Type: 4,ENCRYPTED"));
	assert_int_equal(add_text(), 0);
	assert_int_equal(EVP_PKEY_eq(cert->key, leaf.key), 1);
}

static void
test_wrong_passphrase(void **state)
{
	(void)state;
	rig_pem_key(text, leaf.key, "secret");
	write_secret("Secret\n");
	assert_int_equal(add_text(), -ERR_INVAL);
	/* OpenSSL's reason is not always "bad decrypt": one wrong key of 256 has a padding. */
	assert_non_null(strstr(why, "'/bin/cat' wrote a passphrase that does not decrypt the "
				    "private key: "));
	assert_int_equal(secrets.n_known, 0);
	assert_null(cert->leaf);
	assert_int_equal(ERR_peek_error(), 0);
}

static void
test_failing_commands(void **state)
{
	char longest[1100];

	(void)state;
	rig_pem_key(text, leaf.key, "secret");
	assert_int_equal(add_text(), -ERR_INVAL);
	assert_non_null(strstr(why, "'/bin/cat' wrote no passphrase"));
	write_secret("\nsecret\n");
	assert_int_equal(add_text(), -ERR_INVAL);
	assert_non_null(strstr(why, "'/bin/cat' wrote no passphrase"));
	memset(longest, 'a', sizeof(longest));
	longest[1025] = '\0';
	write_secret(longest);
	assert_int_equal(add_text(), -ERR_INVAL);
	assert_non_null(strstr(why, "'/bin/cat' wrote more than 1024 bytes"));
	write_secret("secret");
	secrets.cmd[1] = mem_strdup("/no/such/file");
	assert_int_equal(add_text(), -ERR_INVAL);
	assert_non_null(strstr(why, "'/bin/cat' ended with exit code 1"));
	mem_free(secrets.cmd[0]);
	secrets.cmd[0] = mem_strdup("/no/such/command");
	assert_int_equal(add_text(), -ERR_INVAL);
	assert_non_null(strstr(why, "'/no/such/command' cannot be executed: No such file"));
	assert_int_equal(secrets.n_known, 0);
}

static void
test_wrong_key(void **state)
{
	(void)state;
	rig_pem_cert(text, leaf.cert);
	assert_int_equal(tls_cert_add_pem(cert, text, strlen(text), why), 0);
	assert_int_equal(tls_cert_complete(cert, why), -ERR_MISSING);
	assert_string_equal(why, "No Private Key found");
	text[0] = '\0';
	rig_pem_key(text, other.key, NULL);
	assert_int_equal(tls_cert_add_key(cert, text, strlen(text), why), 0);
	assert_int_equal(tls_cert_complete(cert, why), -ERR_INVAL);
	assert_non_null(strstr(why, "inconsistencies between private key and certificate loaded"));
	assert_int_equal(ERR_peek_error(), 0);
}

static void
test_broken_text(void **state)
{
	(void)state;
	assert_int_equal(tls_cert_add_pem(cert, "hello", 5, why), -ERR_MISSING);
	rig_pem_cert(text, leaf.cert);
	memset(strchr(text, '\n') + 5, '!', 20);
	assert_true(tls_cert_add_pem(cert, text, strlen(text), why) < 0);
	text[0] = '\0';
	rig_pem_cert(text, leaf.cert);
	memset(strchr(text, '\n') + 1, 'A', 20);
	assert_true(tls_cert_add_pem(cert, text, strlen(text), why) < 0);
	assert_non_null(strstr(why, "CERTIFICATE cannot be read"));
	assert_int_equal(ERR_peek_error(), 0);
	/* nothing was taken */
	assert_int_equal(tls_cert_complete(cert, why), -ERR_MISSING);
}

static void
test_issuer(void **state)
{
	(void)state;
	rig_pem_cert(text, leaf.cert);
	rig_pem_key(text, leaf.key, NULL);
	assert_int_equal(tls_cert_add_pem(cert, text, strlen(text), why), 0);
	assert_int_equal(tls_cert_complete(cert, why), 0);
	assert_null(cert->issuer);
	text[0] = '\0';
	rig_pem_cert(text, other.cert);
	assert_int_equal(tls_cert_add_issuer(cert, text, strlen(text), why), -ERR_INVAL);
	text[0] = '\0';
	rig_pem_cert(text, ca.cert);
	assert_int_equal(tls_cert_add_issuer(cert, text, strlen(text), why), 0);
	assert_int_equal(X509_cmp(cert->issuer, ca.cert), 0);
}

static void
test_sctl(void **state)
{
	static const unsigned char good[] = { 0, 6, 0, 1, 'a', 0, 1, 'b' };
	static const unsigned char bad[][8] = {
		{ 0, 7, 0, 1, 'a', 0, 1, 'b' },
		{ 0, 6, 0, 2, 'a', 0, 1, 'b' },
		{ 0, 6, 0, 0, 'a', 0, 1, 'b' },
		{ 0, 6, 0, 1, 'a', 0, 2, 'b' },
	};

	(void)state;
	assert_int_equal(tls_cert_add_sctl(cert, good, sizeof(good), why), 0);
	assert_int_equal(cert->sctl.len, sizeof(good));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(tls_cert_add_sctl(cert, bad[i], sizeof(bad[i]), why) < 0);
	assert_true(tls_cert_add_sctl(cert, good, 0, why) < 0);
	assert_true(tls_cert_add_sctl(cert, good, 2, why) < 0);
	assert_memory_equal(cert->sctl.p, good, sizeof(good));
}

/* An OCSP response about `id` with this status, that is valid for `seconds` from now on. */
static size_t
make_response(const struct rig_id *about, int status, long seconds, unsigned char **out)
{
	OCSP_BASICRESP *basic = OCSP_BASICRESP_new();
	OCSP_CERTID *id = OCSP_cert_to_id(NULL, about->cert, ca.cert);
	ASN1_TIME *from = X509_gmtime_adj(NULL, -3600), *until = X509_gmtime_adj(NULL, seconds);
	OCSP_RESPONSE *resp;
	int n;

	assert_non_null(OCSP_basic_add1_status(basic, id, status, 0,
		status == V_OCSP_CERTSTATUS_REVOKED ? from : NULL, from, until));
	assert_int_equal(OCSP_basic_sign(basic, ca.cert, ca.key, EVP_sha256(), NULL, 0), 1);
	resp = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic);
	*out = NULL;
	n = i2d_OCSP_RESPONSE(resp, out);
	OCSP_RESPONSE_free(resp);
	OCSP_BASICRESP_free(basic);
	OCSP_CERTID_free(id);
	ASN1_TIME_free(from);
	ASN1_TIME_free(until);
	assert_true(n > 0);
	return (size_t)n;
}

static int
take_response(const void *p, size_t n)
{
	return tls_cert_add_ocsp(cert, p, n, why) < 0 ? -ERR_NOMEM
						       : tls_cert_check_ocsp(cert, why);
}

static void
assert_refused(const struct rig_id *about, int status, long seconds, const char *reason)
{
	unsigned char *p;
	size_t n = make_response(about, status, seconds, &p);

	assert_int_equal(take_response(p, n), -ERR_INVAL);
	assert_string_equal(why, reason);
	assert_null(cert->ocsp);
	assert_int_equal(cert->ocsp_new.len, 0);
	OPENSSL_free(p);
}

static void
test_ocsp(void **state)
{
	unsigned char *p;
	time_t before;
	size_t n;

	(void)state;
	rig_pem_cert(text, leaf.cert);
	rig_pem_key(text, leaf.key, NULL);
	assert_int_equal(tls_cert_add_pem(cert, text, strlen(text), why), 0);
	assert_int_equal(tls_cert_complete(cert, why), 0);
	assert_int_equal(take_response("", 0), -ERR_MISSING); /* without an issuer */
	assert_null(cert->ocsp_id);
	text[0] = '\0';
	rig_pem_cert(text, ca.cert);
	assert_int_equal(tls_cert_add_issuer(cert, text, strlen(text), why), 0);
	assert_int_equal(take_response("", 0), 0);
	assert_int_equal(cert->wants_ocsp, 1);
	assert_int_equal(take_response("abc", 3), -ERR_INVAL);
	assert_refused(&leaf, V_OCSP_CERTSTATUS_UNKNOWN, 3600,
		"OCSP single response: certificate status is unknown");
	assert_refused(&leaf, V_OCSP_CERTSTATUS_GOOD, -1800,
		"OCSP single response: no longer valid.");
	assert_refused(&other, V_OCSP_CERTSTATUS_GOOD, 3600,
		"OCSP single response: Certificate ID does not match certificate and issuer");
	before = time(NULL);
	n = make_response(&leaf, V_OCSP_CERTSTATUS_GOOD, 3600, &p);
	assert_int_equal(take_response(p, n), 0);
	assert_int_equal(cert->ocsp->len, n);
	assert_memory_equal(cert->ocsp->p, p, n);
	assert_in_range(cert->ocsp->expires + TLS_OCSP_SKEW_S - 3600, before, time(NULL));
	OPENSSL_free(p);
}

/* One that cannot be used leaves the one before it; another leaf or issuer does not. */
static void
test_replaced_ocsp(void **state)
{
	struct tls_cert *copy;
	unsigned char *p;
	size_t n;

	(void)state;
	rig_pem_cert(text, leaf.cert);
	rig_pem_key(text, leaf.key, NULL);
	rig_pem_cert(text, ca.cert);
	assert_is_leaf();
	/* A revoked status is accepted: a client has to know it. Bytes behind it are left out. */
	n = make_response(&leaf, V_OCSP_CERTSTATUS_REVOKED, 3600, &p);
	p = OPENSSL_realloc(p, n + 1);
	p[n] = 0;
	assert_int_equal(take_response(p, n + 1), 0);
	assert_int_equal(cert->ocsp->len, n);
	OPENSSL_free(p);
	copy = tls_cert_copy(cert);
	assert_non_null(copy);
	assert_ptr_equal(copy->ocsp, cert->ocsp);
	assert_int_equal(take_response("abc", 3), -ERR_INVAL);
	assert_ptr_equal(copy->ocsp, cert->ocsp);
	X509_free(cert->issuer);
	assert_true(X509_up_ref(other.cert));
	cert->issuer = other.cert;
	assert_int_equal(tls_cert_check_ocsp(cert, why), 0);
	assert_null(cert->ocsp);
	assert_int_equal(copy->ocsp->refs, 1);
	assert_int_equal(tls_cert_add_pem(copy, text, strlen(text), why), 0);
	assert_null(copy->ocsp);
	assert_int_equal(copy->wants_ocsp, 0);
	tls_cert_put(copy);
}

/* A copy owns references of its own. */
static void
test_copy(void **state)
{
	struct tls_cert *copy;

	(void)state;
	rig_pem_cert(text, leaf.cert);
	rig_pem_key(text, leaf.key, NULL);
	rig_pem_cert(text, ca.cert);
	assert_is_leaf();
	assert_int_equal(take_response("", 0), 0);
	copy = tls_cert_copy(cert);
	assert_non_null(copy);
	tls_cert_put(tls_cert_ref(cert));
	tls_cert_put(cert);
	cert = copy;
	assert_int_equal(tls_cert_complete(cert, why), 0);
	assert_int_equal(X509_cmp(cert->leaf, leaf.cert), 0);
	assert_int_equal(sk_X509_num(cert->chain), 1);
}

#define COMMAND(f) cmocka_unit_test_setup_teardown(f, setup_command, teardown_command)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_any_order),
		CASE(test_passphrase),
		COMMAND(test_command),
		COMMAND(test_several_passphrases),
		COMMAND(test_encrypted_by_header),
		COMMAND(test_wrong_passphrase),
		COMMAND(test_failing_commands),
		CASE(test_wrong_key),
		CASE(test_broken_text),
		CASE(test_issuer),
		CASE(test_sctl),
		CASE(test_ocsp),
		CASE(test_replaced_ocsp),
		CASE(test_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
