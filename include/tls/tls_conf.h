/* The TLS settings of `global`, and the files that have been read. One per process. Main thread, or
 * the first worker while the others are paused; other workers only read. */
#ifndef TACIT_TLS_TLS_CONF_H
#define TACIT_TLS_TLS_CONF_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "net/addr.h"
#include "tls/ca.h"
#include "tls/cert_files.h"
#include "tls/chains.h"
#include "tls/issuers.h"
#include "tls/settings.h"
#include "tls/store.h"

enum {
	TLS_CACHE_DEFAULT = 20000,
	TLS_LIFETIME_DEFAULT_S = 300
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

struct evp_pkey_st;
struct sys;
struct tls_sessions;
struct tls_tickets;

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
	struct tls_ocsp_conf ocsp;
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
/* The keys of this file, which is read if it is new. NULL with why (TLS_WHY_MAX). */
struct tls_tickets *tls_conf_ticket_file(struct tls_conf *t, struct sys *sys, const char *path,
	char *why) must_check;
/* Reads the files of the directory of chains. One that has no chain is reported and left out. 0, or
 * -1 after a message. */
int tls_chains_read(struct tls_chains *t, struct sys *sys, struct cfg_diag *d) must_check;
/* No listener and no server may use it any more. Cleanses the keys. */
void tls_conf_fini(struct tls_conf *t);

#endif
