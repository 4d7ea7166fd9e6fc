/* The files of a bind line: certificates, lists of them, and what clients are verified with. Main
 * thread, while the configuration is read. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tls/bind.h"
#include "tls/cert_files.h"
#include "tls/context.h"
#include "tls/crt_list.h"
#include "tls/names.h"
#include "tls/ocsp_responder.h"
#include "tls/openssl.h"
#include "tls/tls_conf.h"

/* The reason why a line is a default one. */
enum { DEFAULT_FIRST = 1, DEFAULT_EXPLICIT };

struct loading {
	struct tls_bind *b;
	struct tls_conf *conf;
	struct sys *sys;
	struct cfg_diag *d;
	const struct cfg_where *where;
	/* The line of the crt-list that is read; NULL: none. */
	const struct tls_list_line *line;
	struct tls_crt_list *list; /* NULL: the bind line itself */
	unsigned int number;
	int is_default;
	int bad;
	SSL **trial;          /* of each variant; NULL: its settings were refused */
	unsigned int n_trials;
};

static void
load_failed(struct loading *g, const char *why)
{
	cfg_diag_add(g->d, CFG_ALERT, g->where, "%s.", why);
	g->bad = 1;
}

/* Adds the connection on which certificates of a new variant are tried. 0 or -ERR_NOMEM. */
static int
add_trial(struct loading *g)
{
	char why[TLS_WHY_MAX];
	SSL **grown = mem_resize(g->trial, g->n_trials + 1, sizeof(SSL *));

	if (!grown)
		return -ERR_NOMEM;
	g->trial = grown;
	grown[g->n_trials] = tls_context_trial(&g->b->variant[g->n_trials]->set, why);
	if (!grown[g->n_trials++])
		load_failed(g, why);
	return 0;
}

/* OpenSSL refuses some certificates (a weak key, a weak signature): that is found at the start, not
 * when the first client asks for one. 0 or a negative reason, which has been reported. */
static int
try_cert(struct loading *g, const struct tls_line *l)
{
	const struct tls_variant *v = l->variant;
	char why[TLS_WHY_MAX] = "out of memory";
	int r = v->index == g->n_trials ? add_trial(g) : 0;

	if (!r && g->trial[v->index])
		r = tls_context_try(g->trial[v->index], l->entry->cert, l->entry->name, why);
	if (r)
		load_failed(g, why);
	return r;
}

static void
free_trials(struct loading *g)
{
	while (g->n_trials)
		SSL_free(g->trial[--g->n_trials]);
	mem_free(g->trial);
	g->trial = NULL;
}

static int
fill_line(struct loading *g, struct tls_line *l)
{
	l->is_default = g->is_default ? g->is_default : g->b->lines.next == &l->link;
	l->number = g->number;
	l->list = g->list;
	tls_line_use(l, g->b->variant[0]);
	return g->line ? tls_line_fill(l, g->b, g->list, g->line) : 0;
}

/* One PEM file. 0 or a negative reason, which has been reported unless the file is missing and may
 * be a bundle. */
static int
load_cert(struct loading *g, const char *path, int may_be_missing)
{
	char why[TLS_WHY_MAX], warning[TLS_WHY_MAX];
	struct tls_entry *e;
	struct tls_line *l;
	int r = tls_store_load(&g->conf->certs, g->sys, &g->conf->files, path, &e, why, warning);

	if (r == -ENOENT && may_be_missing)
		return r;
	if (r) {
		load_failed(g, why);
		return r;
	}
	if (warning[0])
		cfg_diag_add(g->d, CFG_WARNING, g->where, "%s.", warning);
	l = tls_bind_add_line(g->b, e);
	r = l ? fill_line(g, l) : -ERR_NOMEM;
	(void)snprintf(why, sizeof(why), "out of memory");
	if (!r && try_cert(g, l) < 0)
		return -ERR_INVAL;
	if (!r)
		r = tls_ocsp_enable(g->conf, l, g->line ? &g->line->own : NULL, why);
	if (r)
		load_failed(g, why);
	return r;
}

/* "example.pem.rsa", "example.pem.dsa", "example.pem.ecdsa" for "example.pem". The number found. */
static int
load_bundle(struct loading *g, const char *path)
{
	static const char *const kinds[] = { "rsa", "dsa", "ecdsa" };
	int found = 0, was_default = g->is_default;
	struct stat st;

	if (!g->is_default && list_is_empty(&g->b->lines))
		g->is_default = DEFAULT_FIRST;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		size_t n = strlen(path) + strlen(kinds[i]) + 2;
		char *name = mem_alloc(n);

		if (!name)
			return 0;
		(void)snprintf(name, n, "%s.%s", path, kinds[i]);
		if (sys_stat(g->sys, name, &st) >= 0) {
			(void)load_cert(g, name, 0);
			found++;
		}
		mem_free(name);
	}
	g->is_default = was_default;
	return found;
}

static void
load_cert_or_bundle(struct loading *g, const char *path)
{
	char why[TLS_WHY_MAX];

	if (load_cert(g, path, 1) != -ENOENT)
		return;
	if ((g->conf->files.extra & TLS_EXTRA_BUNDLE) && load_bundle(g, path))
		return;
	(void)snprintf(why, sizeof(why),
		"unable to stat SSL certificate from file '%.300s' : %s", path, err_text(-ENOENT));
	load_failed(g, why);
}

/* Enters the list among those whose lines commands can change. */
static int
enter_list(struct loading *g, struct tls_source *s, const char *path)
{
	s->list = g->list = tls_crt_lists_take(&g->conf->crt_lists, path);
	if (!g->list)
		load_failed(g, "out of memory");
	return g->list != NULL;
}

static void
load_directory(struct loading *g, struct tls_source *s, char *path)
{
	char why[TLS_WHY_MAX];
	size_t n = strlen(path);
	struct tls_dir dir;
	int r;

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	r = tls_dir_read(g->sys, path, tls_is_cert_name, &dir);

	if (r) {
		(void)snprintf(why, sizeof(why),
			"unable to scan directory '%.300s' : %s", path, err_text(r));
		load_failed(g, why);
		return;
	}
	if (enter_list(g, s, path)) {
		g->list->is_directory = 1;
		for (unsigned int i = 0; i < dir.n; i++)
			(void)load_cert(g, dir.path[i], 0);
	}
	tls_dir_free(&dir);
}

static void
load_path(struct loading *g, struct tls_source *s, char *path)
{
	struct stat st;

	if (sys_stat(g->sys, path, &st) >= 0 && S_ISDIR(st.st_mode))
		load_directory(g, s, path);
	else
		load_cert_or_bundle(g, path);
}

static void
load_list_line(struct loading *g, char *text, struct cfg_where *at)
{
	struct tls_list_line line;
	char why[TLS_WHY_MAX];
	int r = tls_list_line_parse(text, &line, why);

	if (r) {
		load_failed(g, why);
	} else if (line.path) {
		char *path = tls_crt_path(&g->conf->files, line.path);

		at->col = (unsigned int)(line.path - text) + 1;
		if (line.own.flags & TLS_WANTS_0RTT)
			cfg_diag_add(g->d, CFG_NOTICE, g->where,
				"'allow-0rtt' has no effect here: early data can be replayed, so "
				"it is not accepted and clients do without.");
		g->line = &line;
		if (path)
			load_cert_or_bundle(g, path);
		else
			load_failed(g, "out of memory");
		mem_free(path);
		g->line = NULL;
	}
	tls_settings_free(&line.own);
}

static void
load_list_text(struct loading *g, const char *path, char *text, size_t len)
{
	const struct cfg_where *outer = g->where;
	struct cfg_where at = { .file = cfg_diag_list_file(g->d, path, text, len) };

	if (at.file)
		g->where = &at;
	for (char *p = text; *p;) {
		size_t n = strcspn(p, "\n");
		int more = p[n] != '\0';

		p[n] = '\0';
		at.line = ++g->number;
		at.col = 0;
		load_list_line(g, p, &at);
		p += n + (size_t)more;
	}
	g->list->last = g->number;
	g->where = outer;
	g->number = 0;
}

static void
load_list(struct loading *g, struct tls_source *s)
{
	const char *path = s->path;
	char *text, why[TLS_WHY_MAX];
	size_t len;
	long r = file_read(g->sys, path, TLS_FILE_MAX, &text, &len);

	if (r < 0) {
		(void)snprintf(why, sizeof(why),
			"'crt-list' : unable to open file '%.300s' : %s", path, err_text((int)r));
		load_failed(g, why);
		return;
	}
	if (enter_list(g, s, path))
		load_list_text(g, path, text, len);
	mem_free(text);
}

static void
load_source(struct loading *g, struct tls_source *s)
{
	/* As in HAProxy crt-base is not for lists, but for what they name. */
	char *path = tls_crt_path(&g->conf->files, s->path);

	g->where = &s->where;
	g->is_default = s->kind == TLS_SOURCE_DEFAULT_CRT ? DEFAULT_EXPLICIT : 0;
	if (!path)
		load_failed(g, "out of memory");
	else if (s->kind == TLS_SOURCE_LIST)
		load_list(g, s);
	else
		load_path(g, s, path);
	g->list = NULL;
	g->is_default = 0;
	mem_free(path);
}

static struct tls_ca *
load_ca(struct loading *g, enum tls_ca_kind kind, const char *name)
{
	char *path, why[TLS_WHY_MAX] = "out of memory";
	struct tls_ca *ca = NULL;

	if (!name)
		return NULL;
	path = tls_path(name[0] == '@' ? NULL : g->conf->files.ca_base, name);
	if (!path || tls_ca_load(&g->conf->cas, g->sys, kind, path, &ca, why) < 0)
		load_failed(g, why);
	mem_free(path);
	return ca;
}

static void
load_trusted(struct loading *g, struct tls_variant *v)
{
	const struct tls_settings *set = &v->set;

	v->ca = load_ca(g, TLS_CA_FILE, set->ca_file);
	v->ca_verify = load_ca(g, TLS_CA_FILE, set->ca_verify_file);
	v->crl = load_ca(g, TLS_CRL_FILE, set->crl_file);
	if (set->verify != TLS_VERIFY_OPTIONAL && set->verify != TLS_VERIFY_REQUIRED)
		return;
	if (!set->ca_file && !set->ca_verify_file) {
		load_failed(g, "verify is enabled but no CA file is specified");
		return;
	}
	v->trusted = tls_ca_make_store(v->ca, v->ca_verify, v->crl);
	if (!v->trusted)
		load_failed(g, "out of memory");
}

static void
warn_of_versions(struct loading *g, const struct tls_bind_use *use)
{
	if (tls_settings_ignores_off(&g->b->set))
		cfg_diag_add(g->d, CFG_WARNING, &g->b->where,
			"Proxy '%s': no-sslv3/no-tlsv1x are ignored for bind '%s'. Use only "
			"'ssl-min-ver' and 'ssl-max-ver' to fix.",
			use->proxy, use->address);
}

/* The keys of this file, which is read if it is new. NULL with why (TLS_WHY_MAX). */
static struct tls_tickets *
tls_conf_ticket_file(struct tls_conf *t, struct sys *sys, const char *path, char *why)
{
	struct tls_tickets *made;
	unsigned int id = 0;

	list_each(it, &t->ticket_files) {
		struct tls_tickets *k = list_entry(it, struct tls_tickets, link);

		if (strcmp(k->file, path) == 0)
			return k;
		id++;
	}
	made = tls_tickets_read(sys, path, why);
	if (!made)
		return NULL;
	made->id = id;
	list_append(&t->ticket_files, &made->link);
	return made;
}

static void
load_tickets(struct loading *g)
{
	struct tls_bind *b = g->b;
	char why[TLS_WHY_MAX], reason[TLS_WHY_MAX];

	b->tickets = g->conf->tickets;
	if (!b->ticket_file)
		return;
	b->tickets = tls_conf_ticket_file(g->conf, g->sys, b->ticket_file, reason);
	if (b->tickets)
		return;
	(void)snprintf(why, sizeof(why), "'tls-ticket-keys' : %.460s", reason);
	load_failed(g, why);
}

/* Default certificates are settled when all are known: `default-crt` may follow `crt`. */
static void
settle_defaults(struct tls_bind *b)
{
	const struct tls_source *explicit = NULL;

	list_each(it, &b->sources) {
		const struct tls_source *s = list_entry(it, const struct tls_source, link);

		if (s->kind == TLS_SOURCE_DEFAULT_CRT)
			explicit = s;
	}
	if (!explicit)
		return;
	list_each(it, &b->lines) {
		struct tls_line *l = list_entry(it, struct tls_line, link);

		l->is_default = l->is_default == DEFAULT_EXPLICIT;
	}
}

static int
add_line_names(struct tls_names *t, struct tls_line *l)
{
	const struct tls_cert *c = l->entry->cert;
	int r = l->is_default ? tls_names_add_fallback(t, l) : 0;

	for (unsigned int i = 0; i < l->n_filters && !r; i++)
		r = tls_names_add(t, l->filter[i], l);
	if (r || l->n_filters || !c)
		return r;
	return tls_names_add_cert(t, c->leaf, l);
}

/* Enters the names of all lines. 0 or -ERR_NOMEM. */
static int
tls_bind_index(struct tls_bind *b)
{
	int r = 0;

	list_each(it, &b->lines) {
		struct tls_line *l = list_entry(it, struct tls_line, link);

		if (!r)
			r = add_line_names(&b->names, l);
		l->is_known = 1;
	}
	return r;
}

int
tls_bind_load(struct tls_bind *b, struct tls_conf *conf, const struct tls_bind_use *use,
	struct sys *sys, struct cfg_diag *d)
{
	static const struct tls_settings none;
	struct loading g = { .b = b, .conf = conf, .sys = sys, .d = d, .where = &b->where };

	char why[TLS_WHY_MAX] = "out of memory";

	b->conf = conf;
	if (tls_settings_inherit(&b->set, &conf->bind_defaults) < 0 ||
		!tls_bind_variant(b, &none) || mem_copy_string(&b->id, use->proxy) < 0 ||
		add_trial(&g) < 0) {
		load_failed(&g, "out of memory");
		return -1;
	}
	list_each(it, &b->sources)
		load_source(&g, list_entry(it, struct tls_source, link));
	free_trials(&g);
	g.where = &b->where;
	settle_defaults(b);
	for (unsigned int i = 0; i < b->n_variants; i++)
		load_trusted(&g, b->variant[i]);
	load_tickets(&g);
	warn_of_versions(&g, use);
	if (!g.bad && list_is_empty(&b->lines)) {
		cfg_diag_add(d, CFG_ALERT, &b->where,
			"Proxy '%s': no SSL certificate specified for bind '%s' (use 'crt').",
			use->proxy, use->address);
		g.bad = 1;
	}
	if (!g.bad && (tls_bind_index(b) < 0 || tls_bind_check(b, why) < 0))
		load_failed(&g, why);
	return g.bad ? -1 : 0;
}
