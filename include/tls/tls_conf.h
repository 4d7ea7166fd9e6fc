/* The TLS settings of `global`, and the files that have been read. One per process. Main thread, or
 * the first worker while the others are paused; other workers only read. */
#ifndef TACIT_TLS_TLS_CONF_H
#define TACIT_TLS_TLS_CONF_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "net/addr.h"
#include "tls/ca.h"
#include "tls/cert_files.h"
#include "tls/cert.h"
#include "tls/issuers.h"
#include "tls/settings.h"
#include "tls/store.h"
#include "base/sbuf.h"

struct evp_cipher_st;
struct evp_pkey_st;
struct ssl_ctx_st;
struct sys;
struct tls_sessions;

enum {
	TLS_CACHE_DEFAULT = 20000,
	TLS_LIFETIME_DEFAULT_S = 300,
	TLS_KEY_UPDATES_DEFAULT = 100
};

enum {
	TLS_OCSP_MIN_S = 300,
	TLS_OCSP_MAX_S = 3600
};

/* Updates of OCSP responses. */
struct tls_ocsp_conf {
	enum tls_ocsp_update mode;      /* of lines without the setting; UNSET: off */
	uint32_t min_s, max_s;          /* between two updates of a response */
	int off;                        /* overrides all other settings */
	struct addr proxy;              /* that requests go to; len 0: to responders */
	char *hosts;                    /* text of the file of hosts at the start; NULL: none */
	int is_wanted;                  /* there is a certificate that is updated */
};

struct tls_conf {
	struct tls_file_rules files;
	struct tls_settings bind_defaults, server_defaults;
	int server_verify_none;         /* ssl-server-verify none */
	char *dh_file;                  /* ssl-dh-param-file; NULL: none */
	int default_dh;                 /* bits; 0: none */
	struct evp_pkey_st *dh;         /* made of either */
	int cache_size;                 /* sessions; 0: none */
	uint32_t lifetime_s;
	int capture_size;               /* bytes of a client's hello; 0: nothing is kept */
	int keylog;                     /* secrets are kept */
	int maxrecord;                  /* bytes; 0: OpenSSL's */
	int key_updates;                /* per second of a connection; 0: any number */
	struct tls_ocsp_conf ocsp;
	struct tls_passphrases passphrases; /* files.passphrases */
	struct tls_providers providers;
	struct cfg_where algorithms;    /* of a line that chooses them; file NULL: none does */
	struct tls_store certs;
	struct tls_issuers issuers;     /* files.issuers */
	struct tls_chains chains;       /* files.chains */
	struct tls_ca_files cas;
	struct list crt_lists;          /* struct tls_crt_list */
	struct list crt_stores;         /* struct tls_crt_store */
	/* NULL until tls_conf_finish(); contexts keep the sessions of bind lines apart. */
	struct tls_tickets *tickets;    /* keys of bind lines without a file of them */
	struct tls_sessions *sessions;  /* also NULL: none are kept */
	struct list ticket_files;       /* struct tls_tickets, each file once */
};

/* The built-in values. */
void tls_conf_init(struct tls_conf *t);
/* When everything was read, and something uses TLS: ticket keys, sessions and DH parameters. 0, or
 * a negative reason with why (TLS_WHY_MAX). */
int tls_conf_finish(struct tls_conf *t, struct sys *sys, char *why) must_check;
/* Reads the files of the directory of chains. One that has no chain is reported and left out. 0, or
 * -1 after a message. */
int tls_chains_read(struct tls_chains *t, struct sys *sys, struct cfg_diag *d) must_check;
/* No listener and no server may use it any more. Cleanses the keys. */
void tls_conf_fini(struct tls_conf *t);

/*
 * Keys of session tickets (RFC 5077, 4): of a bind line's file, or those that all other bind lines
 * share. There are three: the ultimate one is for others that have rotated before us, the
 * penultimate one encrypts, and all of them decrypt. Workers read them without a lock.
 *
 * Main thread, or the first worker while the others are paused. The keys lie in memory of their
 * own that is not part of a core, and are cleansed.
 */

enum {
	TLS_TICKETS_NO = 3,
	TLS_TICKET_NAME = 16,    /* bytes of a key that a ticket begins with */
	TLS_TICKET_KEY_128 = 48, /* name, key of the cipher, key of the MAC */
	TLS_TICKET_KEY_256 = 80, /* name, key of the MAC, key of the cipher */
	/* A multiple of the size of a page anywhere. */
	TLS_SECRET_SIZE = 65536
};

struct tls_ticket_keys {
	_Atomic uint32_t version; /* 0: there are none; changes with them */
	uint64_t renewed_ms;      /* the loop's time at the last rotation */
	unsigned char key[TLS_TICKETS_NO][TLS_TICKET_KEY_256]; /* the oldest first */
};

struct tls_tickets {
	struct list link;
	char *file;               /* NULL: they are no file's */
	unsigned int id;
	size_t key_len;
	struct evp_cipher_st *cipher;
	struct tls_ticket_keys *keys;
	struct tls_ticket_keys *kept; /* a copy, which outlives the process; NULL: none */
};

/* Reads the keys of a file: a line for each, in base64, the last three count. NULL with why
 * (TLS_WHY_MAX). */
struct tls_tickets *tls_tickets_read(struct sys *sys, const char *path, char *why) must_check;

/* A random key becomes the ultimate one. 0, or -ERR_SYS and nothing has changed. */
int tls_tickets_rotate(struct tls_tickets *t, uint64_t now_ms) must_check;
/* The same with a key in base64. 0, -ERR_SYNTAX: it is none, -ERR_RANGE: it has another length than
 * the others. */
int tls_tickets_push(struct tls_tickets *t, const char *base64) must_check;
/* Takes the keys of a text that is such a file, of the same length. 0, or a negative reason with
 * why (TLS_WHY_MAX), and nothing has changed. */
int tls_tickets_replace(struct tls_tickets *t, const char *text, char *why) must_check;
/* Key i in base64. */
void tls_tickets_show(const struct tls_tickets *t, unsigned int i, struct sbuf *out);

/* Copies all later changes to `kept`, which has TLS_SECRET_SIZE bytes to the next page. */
void tls_tickets_keep(struct tls_tickets *t, struct sys *sys, struct tls_ticket_keys *kept);
/* Takes keys that another process has saved, and may be changing. 1, or 0: they cannot be used. */
int tls_tickets_restore(struct tls_tickets *t, const struct tls_ticket_keys *kept);

#endif
