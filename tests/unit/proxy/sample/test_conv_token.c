#include "proxy/sample/fetch.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/sys.h"
#include "rule/match/pattern_file.h"
#include "unit/rule/expr_rig.h"

static struct expr_rig rig;
static struct pattern_files files;
static struct sys sys;
static char dir[64];

/* Keys that were made for this test, and what they have signed. */
static const char rsa_key[] =
	"-----BEGIN PUBLIC KEY-----\n"
	"MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAxVs2qsTrvO6LI6ogRDE3\n"
	"2RGLBKJy11r0i9LwFtZ7DniGtIGJlHEk74uMeKJUBxwOuX3Q5oZSJDI4cAB/329D\n"
	"Y3/izOmaw4lJLeM7vZnlTSQsjbgzPSTRTzgj92wdXRNtFrNHxhuV0VKcmbf3SfEo\n"
	"HxwjY+TCjNrAE4+Wt8IJmczIuub6z5b3UydKpI/EeBDRXF5Gv15E/puaRN1b98pa\n"
	"kZvtv6bVXKUok6lSRmZ4LzH4VK6QBwzjoIN3Db2n+FKA8Hw6SATo17KEShSCNEVx\n"
	"GQ9kU8xAqW9DdHsAWxgkZFigiuoF3mMZxr6rjtzHSgLJSqeWR6xnky+KvPGLAjZU\n"
	"WQIDAQAB\n"
	"-----END PUBLIC KEY-----\n";
static const char rsa_cert[] =
	"-----BEGIN CERTIFICATE-----\n"
	"MIIC+TCCAeGgAwIBAgIULJ7QddHw01dur+0IBjhreZWqvG0wDQYJKoZIhvcNAQEL\n"
	"BQAwDDEKMAgGA1UEAwwBeDAeFw0yNjExMjYxNTQwMjhaFw0yNzAzMDYxNTQwMjha\n"
	"MAwxCjAIBgNVBAMMAXgwggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQDF\n"
	"WzaqxOu87osjqiBEMTfZEYsEonLXWvSL0vAW1nsOeIa0gYmUcSTvi4x4olQHHA65\n"
	"fdDmhlIkMjhwAH/fb0Njf+LM6ZrDiUkt4zu9meVNJCyNuDM9JNFPOCP3bB1dE20W\n"
	"s0fGG5XRUpyZt/dJ8SgfHCNj5MKM2sATj5a3wgmZzMi65vrPlvdTJ0qkj8R4ENFc\n"
	"Xka/XkT+m5pE3Vv3ylqRm+2/ptVcpSiTqVJGZngvMfhUrpAHDOOgg3cNvaf4UoDw\n"
	"fDpIBOjXsoRKFII0RXEZD2RTzECpb0N0ewBbGCRkWKCK6gXeYxnGvquO3MdKAslK\n"
	"p5ZHrGeTL4q88YsCNlRZAgMBAAGjUzBRMB0GA1UdDgQWBBQ0wXMM0QgqYIBEDVXJ\n"
	"CwRphraLaTAfBgNVHSMEGDAWgBQ0wXMM0QgqYIBEDVXJCwRphraLaTAPBgNVHRMB\n"
	"Af8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA4IBAQC2B1jfPAR2k1Gvd5WIPuG/6neQ\n"
	"2AiwGa18KWJu09S6ub3voOh63jXnj2vCSF18yrNNsZjez8iSev9I50aR8msY6hn5\n"
	"6lQKCboYxMqd/kFF6ZbzXHKkv5+TCUjSbBSYP9w7PqScboI3ga0BDLwkj8MwG4xh\n"
	"AqQd/crAOXOFxlocMR0p4Agg5H8if8d9YmzG8B3NsV66+I5SFNjgaZQPNAn6xv8x\n"
	"j6gPB0OYJAQefxVFPHMvXPb8aAdAd2xh8C1fkKwmALFHeqpcJMb8KzMZdnrBXMdj\n"
	"V6MkN2HFB422lFfVdBnM4TIrOMs33j5jJ+SKFenxT1n35KtjlihyqyQBp+Be\n"
	"-----END CERTIFICATE-----\n";
static const char ec_key[] =
	"-----BEGIN PUBLIC KEY-----\n"
	"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAELH1xhjExQ3xH618Y8bcsoSkW7so1\n"
	"69NtflaznGlz7v79yNdY9t74E1FBjeiDGZa1ksTjcqicknDSlAUPij4n1g==\n"
	"-----END PUBLIC KEY-----\n";
static const char ec384_key[] =
	"-----BEGIN PUBLIC KEY-----\n"
	"MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE3BWK4tfL2V/JUdtpjcc/Z8JEtCSxv5y3\n"
	"lZXcjn7U4WAK9O/BAVR1Er6p6nDEG2bs2hSfCKPWqgmjDbCBLoO0kIJ9ZzIHI0db\n"
	"3VJX3N1Ii5vL+q3aV8yYtL0WKwHdPWvF\n"
	"-----END PUBLIC KEY-----\n";

#define RS256 \
	"eyJhbGciOiAiUlMyNTYifQ.eyJuIjo1fQ.fDorzE1FbfTzVp9r35w4-z5QYLf0IWpbxxoGkd" \
	"xFD4OqTX6XLosBLT2LBYfbb_0aNWkeQNaMf1MghVLi160UKudHvrNWEsFiUpqNTGhQVRoGrc" \
	"ef7inE_D4ExRz-r8P4ixl5gBPZi9I0r6qjfXYO_CL588ouzwvuqpFxtYGgJc2CCk0iA-ezoi" \
	"nvRdHnBOKqlKRp22wSUgA9ik5I8VoaEiJ7LMmQHcT1nX51NjxcrbbC5kuiu8HscGMp30oXQ_" \
	"4NkBghw-KRQ-J2yKh7mP7056MQ-iWUdHky5pM9u3nDfav7jc1VOABzB3hcBWl3DL-1lMCPSs" \
	"4zvzYLnmrluPZF-w"
#define ES256 \
	"eyJhbGciOiAiRVMyNTYifQ.eyJuIjo1fQ.4zVtmZNmhFA0K1vfuMGl-5AJgLl_mf242_Ou8J" \
	"EYQnIEhQJbDW-Vaanh90trDxLkcqJvjbuy_0pR7iS5GCUp6Q"
#define PS256 \
	"eyJhbGciOiAiUFMyNTYifQ.eyJuIjo1fQ.kw3aId9qpCBNpbJOA16wYAyt8Cy-qo39igby_W" \
	"RFMreVxJlGBeUrwX6_tHb-GuUeQYiduV3sQGLj2RyvScMm7AQ3BvUlL_rGxTKnxLOENiRAN7" \
	"2U305oYM4BL1mGt1LFo8z_EJx620JXxXdcQltuPCjWqpp72Rr-DkNY6FMkEVGCvjo3Asi2YE" \
	"XdVngCF2W9cHm_oL28QKZzKYGlwf-Ak5kjKzaqBDguFn-gOkb6CqGktlxA39FUdtuUOKlOM-" \
	"6DtVny0CE4PuTxtwE7rQNWEIlmT3DwsnYfwHmHT58urvQpYyXgNeDNYKLcpG9NmPTcTB8JTL" \
	"FFZsofxJ0x0t9WSQ"
/* Signed with "secret". */
#define HS256 \
	"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.Rq8Ixqe" \
	"X7eA6GgYxlcHdPFVRNFFZc5rEI3MQTZZbK3I"
#define ALGS "the algorithm is HS, RS or ES with 256, 384 or 512, none, or a variable"
#define NO_SIG "eyJhbGciOiJub25lIn0.eyJuIjo1fQ"

static void
put_key(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int
setup(void **state)
{
	(void)state;
	rig_init(&rig);
	sys_init(&sys, &sys_linux, NULL);
	pattern_files_init(&files, &sys);
	rig.vocab.files = &files;
	assert_int_equal(rule_vocab_add_convs(&rig.vocab, token_convs), 0);
	(void)snprintf(dir, sizeof(dir), "/tmp/tacit-token-XXXXXX");
	assert_non_null(mkdtemp(dir));
	put_key("rsa", rsa_key);
	put_key("cert", rsa_cert);
	put_key("ec", ec_key);
	put_key("ec384", ec384_key);
	put_key("none", "no key\n");
	return 0;
}

static int
teardown(void **state)
{
	static const char *const names[] = { "rsa", "cert", "ec", "ec384", "none" };
	char path[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(dir);
	pattern_files_fini(&files);
	rig_fini(&rig);
	return 0;
}

static void
set_text(const char *name, const char *text)
{
	struct sample s = { .type = SAMPLE_STR, .u.str = str_of(text) };
	struct var_name n;
	const char *why;

	assert_int_equal(var_name_parse(str_of(name), &n, &why), 0);
	assert_int_equal(var_store(&rig.cx, n, &s), 0);
}

/* The result for a token; in args %s is the directory. */
static const char *
verdict(const char *token, const char *args)
{
	char text[2048], format[2048];

	(void)snprintf(format, sizeof(format), "str(%s),jwt_verify(%s)", token, args);
	(void)snprintf(text, sizeof(text), strstr(args, "%s") ? format : "%s",
		strstr(args, "%s") ? dir : format);
	return rig_eval(&rig, text);
}

#define IS(token, args, result) assert_string_equal(verdict(token, args), result)

static void
signatures_by_secrets_are_verified(void **state)
{
	(void)state;
	IS(HS256, "HS256,secret", "1");
	IS(HS256, "HS256,Secret", "0");
	IS(HS256, "HS384,secret", "0");
	IS(HS256 "A", "HS256,secret", "0");
	IS(HS256 "=", "HS256,secret", "-3");
	IS("a" HS256, "HS256,secret", "0");
	set_text("txn.alg", "HS256");
	set_text("txn.key", "secret");
	IS(HS256, "txn.alg,secret", "1");
	IS(HS256, "HS256,txn.key", "1");
	IS(HS256, "txn.alg,txn.key", "1");
	IS(HS256, "txn.none,secret", "(none)");
	IS(HS256, "HS256,txn.none", "(none)");
}

static void
signatures_by_public_keys_are_verified(void **state)
{
	(void)state;
	IS(RS256, "RS256,%s/rsa", "1");
	IS(RS256, "RS256,%s/cert", "1");
	IS(RS256, "RS384,%s/rsa", "0");
	IS(RS256, "RS256,%s/ec", "0");
	IS(RS256, "ES256,%s/rsa", "0");
	IS("a" RS256, "RS256,%s/rsa", "0");
	IS(RS256 "AAAA", "RS256,%s/rsa", "0");
	IS(ES256, "ES256,%s/ec", "1");
	IS("a" ES256, "ES256,%s/ec", "0");
	IS(ES256 "AAAA", "ES256,%s/ec", "-3");
	IS(ES256, "ES256,%s/ec384", "0");
	IS(ES256, "ES384,%s/ec384", "-3");
	set_text("txn.alg", "RS256");
	IS(RS256, "txn.alg,%s/rsa", "1");
	IS(RS256, "txn.alg,%s/none", "-5");
	IS(RS256, "txn.alg,%s/missing", "-5");
	IS(RS256, "txn.alg,txn.alg", "-5");
}

/* Values that a client could put into the head of its token. */
static void
chosen_by_clients(void **state)
{
	(void)state;
	set_text("txn.alg", "none");
	IS(NO_SIG, "none,x", "1");
	IS(NO_SIG ".", "none,x", "1");
	IS(HS256, "none,x", "0");
	IS(NO_SIG, "txn.alg,x", "0");
	IS(NO_SIG ".", "txn.alg,x", "0");
	/* the name of a file that was read as a key is no secret */
	set_text("txn.alg", "HS256");
	IS(HS256, "txn.alg,%s/rsa", "0");
	IS(HS256, "txn.alg,secret", "1");
	set_text("txn.alg", "PS256");
	IS(PS256, "txn.alg,%s/rsa", "-2");
	set_text("txn.alg", "hs256");
	IS(HS256, "txn.alg,secret", "-1");
}

static void
what_is_no_token_is_reported(void **state)
{
	static const char *const texts[] = { "", ".", "..", "a", "a.b", "a.b.", "a.b.c.d", "a.b.c",
		"a.b.!!!!", "...." };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		IS(texts[i], "HS256,secret", "-3");
		IS(texts[i], "ES256,%s/ec", "-3");
	}
	IS("a", "none,x", "-3");
	IS("a.b.c.d", "none,x", "-3");
	rig.arena.cap = 16;
	IS(HS256, "HS256,secret", "-4");
	rig.arena.cap = RIG_ARENA;
}

static void
bad_arguments_are_refused(void **state)
{
	(void)state;
	IS("a", "FOO,secret", "18: 'jwt_verify': " ALGS);
	IS("a", "PS256,secret", "18: 'jwt_verify': " ALGS);
	IS("a", ",secret", "18: 'jwt_verify': " ALGS);
	IS("a", "HS256,",
		"24: 'jwt_verify': the key is a secret, a file or a variable, and not empty");
	IS("a", "HS256", "23: 'jwt_verify' needs a string as argument 2");
	IS("a", "RS256,txn.x", "24: 'jwt_verify': a public key is in a file, not in a variable");
	IS("a", "RS256,/nope", "24: 'jwt_verify': the file cannot be read");
	IS("a", "RS256,%s/none",
		"24: 'jwt_verify': the file has no public key and no certificate in PEM");
	rig.vocab.files = NULL;
	IS("a", "RS256,%s/rsa", "24: 'jwt_verify': the file cannot be read");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(signatures_by_secrets_are_verified),
		CASE(signatures_by_public_keys_are_verified),
		CASE(chosen_by_clients),
		CASE(what_is_no_token_is_reported),
		CASE(bad_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
