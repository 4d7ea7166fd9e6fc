/*
 * Sections crt-store: certificates with their files and the names that other lines call them by
 * (HAProxy 3, manual 11). Main thread, while the configuration is read.
 */
#ifndef TACIT_TLS_CRT_STORE_H
#define TACIT_TLS_CRT_STORE_H

#include "base/compiler.h"
#include "base/list.h"
#include "cfg/diag.h"
#include "tls/cert_files.h"

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
