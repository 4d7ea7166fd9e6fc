/*
 * A certificate with its chain, its private key and what belongs to it, as it was read from files
 * or a command. But for the OCSP response it does not change once it is complete; OpenSSL counts
 * the references of the parts, so that handshakes keep what they use when the certificate is
 * replaced.
 *
 * Main thread, or the first worker while the others are paused; other workers only read.
 */
#ifndef TACIT_TLS_CERT_H
#define TACIT_TLS_CERT_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "cfg/diag.h"

/* Types of OpenSSL among them; stack_st_X509 is STACK_OF(X509). */
struct asn1_string_st;
struct evp_pkey_st;
struct ocsp_cert_id_st;
struct stack_st_X509;
struct cfg_env;
struct sys;
struct tls_issuers;
struct tls_ocsp;
struct x509_st;

#define TLS_ERROR_MAX 256
#define TLS_WHY_MAX 512 /* size of a reason */

/* The kind of its key, which decides which clients can use it. */
enum tls_key_kind { TLS_KEY_RSA, TLS_KEY_ECDSA, TLS_KEY_OTHER };

/* `ocsp-update`: the setting of a certificate at one place. */
enum tls_ocsp_update { TLS_OCSP_UNSET, TLS_OCSP_ON, TLS_OCSP_OFF };

/* Bytes from mem_alloc(). */
struct tls_bytes {
	unsigned char *p;
	size_t len;
};

struct tls_cert {
	unsigned int refs;
	enum tls_key_kind kind;
	struct x509_st *leaf;
	int64_t ends;             /* of the leaf, as tls_first_cert_end() has read it; 0: not yet */
	struct stack_st_X509 *chain; /* of its file; may be NULL */
	const struct tls_chains *chains; /* that it may get another one of; NULL: none */
	const struct tls_chain *found; /* without one of its own; NULL: none */
	struct stack_st_X509 *kept; /* what is sent of either; NULL: all */
	struct evp_pkey_st *key;
	struct evp_pkey_st *dh;   /* DH parameters; NULL: none */
	struct x509_st *issuer;   /* of the leaf, for OCSP; NULL: unknown */
	int wants_ocsp;           /* there is an .ocsp file, which may be empty */
	struct tls_bytes ocsp_new; /* of that file or a command, not checked yet; none: len 0 */
	struct ocsp_cert_id_st *ocsp_id; /* of the certificate; NULL: no response is wanted */
	struct tls_ocsp *ocsp;    /* what is stapled; changes while the workers are paused. NULL:
				   * none */
	struct tls_bytes sctl;    /* signed certificate timestamps (RFC 6962) */
	struct tls_issuers *issuers; /* while files are read: what chains share; NULL: nothing */
	struct tls_passphrases *passphrases; /* while files are read; NULL: none are asked for */
};

/* An empty one with one reference, or NULL. */
struct tls_cert *tls_cert_new(void) must_check;
struct tls_cert *tls_cert_ref(struct tls_cert *c);
/* Drops a reference; the last one frees it, and cleanses the key. NULL is allowed. */
void tls_cert_put(struct tls_cert *c);
/* An independent copy of what has been read so far, with one reference, or NULL. */
struct tls_cert *tls_cert_copy(const struct tls_cert *c) must_check;

/*
 * Takes what PEM text has: the first certificate is the leaf and others are its chain, in any order
 * with the key and DH parameters. Replaces those parts that the text has. A key with a passphrase
 * is an error unless c->passphrases finds it. 0, or a negative reason with why (TLS_WHY_MAX).
 */
int tls_cert_add_pem(struct tls_cert *c, const char *text, size_t len, char *why) must_check;
/* The key alone, from PEM; the same. */
int tls_cert_add_key(struct tls_cert *c, const char *text, size_t len, char *why) must_check;
/* The issuer's certificate, from PEM. */
int tls_cert_add_issuer(struct tls_cert *c, const char *text, size_t len, char *why) must_check;
/* A signed certificate timestamp list; its syntax is checked. */
int tls_cert_add_sctl(struct tls_cert *c, const void *p, size_t len, char *why) must_check;
/* An OCSP response in DER, which may be empty, for tls_cert_check_ocsp(). */
int tls_cert_add_ocsp(struct tls_cert *c, const void *p, size_t len, char *why) must_check;
/*
 * Takes that response if it is one about this certificate. -ERR_MISSING: there is no issuer, so
 * that the certificate has no id. Other reasons: the response was dropped, and the one before it
 * stays if it is about the same certificate.
 */
int tls_cert_check_ocsp(struct tls_cert *c, char *why) must_check;
/* Responses are wanted, though there is no file .ocsp. 0, or -ERR_MISSING as above. */
int tls_cert_want_ocsp(struct tls_cert *c, char *why) must_check;
/* The certificate's id for OCSP, to be freed with tls_ocsp_id_free(). NULL: the issuer is
 * unknown. */
struct ocsp_cert_id_st *tls_cert_ocsp_id(const struct tls_cert *c) must_check;
/* Forgets all that is about OCSP. */
void tls_cert_drop_ocsp(struct tls_cert *c);
void tls_cert_drop_chain(struct tls_cert *c);
/* The certificates that belong to it, and those of them that are sent. NULL: none. */
struct stack_st_X509 *tls_cert_chain(const struct tls_cert *c);
struct stack_st_X509 *tls_cert_sent_chain(const struct tls_cert *c);
/* Looks for a chain, unless it has one, and then for the issuer, unless there is one. 0 or
 * -ERR_NOMEM. */
int tls_cert_find_issuer(struct tls_cert *c) must_check;
/* Checks that key and certificate are there and belong to each other; finds chain and issuer. */
int tls_cert_complete(struct tls_cert *c, char *why) must_check;

/* The reason of the first error in the queue, "no reason given" if there is none; empties the
 * queue. Returns out. */
const char *tls_error_take(char *out, size_t size);

/*
 * The passphrases of private keys: `ssl-passphrase-cmd`, which prints them, and those that it has
 * printed. On the main thread, while the files of certificates are read.
 */
struct tls_passphrases {
	char **cmd;          /* its words, the last one NULL; NULL: there is no command */
	char **known;        /* in the order in which they were found */
	unsigned int n_known, cap;
	struct sys *sys;
	const struct cfg_env *env;
	const char *path;    /* the file that is read */
};

/* Cleanses and frees all of it, and leaves no command. */
void tls_passphrases_clear(struct tls_passphrases *s);

/*
 * Chains that certificates without one in their own file get: the files of `issuers-chain-path`.
 * Read on the main thread when the configuration is known; fixed from then on.
 */

/* A file: the first certificate and those that follow it. */
struct tls_chain {
	struct list link; /* in tls_chains.all */
	char *path;
	struct stack_st_X509 *certs;
};

struct tls_chains {
	char *dir;              /* issuers-chain-path; NULL: none */
	struct cfg_where where; /* of that line */
	int skip_self_issued;   /* ssl-skip-self-issued-ca: these are not sent */
	struct list all;        /* by the bytes of their paths */
};

/* Removes all chains, and takes another one, whose certificates it then owns: 0 or -ERR_NOMEM. */
void tls_chains_clear(struct tls_chains *t);
/* The chain whose first certificate has this Subject Key Identifier; NULL: none. */
const struct tls_chain *tls_chains_find_key(const struct tls_chains *t,
	const struct asn1_string_st *id);

#endif
