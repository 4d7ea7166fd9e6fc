/* PEM text as parts of a certificate. Main thread, or the first worker for a command; whatever was
 * a private key in memory is cleansed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/err.h"
#include "base/exec.h"
#include "base/mem.h"
#include "cfg/env.h"
#include "tls/cert.h"
#include "tls/issuers.h"
#include "tls/openssl.h"

/* One block: "-----BEGIN name-----". */
struct pem_block {
	char *name, *header;
	unsigned char *data;
	long len;
};

/* The contents of a text. */
struct pem_parts {
	X509 *leaf;
	STACK_OF(X509) *chain;
	EVP_PKEY *key, *dh;
	struct tls_issuers *issuers;
	struct tls_passphrases *passphrases;
};

static void
free_pem_block(struct pem_block *b)
{
	OPENSSL_free(b->name);
	OPENSSL_free(b->header);
	OPENSSL_clear_free(b->data, b->len > 0 ? (size_t)b->len : 0);
	memset(b, 0, sizeof(*b));
}

static void
free_pem_parts(struct pem_parts *p)
{
	X509_free(p->leaf);
	sk_X509_pop_free(p->chain, X509_free);
	EVP_PKEY_free(p->key);
	EVP_PKEY_free(p->dh);
}

static int
bad_block(const struct pem_block *b, char *why)
{
	char reason[TLS_ERROR_MAX];

	(void)snprintf(why, TLS_WHY_MAX, "%s cannot be read: %s", b->name,
		tls_error_take(reason, sizeof(reason)));
	return -ERR_SYNTAX;
}

static X509 *
parse_cert(const struct pem_parts *p, const struct pem_block *b)
{
	const unsigned char *at = b->data;

	if (strcmp(b->name, PEM_STRING_X509_TRUSTED) == 0)
		return d2i_X509_AUX(NULL, &at, b->len);
	if (p->leaf && p->issuers)
		return tls_issuers_take(p->issuers, at, b->len);
	return d2i_X509(NULL, &at, b->len);
}

static int
take_cert_block(struct pem_parts *p, const struct pem_block *b, char *why)
{
	X509 *x = parse_cert(p, b);

	if (!x)
		return bad_block(b, why);
	if (!p->leaf) {
		p->leaf = x;
		return 0;
	}
	if (!p->chain)
		p->chain = sk_X509_new_null();
	if (p->chain && sk_X509_push(p->chain, x) > 0)
		return 0;
	X509_free(x);
	return -ERR_NOMEM;
}

/* --- passphrases ----------------------------------------------------------------------------- */

static void
forget_text(char *text)
{
	if (text)
		OPENSSL_cleanse(text, strlen(text));
	mem_free(text);
}

void
tls_passphrases_clear(struct tls_passphrases *s)
{
	for (unsigned int i = 0; i < s->n_known; i++)
		forget_text(s->known[i]);
	mem_free(s->known);
	for (unsigned int i = 0; s->cmd && s->cmd[i]; i++)
		mem_free(s->cmd[i]);
	mem_free(s->cmd);
	memset(s, 0, sizeof(*s));
}

/* OpenSSL's callback for a passphrase: its length, which buf has room for, or -1. */
static int
give_passphrase(char *buf, int size, int encrypts, void *arg)
{
	size_t len = strlen(arg);

	(void)encrypts;
	if (len > (size_t)size)
		return -1;
	memcpy(buf, arg, len);
	return (int)len;
}

/* PKCS #8. */
static EVP_PKEY *
decrypt_pkcs8(const struct pem_block *b, const char *passphrase)
{
	const unsigned char *at = b->data;
	X509_SIG *sealed = d2i_X509_SIG(NULL, &at, b->len);
	PKCS8_PRIV_KEY_INFO *info =
		sealed ? PKCS8_decrypt(sealed, passphrase, (int)strlen(passphrase)) : NULL;
	EVP_PKEY *key = info ? EVP_PKCS82PKEY(info) : NULL;

	X509_SIG_free(sealed);
	PKCS8_PRIV_KEY_INFO_free(info);
	return key;
}

/* Its header says how it is encrypted (RFC 1421); OpenSSL decrypts in place. */
static EVP_PKEY *
decrypt_by_header(const struct pem_block *b, char *passphrase)
{
	unsigned char *copy = OPENSSL_memdup(b->data, (size_t)b->len);
	const unsigned char *at = copy;
	EVP_CIPHER_INFO cipher;
	EVP_PKEY *key = NULL;
	long len = b->len;

	if (copy && PEM_get_EVP_CIPHER_INFO(b->header, &cipher) &&
		PEM_do_header(&cipher, copy, &len, give_passphrase, passphrase))
		key = d2i_AutoPrivateKey(NULL, &at, len);
	OPENSSL_clear_free(copy, (size_t)b->len);
	return key;
}

/* NULL with OpenSSL's reason: the passphrase is another one. */
static EVP_PKEY *
decrypt_key(const struct pem_block *b, char *passphrase)
{
	ERR_clear_error();
	if (strcmp(b->name, PEM_STRING_PKCS8) == 0)
		return decrypt_pkcs8(b, passphrase);
	return decrypt_by_header(b, passphrase);
}

static EVP_PKEY *
decrypt_with_known(const struct tls_passphrases *s, const struct pem_block *b)
{
	EVP_PKEY *key = NULL;

	for (unsigned int i = 0; i < s->n_known && !key; i++)
		key = decrypt_key(b, s->known[i]);
	return key;
}

/* Frees what environment_of() has made. */
static void
free_environment(char **env)
{
	for (unsigned int i = 0; env && env[i]; i++)
		mem_free(env[i]);
	mem_free(env);
}

/* "NAME=VALUE" of each variable and NULL. NULL: memory is out. */
static char **
environment_of(const struct cfg_env *env)
{
	char **out = mem_zalloc((env->nvar + 1) * sizeof(*out));

	for (unsigned int i = 0; out && i < env->nvar; i++) {
		const struct cfg_env_var *v = &env->var[i];
		size_t size = strlen(v->name) + strlen(v->value) + 2;

		out[i] = mem_alloc(size);
		if (!out[i]) {
			free_environment(out);
			return NULL;
		}
		(void)snprintf(out[i], size, "%s=%s", v->name, v->value);
	}
	return out;
}

/* The path of the file comes first, the arguments of the configuration follow. */
static long
run_passphrase_cmd(const struct tls_passphrases *s, char *out, size_t size, int *status)
{
	unsigned int n = 0;
	char **env = environment_of(s->env);
	const char **args;
	long r = -ERR_NOMEM;

	while (s->cmd[n])
		n++;
	args = mem_zalloc((n + 2) * sizeof(*args));
	if (args && env) {
		args[0] = s->cmd[0];
		args[1] = s->path;
		for (unsigned int i = 1; i < n; i++)
			args[i + 1] = s->cmd[i];
		r = exec_output(s->sys, args, (const char *const *)env, out, size, status);
	}
	mem_free(args);
	free_environment(env);
	return r;
}

/* Says why the command gave no passphrase. */
static int
bad_command(const struct tls_passphrases *s, long r, int status, char *why)
{
	const char *cmd = s->cmd[0];

	if (r == -EFBIG)
		(void)snprintf(why, TLS_WHY_MAX,
			"'ssl-passphrase-cmd' : '%.100s' wrote more than %d bytes", cmd,
			PEM_BUFSIZE);
	else if (r < 0)
		(void)snprintf(why, TLS_WHY_MAX,
			"'ssl-passphrase-cmd' : '%.100s' cannot be executed: %s", cmd,
			err_text((int)r));
	else if (WIFSIGNALED(status))
		(void)snprintf(why, TLS_WHY_MAX,
			"'ssl-passphrase-cmd' : '%.100s' was ended by signal %d", cmd,
			WTERMSIG(status));
	else if (status)
		(void)snprintf(why, TLS_WHY_MAX,
			"'ssl-passphrase-cmd' : '%.100s' ended with exit code %d", cmd,
			WEXITSTATUS(status));
	else
		(void)snprintf(why, TLS_WHY_MAX,
			"'ssl-passphrase-cmd' : '%.100s' wrote no passphrase", cmd);
	return -ERR_INVAL;
}

/* Runs the command: *out is the first line that it writes, from mem_alloc(). */
static int
ask_passphrase(const struct tls_passphrases *s, char **out, char *why)
{
	char line[PEM_BUFSIZE + 1];
	int status = 0, r = 0;
	long n = run_passphrase_cmd(s, line, sizeof(line), &status);

	if (n >= 0)
		line[strcspn(line, "\r\n")] = '\0';
	if (n <= 0 || status || !line[0])
		r = bad_command(s, n, status, why);
	else
		r = mem_copy_string(out, line);
	OPENSSL_cleanse(line, sizeof(line));
	return r < 0 ? r : 0;
}

static int
add_known(struct tls_passphrases *s, char *text)
{
	char **grown = array_grow(s->known, s->n_known, &s->cap, sizeof(*grown));

	if (!grown)
		return -ERR_NOMEM;
	s->known = grown;
	grown[s->n_known++] = text;
	return 0;
}

/* Decrypts the key with a passphrase that the command writes, which is then known. */
static int
decrypt_with_cmd(struct pem_parts *p, const struct pem_block *b, char *why)
{
	struct tls_passphrases *s = p->passphrases;
	char *text = NULL, reason[TLS_ERROR_MAX];
	int r = ask_passphrase(s, &text, why);

	if (r)
		return r;
	p->key = decrypt_key(b, text);
	if (p->key && add_known(s, text) == 0)
		return 0;
	if (!p->key)
		(void)snprintf(why, TLS_WHY_MAX,
			"'ssl-passphrase-cmd' : '%.100s' wrote a passphrase that does not decrypt "
			"the private key: %s", s->cmd[0], tls_error_take(reason, sizeof(reason)));
	forget_text(text);
	return p->key ? -ERR_NOMEM : -ERR_INVAL;
}

static int
take_encrypted_key(struct pem_parts *p, const struct pem_block *b, char *why)
{
	struct tls_passphrases *s = p->passphrases;

	if (s && s->cmd) {
		p->key = decrypt_with_known(s, b);
		return p->key ? 0 : decrypt_with_cmd(p, b, why);
	}
	(void)snprintf(why, TLS_WHY_MAX, "%s",
		s ? "the private key has a passphrase: 'ssl-passphrase-cmd' of section global "
		    "names a command that writes it"
		  : "the private key has a passphrase: commands take keys without one, "
		    "'ssl-passphrase-cmd' is for files that the configuration names");
	return -ERR_UNSUPPORTED;
}

/* --- blocks ---------------------------------------------------------------------------------- */

/* The first key counts, as in HAProxy. */
static int
take_key_block(struct pem_parts *p, const struct pem_block *b, char *why)
{
	const unsigned char *at = b->data;

	if (p->key)
		return 0;
	if (strcmp(b->name, PEM_STRING_PKCS8) == 0 || strstr(b->header, "ENCRYPTED"))
		return take_encrypted_key(p, b, why);
	p->key = d2i_AutoPrivateKey(NULL, &at, b->len);
	return p->key ? 0 : bad_block(b, why);
}

static int
take_dh_block(struct pem_parts *p, const struct pem_block *b, char *why)
{
	const unsigned char *at = b->data;
	size_t len = (size_t)b->len;
	OSSL_DECODER_CTX *d;

	if (p->dh)
		return 0;
	d = OSSL_DECODER_CTX_new_for_pkey(&p->dh, "DER", NULL, "DH",
		OSSL_KEYMGMT_SELECT_ALL_PARAMETERS, NULL, NULL);
	if (!d || !OSSL_DECODER_from_data(d, &at, &len))
		p->dh = NULL;
	OSSL_DECODER_CTX_free(d);
	return p->dh ? 0 : bad_block(b, why);
}

static int
take_pem_block(struct pem_parts *p, const struct pem_block *b, char *why)
{
	size_t n = strlen(b->name);
	static const char key[] = "PRIVATE KEY";

	if (strcmp(b->name, PEM_STRING_X509) == 0 || strcmp(b->name, PEM_STRING_X509_OLD) == 0 ||
		strcmp(b->name, PEM_STRING_X509_TRUSTED) == 0)
		return take_cert_block(p, b, why);
	if (n >= sizeof(key) - 1 && strcmp(b->name + n - (sizeof(key) - 1), key) == 0)
		return take_key_block(p, b, why);
	if (strcmp(b->name, PEM_STRING_DHPARAMS) == 0)
		return take_dh_block(p, b, why);
	/* EC PARAMETERS and others */
	return 0;
}

static int
read_pem_blocks(struct pem_parts *p, BIO *bio, char *why)
{
	char reason[TLS_ERROR_MAX];
	unsigned long code;
	int r = 0;

	while (!r) {
		struct pem_block b = { 0 };

		if (!PEM_read_bio(bio, &b.name, &b.header, &b.data, &b.len))
			break;
		r = take_pem_block(p, &b, why);
		free_pem_block(&b);
	}
	code = ERR_peek_last_error();
	if (!r && ERR_GET_REASON(code) != PEM_R_NO_START_LINE && code) {
		(void)snprintf(why, TLS_WHY_MAX, "the PEM text cannot be read: %s",
			tls_error_take(reason, sizeof(reason)));
		r = -ERR_SYNTAX;
	}
	ERR_clear_error();
	return r;
}

static int
read_pem_text(struct pem_parts *p, const struct tls_cert *c, const char *text, size_t len,
	char *why)
{
	BIO *bio = len <= INT32_MAX ? BIO_new_mem_buf(text, (int)len) : NULL;
	int r;

	*p = (struct pem_parts){ .issuers = c->issuers, .passphrases = c->passphrases };
	if (!bio) {
		(void)snprintf(why, TLS_WHY_MAX, "out of memory");
		return -ERR_NOMEM;
	}
	ERR_clear_error();
	r = read_pem_blocks(p, bio, why);
	BIO_free(bio);
	if (r == -ERR_NOMEM)
		(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	if (r)
		free_pem_parts(p);
	return r;
}

int
tls_cert_add_pem(struct tls_cert *c, const char *text, size_t len, char *why)
{
	struct pem_parts p;
	int r = read_pem_text(&p, c, text, len, why);

	if (r)
		return r;
	if (p.leaf) {
		X509_free(c->leaf);
		tls_cert_drop_chain(c);
		X509_free(c->issuer);
		/* They were about the certificate before. */
		tls_cert_drop_ocsp(c);
		c->leaf = p.leaf;
		c->ends = 0;
		c->chain = p.chain;
		c->issuer = NULL;
	}
	if (p.key) {
		EVP_PKEY_free(c->key);
		c->key = p.key;
	}
	if (p.dh) {
		EVP_PKEY_free(c->dh);
		c->dh = p.dh;
	}
	if (p.leaf || p.key || p.dh)
		return 0;
	(void)snprintf(why, TLS_WHY_MAX, "there is no certificate and no key");
	return -ERR_MISSING;
}

int
tls_cert_add_key(struct tls_cert *c, const char *text, size_t len, char *why)
{
	struct pem_parts p;
	int r = read_pem_text(&p, c, text, len, why);

	if (r)
		return r;
	if (!p.key) {
		free_pem_parts(&p);
		(void)snprintf(why, TLS_WHY_MAX, "No Private Key found");
		return -ERR_MISSING;
	}
	EVP_PKEY_free(c->key);
	c->key = p.key;
	p.key = NULL;
	free_pem_parts(&p);
	return 0;
}

int
tls_cert_add_issuer(struct tls_cert *c, const char *text, size_t len, char *why)
{
	struct pem_parts p;
	int r = read_pem_text(&p, c, text, len, why);

	if (r)
		return r;
	if (!p.leaf) {
		free_pem_parts(&p);
		(void)snprintf(why, TLS_WHY_MAX, "there is no certificate");
		return -ERR_MISSING;
	}
	if (c->leaf && X509_check_issued(p.leaf, c->leaf) != X509_V_OK) {
		free_pem_parts(&p);
		(void)snprintf(why, TLS_WHY_MAX, "it is not the certificate's issuer");
		return -ERR_INVAL;
	}
	X509_free(c->issuer);
	c->issuer = p.leaf;
	p.leaf = NULL;
	free_pem_parts(&p);
	return 0;
}
