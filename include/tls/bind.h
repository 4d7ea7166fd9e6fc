/*
 * TLS of a bind line: its options, the certificates, and for each worker the contexts
 * that its connections are accepted with.
 *
 * Main thread until the workers run, then the first worker while the others are paused; handshakes
 * of all workers read.
 */
#ifndef TACIT_TLS_BIND_H
#define TACIT_TLS_BIND_H

#include "base/compiler.h"
#include "base/list.h"
#include "cfg/diag.h"
#include "tls/change.h"
#include "tls/crt_list.h"
#include "tls/names.h"
#include "tls/settings.h"
#include "tls/store.h"
#include "tls/tls_conf.h"
#include "tls/transport.h"

/* A crt-list. Never freed before the set. */
struct tls_crt_list {
	struct list link;         /* in the order of names */
	char *name;
	int is_directory;
	unsigned int last;        /* number of its last line */
};

struct sys;
struct tls_bind_change;
struct tls_conf;
struct tls_crt_list;
struct tls_io;
struct tls_tickets;
struct x509_store_st;

enum tls_source_kind { TLS_SOURCE_CRT, TLS_SOURCE_DEFAULT_CRT, TLS_SOURCE_LIST };

/* `crt`, `default-crt` or `crt-list`, as written. */
struct tls_source {
	struct list link;
	enum tls_source_kind kind;
	char *path;
	struct tls_crt_list *list; /* once it is read: of a crt-list or a directory */
	struct cfg_where where;
};

/* A certificate of a bind line. */
struct tls_line {
	struct list link;         /* in tls_bind.lines */
	struct list same;         /* in tls_entry.lines */
	struct tls_bind *bind;
	struct tls_entry *entry;
	unsigned int order;       /* in tls_bind.lines: numbers grow */
	char **filter;            /* of a crt-list; none: the certificate's names */
	unsigned int n_filters;
	struct tls_variant *variant; /* its settings, of the bind line */
	int is_default;           /* for clients that ask for no name, or for an unknown one */
	int is_known;             /* it is in the table of names */
	enum tls_ocsp_update ocsp_update; /* its own setting, or its bind line's */
	int is_leaving;           /* a change that is prepared is without it */
	struct tls_crt_list *list; /* where it stands; NULL: on the bind line itself */
	unsigned int number;      /* of the line there */
	char *options;            /* as written there between brackets; NULL: none */
};

/* Settings that connections are accepted with: those of the bind line, then those of lines of a
 * crt-list. */
struct tls_variant {
	unsigned int index;            /* in tls_bind.variant, and of its contexts */
	struct tls_settings set;
	struct x509_store_st *trusted; /* NULL: nothing is verified */
	struct x509_store_st *next;    /* that is about to replace it */
	struct tls_ca *ca, *ca_verify, *crl;
	unsigned int n_lines;
	int is_idle;                   /* its last line has left, and with it what it trusted */
	int is_stale;                  /* its contexts must be rebuilt: it is used again */
};

/* The contexts that one worker accepts with. */
struct tls_acceptor {
	struct tls_bind *bind;
	struct tls_maker maker;
	struct ssl_ctx_st **ctx;  /* one per variant */
	unsigned int n_ctx;
};

struct tls_bind {
	int is_on;                /* `ssl` */
	struct tls_settings set;
	struct list sources;
	struct list lines;        /* handshakes search names instead */
	unsigned int last_order;  /* of a line */
	struct tls_names names;
	struct tls_variant **variant; /* handshakes use that of a line instead */
	unsigned int n_variants;
	struct tls_acceptor *acceptor; /* one per worker */
	unsigned int n_acceptors;
	const struct tls_conf *conf;
	char *ticket_file;        /* `tls-ticket-keys`; NULL: none */
	struct tls_tickets *tickets;
	struct cfg_where where;
	char *id; /* the proxy's name: sessions are resumed on lines of the same id only */
	struct tls_bind_change *change; /* that is prepared (tls_bind_prepare); NULL: none */
};

/* NULL when memory is out. */
struct tls_bind *tls_bind_new(void) must_check;
/* Connections that its makers made may live on. */
void tls_bind_free(struct tls_bind **b);

/* The owner of a bind line, for messages and choices. */
struct tls_bind_use {
	const char *proxy, *address; /* for messages; the proxy's name is the id, too */
};

/* Reads all files that it names. 0, or -1 after the errors were reported. */
int tls_bind_load(struct tls_bind *b, struct tls_conf *conf, const struct tls_bind_use *use,
	struct sys *sys, struct cfg_diag *d) must_check;
/* Checks that contexts can be made of it. 0, or a negative reason with why (TLS_WHY_MAX). */
int tls_bind_check(struct tls_bind *b, char *why) must_check;
/* Makes the contexts of n workers, io[0..n-1] theirs. 0 or a negative reason. */
int tls_bind_open(struct tls_bind *b, struct tls_io *const *io, unsigned int n) must_check;
/* The maker of the transports of a worker's connections; NULL: it does not accept TLS. */
const struct xprt_maker *tls_bind_maker(const struct tls_bind *b, unsigned int worker);
/* A line for an entry, at the end; the entry is used from now on. NULL when memory is out. */
struct tls_line *tls_bind_add_line(struct tls_bind *b, struct tls_entry *e) must_check;
/* The settings of a line from now on. */
void tls_line_use(struct tls_line *l, struct tls_variant *v);
/* The variant with these settings, which is new if there is none. NULL when memory is out. */
struct tls_variant *tls_bind_variant(struct tls_bind *b, const struct tls_settings *own) must_check;

/* NULL: unknown. A directory may be written with '/' at its end. */
struct tls_crt_list *tls_crt_lists_find_path(const struct list *lists, const char *path);
/* The list of this name, which is new if there is none. NULL when memory is out. */
struct tls_crt_list *tls_crt_lists_take(struct list *lists, const char *name) must_check;
void tls_crt_lists_free(struct list *lists);
/* Copies the fields of a line of a list. 0 or -ERR_NOMEM. */
int tls_line_fill(struct tls_line *l, struct tls_bind *b, struct tls_crt_list *list,
	const struct tls_list_line *from) must_check;

/*
 * A change of a bind line that serves:
 *
 *	r = tls_bind_prepare(b, &change, &uses, why);
 *	(all workers paused) tls_bind_exchange(b);
 *	tls_bind_settle(b);
 *
 * Handshakes that have begun keep what they have. First worker.
 */

/* Makes what the change concerns, beside what is in use; *uses grows by the number of lines that it
 * concerns. 0, or a negative reason with why (TLS_WHY_MAX): nothing has changed, and it is to be
 * settled. */
int tls_bind_prepare(struct tls_bind *b, const struct tls_change *change, unsigned int *uses,
	char *why) must_check;
/* Puts it in place, if there is any. Fails never. */
void tls_bind_exchange(struct tls_bind *b);
/* Frees what is not in place. */
void tls_bind_settle(struct tls_bind *b);

int tls_bind_names_list(const struct tls_bind *b, const struct tls_crt_list *list);
/* The line is that of the list's number `last`. Files that it names must have been read for the
 * configuration or made by a command. 0, or a negative reason with why (TLS_WHY_MAX). */
int tls_list_add_line(struct tls_bind *b, struct tls_conf *conf, struct tls_crt_list *list,
	struct tls_entry *e, const struct tls_list_line *from, char *why) must_check;
/* Frees the lines of this number of the list. */
void tls_list_remove_line(struct tls_bind *b, const struct tls_crt_list *list, unsigned int number,
	const struct tls_entry *e);

#endif
