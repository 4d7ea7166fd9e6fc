/*
 * Lines of a crt-list: a certificate, options in brackets, and names.
 *
 *	cert.pem [alpn h2,http/1.1 ssl-min-ver TLSv1.3] *.example.org !secret.example.org
 */
#ifndef TACIT_TLS_CRT_LIST_H
#define TACIT_TLS_CRT_LIST_H

#include "base/compiler.h"
#include "base/list.h"
#include "cfg/diag.h"
#include "tls/cert_files.h"
#include "tls/settings.h"

struct sys;
struct tls_conf;
/* A line `load`. */
struct tls_load {
	struct list link;
	struct tls_cert_paths path;  /* as written */
	char *alias;                 /* NULL: it is called by its crt */
	enum tls_ocsp_update ocsp_update;
	struct cfg_where where;
};

struct tls_crt_store {
	struct list link;
	char *name;                  /* "": of the section without a name */
	char *crt_base, *key_base;   /* NULL: those of global */
	struct list loads;
};

enum { TLS_LIST_WORDS_MAX = 1024 };

struct tls_list_line {
	char *path;               /* NULL: there is no certificate on the line */
	struct tls_settings own;
	int has_options;          /* there are brackets */
	char **filter;            /* into the text */
	unsigned int n_filters;
	char *words[TLS_LIST_WORDS_MAX];
};

/* Parses one line, which is changed and must outlive *out. 0, or a negative reason with why
 * (TLS_WHY_MAX); in both cases own has to be freed. */
int tls_list_line_parse(char *text, struct tls_list_line *out, char *why) must_check;
/* Its options in HAProxy's order, from mem_alloc(); ca_base: where files of CAs are, or NULL. NULL
 * when memory is out. */
char *tls_list_options(const struct tls_settings *own, const char *ca_base) must_check;

/* The store of this name; NULL: there is none yet. */
struct tls_crt_store *tls_crt_store_find(const struct list *stores, const char *name);
/* NULL when memory is out. */
struct tls_crt_store *tls_crt_store_add(struct list *stores, const char *name) must_check;
/* A load without files; the store owns it. NULL when memory is out. */
struct tls_load *tls_crt_store_add_load(struct tls_crt_store *s) must_check;
void tls_crt_stores_free(struct list *stores);
/* Reads the certificates of all stores under their names: "@store/alias", "@store/crt", or in the
 * store without a name the path of a crt without an alias. 0, or -1 after errors were reported. */
int tls_crt_stores_load(struct tls_conf *conf, struct sys *sys, struct cfg_diag *d) must_check;

#endif
