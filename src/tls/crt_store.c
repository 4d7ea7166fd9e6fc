/* Sections crt-store. Main thread, while the configuration is read. */
#include "tls/crt_store.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/ocsp_enable.h"
#include "tls/tls_conf.h"

struct tls_crt_store *
tls_crt_store_find(const struct list *stores, const char *name)
{
	list_each(it, stores) {
		struct tls_crt_store *s = list_entry(it, struct tls_crt_store, link);

		if (strcmp(s->name, name) == 0)
			return s;
	}
	return NULL;
}

struct tls_crt_store *
tls_crt_store_add(struct list *stores, const char *name)
{
	struct tls_crt_store *s = mem_zalloc(sizeof(*s));

	if (s)
		s->name = mem_strdup(name);
	if (!s || !s->name) {
		mem_free(s);
		return NULL;
	}
	list_init(&s->link);
	list_init(&s->loads);
	list_append(stores, &s->link);
	return s;
}

struct tls_load *
tls_crt_store_add_load(struct tls_crt_store *s)
{
	struct tls_load *l = mem_zalloc(sizeof(*l));

	if (!l)
		return NULL;
	list_init(&l->link);
	list_append(&s->loads, &l->link);
	return l;
}

static void
free_paths(struct tls_cert_paths *p)
{
	for (unsigned int i = 0; i < TLS_CERT_FILES; i++)
		mem_free(p->of[i]);
}

void
tls_crt_stores_free(struct list *stores)
{
	list_each_safe(it, stores) {
		struct tls_crt_store *s = list_entry(it, struct tls_crt_store, link);

		list_each_safe(lt, &s->loads) {
			struct tls_load *l = list_entry(lt, struct tls_load, link);

			free_paths(&l->path);
			mem_free(l->alias);
			mem_free(l);
		}
		mem_free(s->name);
		mem_free(s->crt_base);
		mem_free(s->key_base);
		mem_free(s);
	}
	list_init(stores);
}

/* The name of a certificate, from mem_alloc(), or NULL. */
static char *
make_name(const struct tls_crt_store *s, const struct tls_load *l, const char *crt)
{
	const char *word = l->alias ? l->alias : l->path.of[TLS_CERT_CRT];
	size_t n = strlen(s->name) + strlen(word) + 3;
	char *name;

	if (!s->name[0] && !l->alias)
		return mem_strdup(crt);
	name = mem_alloc(n);
	if (name)
		(void)snprintf(name, n, "@%s/%s", s->name, word);
	return name;
}

/* Finds the paths of the files. 0 or -ERR_NOMEM. */
static int
find_files(const struct tls_conf *conf, const struct tls_crt_store *s, const struct tls_load *l,
	struct tls_cert_paths *out)
{
	const char *crt_base = s->crt_base ? s->crt_base : conf->files.crt_base;
	const char *key_base = s->key_base ? s->key_base : conf->files.key_base;

	memset(out, 0, sizeof(*out));
	for (unsigned int i = 0; i < TLS_CERT_FILES; i++) {
		if (!l->path.of[i])
			continue;
		out->of[i] = tls_path(i == TLS_CERT_KEY ? key_base : crt_base, l->path.of[i]);
		if (!out->of[i])
			return -ERR_NOMEM;
	}
	return 0;
}

/* 0, or a negative reason with why. */
static int
read_load(struct tls_conf *conf, struct sys *sys, const char *name,
	const struct tls_cert_paths *files, enum tls_ocsp_update update, char *why, char *warning)
{
	struct tls_entry *e;
	struct tls_cert *c;
	int r;

	warning[0] = '\0';
	if (tls_store_find(&conf->certs, name)) {
		(void)snprintf(
			why, TLS_WHY_MAX, "the certificate '%.300s' is already defined", name);
		return -ERR_EXISTS;
	}
	r = tls_cert_read(sys, &conf->files, files, &c, why, warning);
	if (r)
		return r;
	e = tls_store_add(&conf->certs, name);
	if (!e) {
		tls_cert_put(c);
		return -ERR_NOMEM;
	}
	tls_entry_set(e, c);
	return tls_ocsp_enable_load(conf, e, update, why);
}

static int
load_one(struct tls_conf *conf, struct sys *sys, const struct tls_crt_store *s,
	const struct tls_load *l, struct cfg_diag *d)
{
	char why[TLS_WHY_MAX] = "out of memory", warning[TLS_WHY_MAX] = "", *name = NULL;
	struct tls_cert_paths files;
	int r = find_files(conf, s, l, &files);

	if (!r) {
		name = make_name(s, l, files.of[TLS_CERT_CRT]);
		r = name ? read_load(conf, sys, name, &files, l->ocsp_update, why, warning)
			 : -ERR_NOMEM;
	}
	mem_free(name);
	free_paths(&files);
	if (r)
		cfg_diag_add(d, CFG_ALERT, &l->where, "'load' : %s.", why);
	else if (warning[0])
		cfg_diag_add(d, CFG_WARNING, &l->where, "'load' : %s.", warning);
	return r ? -1 : 0;
}

int
tls_crt_stores_load(struct tls_conf *conf, struct sys *sys, struct cfg_diag *d)
{
	int bad = 0;

	list_each(it, &conf->crt_stores) {
		const struct tls_crt_store *s = list_entry(it, const struct tls_crt_store, link);

		list_each(lt, &s->loads)
			bad |= load_one(conf, sys, s,
				list_entry(lt, const struct tls_load, link), d);
	}
	return bad;
}
