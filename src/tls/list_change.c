/* Lines of a crt-list that are added and removed at run time. First worker. */
#include "tls/list_change.h"

#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "tls/ca.h"
#include "tls/ocsp_enable.h"

int
tls_bind_names_list(const struct tls_bind *b, const struct tls_crt_list *list)
{
	list_each(it, &b->sources)
		if (list_entry(it, const struct tls_source, link)->list == list)
			return 1;
	return 0;
}

/* A file that is known; no file is opened at run time. 0 or a negative reason. */
static int
find_known(struct tls_conf *conf, enum tls_ca_kind kind, const char *name, struct tls_ca **out,
	char *why)
{
	char *path;

	if (!name)
		return 0;
	path = tls_path(name[0] == '@' ? NULL : conf->files.ca_base, name);
	*out = path ? tls_ca_find(&conf->cas, kind, path) : NULL;
	if (*out && tls_ca_count(*out) > 0)
		(*out)->uses++;
	else
		*out = NULL;
	if (!*out)
		(void)snprintf(why, TLS_WHY_MAX, "'%s' : unable to load %.400s",
			kind == TLS_CA_FILE ? "ca-file" : "crl-file", path ? path : name);
	mem_free(path);
	return *out ? 0 : -ERR_MISSING;
}

/* Finds the files that verify clients for a variant that a line has brought. */
static int
find_trusted(struct tls_variant *v, struct tls_conf *conf, char *why)
{
	const struct tls_settings *set = &v->set;
	int r = find_known(conf, TLS_CA_FILE, set->ca_file, &v->ca, why);

	if (!r)
		r = find_known(conf, TLS_CA_FILE, set->ca_verify_file, &v->ca_verify, why);
	if (!r)
		r = find_known(conf, TLS_CRL_FILE, set->crl_file, &v->crl, why);
	if (r || (set->verify != TLS_VERIFY_OPTIONAL && set->verify != TLS_VERIFY_REQUIRED))
		return r;
	if (!v->ca && !v->ca_verify) {
		(void)snprintf(why, TLS_WHY_MAX, "verify is enabled but no CA file is specified");
		return -ERR_MISSING;
	}
	v->trusted = tls_ca_make_store(v->ca, v->ca_verify, v->crl);
	return v->trusted ? 0 : -ERR_NOMEM;
}

int
tls_list_add_line(struct tls_bind *b, struct tls_conf *conf, struct tls_crt_list *list,
	struct tls_entry *e, const struct tls_list_line *from, char *why)
{
	struct tls_line *l = tls_bind_add_line(b, e);
	unsigned int before = b->n_variants;
	int r;

	(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	if (!l)
		return -ERR_NOMEM;
	l->number = list->last;
	l->list = list;
	if (tls_line_fill(l, b, list, from) < 0)
		return -ERR_NOMEM;
	if (l->variant->is_idle || b->n_variants > before) {
		l->variant->is_stale = l->variant->is_idle;
		l->variant->is_idle = 0;
		r = find_trusted(l->variant, conf, why);
		if (r < 0)
			return r;
	}
	/* Requests to responders are prepared at the start. */
	if (from->own.ocsp_update == TLS_OCSP_ON && !conf->ocsp.is_wanted) {
		(void)snprintf(why, TLS_WHY_MAX,
			"'ocsp-update' : no certificate of the configuration is updated");
		return -ERR_INVAL;
	}
	return tls_ocsp_enable(conf, l, &from->own, why);
}

void
tls_list_remove_line(struct tls_bind *b, const struct tls_crt_list *list, unsigned int number,
	const struct tls_entry *e)
{
	list_each_safe(it, &e->lines) {
		struct tls_line *l = list_entry(it, struct tls_line, same);

		if (l->bind == b && l->list == list && l->number == number)
			tls_line_free(l);
	}
	/* Drop contexts prepared by a failed change. */
	if (b->n_acceptors)
		tls_bind_drop_variants(b, b->acceptor[0].n_ctx);
	tls_bind_rest_variants(b);
}
