/* TLS of a bind line: its life, its certificates and settings, and the contexts of the workers.
 * Main thread, or the first worker while the others are paused. */
#include "tls/bind.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/list.h"
#include "base/mem.h"
#include "tls/ca.h"
#include "tls/context.h"
#include "tls/crt_list.h"
#include "tls/names.h"
#include "tls/ocsp_responder.h"
#include "tls/openssl.h"
#include "tls/tls_conf.h"

struct tls_bind *
tls_bind_new(void)
{
	struct tls_bind *b = mem_zalloc(sizeof(*b));

	if (!b)
		return NULL;
	list_init(&b->sources);
	list_init(&b->lines);
	tls_names_init(&b->names);
	return b;
}

void
tls_line_use(struct tls_line *l, struct tls_variant *v)
{
	if (l->variant)
		l->variant->n_lines--;
	if (v)
		v->n_lines++;
	l->variant = v;
}

static void
tls_line_free(struct tls_line *l)
{
	list_remove(&l->link);
	list_remove(&l->same);
	tls_line_use(l, NULL);
	l->entry->uses--;
	l->entry->binds--;
	for (unsigned int i = 0; i < l->n_filters; i++)
		mem_free(l->filter[i]);
	mem_free(l->filter);
	mem_free(l->options);
	mem_free(l);
}

static void
tls_acceptor_free(struct tls_acceptor *a)
{
	tls_maker_fini(&a->maker);
	for (unsigned int i = 0; i < a->n_ctx; i++)
		SSL_CTX_free(a->ctx[i]);
	mem_free(a->ctx);
	a->ctx = NULL;
	a->n_ctx = 0;
}

/* Contexts have references of their own. */
static void
drop_trusted(struct tls_variant *v)
{
	X509_STORE_free(v->trusted);
	X509_STORE_free(v->next);
	tls_ca_drop(v->ca);
	tls_ca_drop(v->ca_verify);
	tls_ca_drop(v->crl);
	v->trusted = v->next = NULL;
	v->ca = v->ca_verify = v->crl = NULL;
}

/* Drops the CA files and revocation lists of variants that no line uses any more. */
static void
tls_bind_rest_variants(struct tls_bind *b)
{
	/* The first is that of the bind line itself. */
	for (unsigned int i = 1; i < b->n_variants; i++) {
		struct tls_variant *v = b->variant[i];

		if (v->n_lines)
			continue;
		drop_trusted(v);
		v->is_idle = 1;
	}
}

/* Removes those from the n-th on, which no line and no context has. */
static void
tls_bind_drop_variants(struct tls_bind *b, unsigned int n)
{
	while (b->n_variants > n) {
		struct tls_variant *v = b->variant[--b->n_variants];

		tls_settings_free(&v->set);
		drop_trusted(v);
		mem_free(v);
	}
}

void
tls_bind_free(struct tls_bind **bp)
{
	struct tls_bind *b = *bp;

	if (!b)
		return;
	*bp = NULL;
	tls_bind_settle(b);
	for (unsigned int i = 0; i < b->n_acceptors; i++)
		tls_acceptor_free(&b->acceptor[i]);
	mem_free(b->acceptor);
	tls_names_fini(&b->names);
	list_each_safe(it, &b->lines)
		tls_line_free(list_entry(it, struct tls_line, link));
	list_each_safe(it, &b->sources) {
		struct tls_source *s = list_entry(it, struct tls_source, link);

		mem_free(s->path);
		mem_free(s);
	}
	tls_bind_drop_variants(b, 0);
	mem_free(b->variant);
	tls_settings_free(&b->set);
	mem_free(b->ticket_file);
	mem_free(b->id);
	mem_free(b);
}

struct tls_line *
tls_bind_add_line(struct tls_bind *b, struct tls_entry *e)
{
	struct tls_line *l = mem_zalloc(sizeof(*l));

	if (!l)
		return NULL;
	l->entry = e;
	e->uses++;
	e->binds++;
	l->bind = b;
	l->order = ++b->last_order;
	list_init(&l->link);
	list_append(&b->lines, &l->link);
	list_init(&l->same);
	list_append(&e->lines, &l->same);
	return l;
}

/* Takes over what set points to, also on failure. */
static struct tls_variant *
add_variant(struct tls_bind *b, struct tls_settings *set)
{
	struct tls_variant *v = mem_zalloc(sizeof(*v)), **grown;

	grown = v ? mem_resize(b->variant, b->n_variants + 1, sizeof(struct tls_variant *)) : NULL;
	if (!grown) {
		mem_free(v);
		tls_settings_free(set);
		return NULL;
	}
	v->set = *set;
	v->index = b->n_variants;
	b->variant = grown;
	grown[b->n_variants++] = v;
	return v;
}

struct tls_variant *
tls_bind_variant(struct tls_bind *b, const struct tls_settings *own)
{
	struct tls_settings set = { 0 };

	if (tls_settings_copy(&set, own) < 0)
		return NULL;
	if (tls_settings_inherit(&set, &b->set) < 0) {
		tls_settings_free(&set);
		return NULL;
	}
	set.flags &= ~(unsigned int)TLS_WANTS_0RTT;
	for (unsigned int i = 0; i < b->n_variants; i++) {
		if (tls_settings_equal(&b->variant[i]->set, &set)) {
			tls_settings_free(&set);
			return b->variant[i];
		}
	}
	return add_variant(b, &set);
}

/* The contexts and the maker of `a`, for connections that belong to `owner`: a itself, or the
 * acceptor that gets them later. They begin with the certificate of `first` (NULL: none). 0, or a
 * negative reason with why. */
static int
tls_acceptor_make(struct tls_acceptor *a, struct tls_acceptor *owner, const struct tls_line *first,
	struct tls_io *io, char *why)
{
	const struct tls_bind *b = owner->bind;

	a->ctx = mem_zalloc(b->n_variants * sizeof(struct ssl_ctx_st *));
	if (!a->ctx)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < b->n_variants; i++) {
		a->ctx[i] = tls_context_accept(owner, b->variant[i], first, why);
		if (!a->ctx[i])
			return -ERR_INVAL;
		a->n_ctx++;
	}
	return io ? tls_maker_init(&a->maker, io, a->ctx[0], TLS_ACCEPTS) : 0;
}

static const struct tls_line *
first_line(const struct tls_bind *b)
{
	return b->names.fallback.n ? b->names.fallback.line[0] : NULL;
}

int
tls_bind_check(struct tls_bind *b, char *why)
{
	struct tls_acceptor a = { .bind = b };
	int r = tls_acceptor_make(&a, &a, first_line(b), NULL, why);

	tls_acceptor_free(&a);
	return r;
}

int
tls_bind_open(struct tls_bind *b, struct tls_io *const *io, unsigned int n)
{
	char why[TLS_WHY_MAX];
	int r = 0;

	b->acceptor = mem_zalloc(n * sizeof(*b->acceptor));
	if (!b->acceptor)
		return -ERR_NOMEM;
	for (unsigned int i = 0; !r && i < n; i++) {
		struct tls_acceptor *a = &b->acceptor[b->n_acceptors++];

		a->bind = b;
		r = tls_acceptor_make(a, a, first_line(b), io[i], why);
	}
	return r;
}

const struct xprt_maker *
tls_bind_maker(const struct tls_bind *b, unsigned int worker)
{
	return b && b->is_on && worker < b->n_acceptors ? &b->acceptor[worker].maker.maker : NULL;
}

/* --- crt-lists ------------------------------------------------------------------------------- */

/* Crt-lists by name, and the settings of their lines. Main thread, or the first worker. */

static struct tls_crt_list *
find_list(const struct list *lists, const char *name)
{
	list_each(it, lists) {
		struct tls_crt_list *l = list_entry(it, struct tls_crt_list, link);

		if (strcmp(l->name, name) == 0)
			return l;
	}
	return NULL;
}

struct tls_crt_list *
tls_crt_lists_find_path(const struct list *lists, const char *path)
{
	size_t n = strlen(path);
	struct tls_crt_list *l;
	char *name;

	while (n > 1 && path[n - 1] == '/')
		n--;
	name = mem_strndup(path, n);
	l = name ? find_list(lists, name) : NULL;
	mem_free(name);
	return l;
}

struct tls_crt_list *
tls_crt_lists_take(struct list *lists, const char *name)
{
	struct tls_crt_list *l = find_list(lists, name);
	struct list *at = lists->next;

	if (l)
		return l;
	l = mem_zalloc(sizeof(*l));
	if (l)
		l->name = mem_strdup(name);
	if (!l || !l->name) {
		mem_free(l);
		return NULL;
	}
	list_init(&l->link);
	while (at != lists && strcmp(list_entry(at, struct tls_crt_list, link)->name, name) < 0)
		at = at->next;
	list_append(at, &l->link);
	return l;
}

void
tls_crt_lists_free(struct list *lists)
{
	list_each_safe(it, lists) {
		struct tls_crt_list *l = list_entry(it, struct tls_crt_list, link);

		mem_free(l->name);
		mem_free(l);
	}
	list_init(lists);
}

static int
copy_filters(struct tls_line *l, const struct tls_list_line *from)
{
	if (!from->n_filters)
		return 0;
	l->filter = mem_zalloc(from->n_filters * sizeof(char *));
	if (!l->filter)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < from->n_filters; i++) {
		l->filter[i] = mem_strdup(from->filter[i]);
		if (!l->filter[i])
			return -ERR_NOMEM;
		l->n_filters++;
	}
	return 0;
}

int
tls_line_fill(struct tls_line *l, struct tls_bind *b, struct tls_crt_list *list,
	const struct tls_list_line *from)
{
	struct tls_variant *v;

	l->list = list;
	if (from->has_options) {
		l->options = tls_list_options(&from->own, b->conf->files.ca_base);
		if (!l->options)
			return -ERR_NOMEM;
	}
	v = tls_bind_variant(b, &from->own);
	if (!v)
		return -ERR_NOMEM;
	tls_line_use(l, v);
	return copy_filters(l, from);
}

/* --- changes at run time --------------------------------------------------------------------- */

struct tls_bind_change {
	struct tls_names_change names;
	struct tls_entry *entry;    /* whose lines come, leave, or get another certificate; NULL */
	struct tls_acceptor *made;  /* one per acceptor of the bind line; NULL: those stay */
	unsigned int n_made;
	int is_in_place;
};

static int
variant_trusts(const struct tls_variant *v, const struct tls_ca *ca)
{
	return ca && v->trusted && (v->ca == ca || v->ca_verify == ca || v->crl == ca);
}

/* Lines whose handshakes the change concerns. */
static unsigned int
count_lines(const struct tls_bind *b, const struct tls_change *change)
{
	unsigned int n = 0;

	for (unsigned int i = 0; change->ca && i < b->n_variants; i++)
		if (variant_trusts(b->variant[i], change->ca))
			n += b->variant[i]->n_lines;
	if (!change->entry)
		return n;
	list_each(it, &change->entry->lines)
		n += list_entry(it, const struct tls_line, same)->bind == b;
	return n;
}

static int
try_line(const struct tls_line *l, char *why)
{
	SSL *ssl = tls_context_trial(&l->variant->set, why);
	int r = ssl ? tls_context_try(ssl, tls_entry_latest(l->entry), l->entry->name, why)
		    : -ERR_INVAL;

	SSL_free(ssl);
	return r;
}

static int
add_to_change(void *arg, const char *pattern, struct tls_line *line)
{
	return names_change_add(arg, pattern, line);
}

static int
remove_from_change(void *arg, const char *pattern, struct tls_line *line)
{
	return names_change_remove(arg, pattern, line);
}

/* Visits the names of a line whose certificate is c. */
static int
each_name_of(struct tls_names_change *names, const struct tls_cert *c, struct tls_line *l,
	tls_name_fn *fn)
{
	int r = 0;

	for (unsigned int i = 0; i < l->n_filters && !r; i++)
		r = fn(names, l->filter[i], l);
	if (r || l->n_filters || !c)
		return r;
	return tls_names_of_cert(c->leaf, fn, names, l);
}

/* A line with names of its own keeps them, whatever its certificate. */
static int
renew_line(struct tls_names_change *names, struct tls_line *l)
{
	const struct tls_entry *e = l->entry;
	int r = 0;

	if (!l->n_filters)
		r = each_name_of(names, e->cert, l, remove_from_change);
	if (!r && !l->n_filters)
		r = each_name_of(names, e->next, l, add_to_change);
	return r;
}

static int
drop_line(struct tls_names_change *names, struct tls_line *l)
{
	int r = l->is_default ? names_change_remove_fallback(names, l) : 0;

	return r ? r : each_name_of(names, l->entry->cert, l, remove_from_change);
}

/* Lines with another certificate, and new ones, must be able to use it. */
static int
change_line(struct tls_bind_change *c, const struct tls_change *change, struct tls_line *l,
	char *why)
{
	int r = 0;

	if (l->is_leaving)
		return drop_line(&c->names, l);
	if (change->entry)
		r = renew_line(&c->names, l);
	else if (!l->is_known)
		r = each_name_of(&c->names, l->entry->cert, l, add_to_change);
	if (!r && (change->entry || !l->is_known))
		r = try_line(l, why);
	return r;
}

static int
change_lines(const struct tls_bind *b, struct tls_bind_change *c, const struct tls_change *change,
	char *why)
{
	int r = 0;

	if (!c->entry)
		return 0;
	list_each(it, &c->entry->lines) {
		struct tls_line *l = list_entry(it, struct tls_line, same);

		if (!r && l->bind == b && (!change->list || l->list == change->list))
			r = change_line(c, change, l, why);
	}
	return r ? r : names_change_make_room(&c->names);
}

/* True if contexts have to change, and not only what is chosen of them. */
static int
needs_contexts(const struct tls_bind *b, const struct tls_change *change,
	const struct tls_line *then)
{
	const struct tls_line *now = b->names.fallback.n ? b->names.fallback.line[0] : NULL;

	if (change->ca || (b->n_acceptors && b->acceptor[0].n_ctx != b->n_variants))
		return 1;
	for (unsigned int i = 0; i < b->n_variants; i++)
		if (b->variant[i]->is_stale)
			return 1;
	/* They begin with the first certificate. */
	if (!now || !then)
		return now != then;
	return now->entry != then->entry || then->entry == change->entry;
}

static int
trust_anew(struct tls_bind *b, const struct tls_ca *ca)
{
	for (unsigned int i = 0; i < b->n_variants; i++) {
		struct tls_variant *v = b->variant[i];

		if (!variant_trusts(v, ca))
			continue;
		v->next = tls_ca_make_store(v->ca, v->ca_verify, v->crl);
		if (!v->next)
			return -ERR_NOMEM;
	}
	return 0;
}

static int
make_acceptors(struct tls_bind *b, struct tls_bind_change *c, char *why)
{
	int r = 0;

	c->made = mem_zalloc(b->n_acceptors * sizeof(*c->made));
	if (!c->made)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < b->n_acceptors && !r; i++) {
		struct tls_acceptor *owner = &b->acceptor[i];

		c->n_made++;
		r = tls_acceptor_make(&c->made[i], owner, names_change_first(&c->names),
			owner->maker.io, why);
	}
	return r;
}

int
tls_bind_prepare(struct tls_bind *b, const struct tls_change *change, unsigned int *uses, char *why)
{
	unsigned int n = count_lines(b, change);
	struct tls_bind_change *c;
	int r;

	n += change->list && tls_bind_names_list(b, change->list);
	if (!n)
		return 0;
	*uses += n;
	(void)snprintf(why, TLS_WHY_MAX, "out of memory");
	c = b->change = mem_zalloc(sizeof(*c));
	if (!c)
		return -ERR_NOMEM;
	names_change_init(&c->names, &b->names);
	c->entry = change->list ? change->listed : change->entry;
	r = change_lines(b, c, change, why);
	if (!r && change->ca)
		r = trust_anew(b, change->ca);
	if (!r && needs_contexts(b, change, names_change_first(&c->names)))
		r = make_acceptors(b, c, why);
	return r;
}

static void
exchange_acceptor(struct tls_acceptor *a, struct tls_acceptor *b)
{
	struct tls_acceptor was = *a;

	a->maker = b->maker;
	a->ctx = b->ctx;
	a->n_ctx = b->n_ctx;
	b->maker = was.maker;
	b->ctx = was.ctx;
	b->n_ctx = was.n_ctx;
}

static void
note_known(const struct tls_bind *b, const struct tls_entry *e)
{
	list_each(it, &e->lines) {
		struct tls_line *l = list_entry(it, struct tls_line, same);

		if (l->bind == b)
			l->is_known = !l->is_leaving;
	}
}

void
tls_bind_exchange(struct tls_bind *b)
{
	struct tls_bind_change *c = b->change;

	if (!c)
		return;
	names_change_apply(&c->names);
	if (c->entry)
		note_known(b, c->entry);
	for (unsigned int i = 0; i < c->n_made; i++)
		exchange_acceptor(&b->acceptor[i], &c->made[i]);
	c->is_in_place = 1;
}

void
tls_bind_settle(struct tls_bind *b)
{
	struct tls_bind_change *c = b->change;

	if (!c)
		return;
	b->change = NULL;
	for (unsigned int i = 0; i < b->n_variants; i++) {
		struct tls_variant *v = b->variant[i];

		if (v->next && c->is_in_place) {
			X509_STORE_free(v->trusted);
			v->trusted = v->next;
		} else {
			X509_STORE_free(v->next);
		}
		v->next = NULL;
		if (c->is_in_place && c->n_made)
			v->is_stale = 0;
	}
	names_change_fini(&c->names);
	for (unsigned int i = 0; i < c->n_made; i++)
		tls_acceptor_free(&c->made[i]);
	mem_free(c->made);
	mem_free(c);
}

/* --- lists ----------------------------------------------------------------------------------- */

/* Lines of a crt-list that are added and removed at run time. First worker. */

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

/* Finds the CA files and revocation lists of a variant that a new line has brought. */
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
