/*
 * All certificates of the process by name, each parsed once, whatever the number of bind lines and
 * workers. A name is the path of the file, or that of `new ssl cert`.
 *
 * Main thread, or the first worker while the others are paused; other workers only read.
 */
#ifndef TACIT_TLS_STORE_H
#define TACIT_TLS_STORE_H

#include "base/compiler.h"
#include "base/list.h"
#include "base/name_index.h"
#include "tls/cert.h"
#include "tls/cert_files.h"

enum tls_part { TLS_PART_PEM, TLS_PART_KEY, TLS_PART_ISSUER, TLS_PART_SCTL, TLS_PART_OCSP };

struct ocsp_job;

/* A name. It is never freed before the store, so that lines may point to it. */
struct tls_entry {
	struct list link;         /* in tls_store.entries, in the order of names */
	char *name;
	struct tls_cert *cert;    /* NULL: none yet (`new ssl cert`), or removed */
	struct tls_cert *next;    /* that is about to replace it; handshakes do not read it */
	int is_there;             /* 0: removed by `del ssl cert` */
	struct list lines;        /* of bind lines: struct tls_line, by `same` */
	unsigned int uses;        /* lines that name it: it cannot be removed */
	unsigned int binds;       /* those that are of bind lines */
	enum tls_ocsp_update load_ocsp; /* of the line `load` of its crt-store */
	int updates_ocsp;         /* ocsp-update: its OCSP response is asked for */
	struct ocsp_job *job;     /* of app/process; NULL: none */
};

struct tls_store {
	struct list entries;
	struct name_index index;
	/* The transaction of `set ssl cert`; entry NULL: none. */
	struct {
		struct tls_entry *entry;
		struct tls_cert *cert;
	} change;
};

void tls_store_init(struct tls_store *s);
void tls_store_fini(struct tls_store *s);
/* NULL: unknown, or removed. */
struct tls_entry *tls_store_find(const struct tls_store *s, const char *name);
/* An entry without a certificate, also for a name that was removed. NULL when memory is out. */
struct tls_entry *tls_store_add(struct tls_store *s, const char *name) must_check;
/* The entry of a file, which is read if it is new. 0, or a negative reason with why; warning as
 * tls_cert_read(). */
int tls_store_load(struct tls_store *s, struct sys *sys, const struct tls_file_rules *rules,
	const char *path, struct tls_entry **out, char *why, char *warning) must_check;
/* The certificate that it will have when a change is in place. */
static inline const struct tls_cert *
tls_entry_latest(const struct tls_entry *e)
{
	return e->next ? e->next : e->cert;
}
/* The certificate from now on; takes over the reference. */
void tls_entry_set(struct tls_entry *e, struct tls_cert *c);

/* The entry that a name is a part of, and which; NULL: unknown. del_ext: the part's ending may
 * stand in place of ".crt" (ssl-load-extra-del-ext). */
struct tls_entry *tls_part_find(const struct tls_store *s, const char *name, int del_ext,
	enum tls_part *part);
/* Replaces the part: PEM, or base64 of SCTL and OCSP. 0, or a negative reason with why
 * (TLS_WHY_MAX). */
int tls_part_set(struct tls_cert *c, enum tls_part part, const char *text, char *why) must_check;

#endif
