/* Names of certificates. Made by the main thread, or the first worker while the others are paused;
 * a look-up changes nothing. */
#include "tls/names.h"

#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "tls/openssl.h"

void
tls_names_init(struct tls_names *t)
{
	memset(t, 0, sizeof(*t));
	list_init(&t->all);
}

void
tls_name_free(struct tls_name *n)
{
	if (!n)
		return;
	mem_free(n->line);
	mem_free(n->name);
	mem_free(n);
}

void
tls_names_fini(struct tls_names *t)
{
	list_each_safe(it, &t->all)
		tls_name_free(list_entry(it, struct tls_name, link));
	list_init(&t->all);
	mem_free(t->fallback.line);
	memset(&t->fallback, 0, sizeof(t->fallback));
	name_index_fini(&t->exact);
	name_index_fini(&t->wild);
}

struct tls_name *
tls_name_new(const char *name)
{
	struct tls_name *n = mem_zalloc(sizeof(*n));

	if (n)
		n->name = mem_strdup(name);
	if (!n || !n->name) {
		mem_free(n);
		return NULL;
	}
	list_init(&n->link);
	return n;
}

/* The entry of a name, which is new if there is none. */
static struct tls_name *
take_tls_name(struct tls_names *t, struct name_index *index, const char *name)
{
	struct tls_name *n = name_index_find(index, name);

	if (n)
		return n;
	n = tls_name_new(name);
	if (!n || name_index_add(index, n->name, n) < 0) {
		tls_name_free(n);
		return NULL;
	}
	list_append(&t->all, &n->link);
	return n;
}

static int
append_line(struct tls_name *n, struct tls_line *line)
{
	struct tls_line **grown;

	for (unsigned int i = 0; i < n->n; i++)
		if (n->line[i] == line)
			return 0;
	grown = array_grow(n->line, n->n, &n->cap, sizeof(struct tls_line *));
	if (!grown)
		return -ERR_NOMEM;
	n->line = grown;
	n->line[n->n++] = line;
	return 0;
}

int
tls_pattern_read(struct tls_pattern *p, const char *pattern)
{
	size_t len;

	p->is_excluded = pattern[0] == '!';
	pattern += p->is_excluded;
	p->is_wild = pattern[0] == '*';
	pattern += p->is_wild;
	len = strlen(pattern);
	if (!len || len > TLS_NAME_MAX)
		return 0;
	for (size_t i = 0; i <= len; i++)
		p->name[i] = str_lower(pattern[i]);
	return 1;
}

int
tls_names_add(struct tls_names *t, const char *pattern, struct tls_line *line)
{
	struct tls_pattern p;
	struct tls_name *n;

	if (!tls_pattern_read(&p, pattern))
		return 0;
	n = take_tls_name(t, p.is_wild ? &t->wild : &t->exact, p.name);
	if (!n)
		return -ERR_NOMEM;
	if (!p.is_excluded)
		return append_line(n, line);
	n->n_excluded++;
	return 0;
}

int
tls_names_add_fallback(struct tls_names *t, struct tls_line *line)
{
	return append_line(&t->fallback, line);
}

struct visit {
	tls_name_fn *fn;
	void *arg;
	struct tls_line *line;
};

/* A name with a NUL inside is no name. */
static int
visit_asn1(const struct visit *v, const ASN1_STRING *s)
{
	unsigned char *utf8;
	int n = ASN1_STRING_to_UTF8(&utf8, s), r = 0;

	if (n < 0)
		return 0;
	if ((size_t)n == strlen((const char *)utf8) && utf8[0] != '!')
		r = v->fn(v->arg, (const char *)utf8, v->line);
	OPENSSL_free(utf8);
	return r;
}

static int
visit_alt_names(const struct visit *v, X509 *x)
{
	GENERAL_NAMES *all = X509_get_ext_d2i(x, NID_subject_alt_name, NULL, NULL);
	int r = 0;

	for (int i = 0; i < sk_GENERAL_NAME_num(all) && !r; i++) {
		const GENERAL_NAME *g = sk_GENERAL_NAME_value(all, i);

		if (g->type == GEN_DNS)
			r = visit_asn1(v, g->d.dNSName);
	}
	GENERAL_NAMES_free(all);
	return r;
}

int
tls_names_of_cert(X509 *x, tls_name_fn *fn, void *arg, struct tls_line *line)
{
	const struct visit v = { fn, arg, line };
	const X509_NAME *subject = X509_get_subject_name(x);
	int at = -1, r = visit_alt_names(&v, x);

	while (!r && (at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0)
		r = visit_asn1(&v, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
	ERR_clear_error();
	return r;
}

static int
add_to_table(void *arg, const char *pattern, struct tls_line *line)
{
	return tls_names_add(arg, pattern, line);
}

int
tls_names_add_cert(struct tls_names *t, X509 *x, struct tls_line *line)
{
	return tls_names_of_cert(x, add_to_table, t, line);
}

/* In lower case, NUL-terminated. False: it is no name. */
static int
fold_name(const char *name, size_t len, char low[TLS_NAME_MAX + 1])
{
	if (!len || len > TLS_NAME_MAX || memchr(name, '\0', len))
		return 0;
	for (size_t i = 0; i < len; i++)
		low[i] = str_lower(name[i]);
	low[len] = '\0';
	return 1;
}

static const struct tls_name *
find_wild(const struct tls_names *t, const char *low)
{
	const char *dot = strchr(low, '.');
	const struct tls_name *n = dot ? name_index_find(&t->wild, dot) : NULL;

	return n && n->n ? n : NULL;
}

const struct tls_name *
tls_names_find(const struct tls_names *t, const char *name, size_t len)
{
	char low[TLS_NAME_MAX + 1];
	const struct tls_name *n;

	if (!fold_name(name, len, low))
		return NULL;
	n = name_index_find(&t->exact, low);
	if (n)
		return n->n ? n : NULL;
	return find_wild(t, low);
}

const struct tls_name *
tls_names_find_wider(const struct tls_names *t, const struct tls_name *n)
{
	int is_exact = n->name && !n->n_excluded &&
		name_index_find(&t->exact, n->name) == n;

	return is_exact ? find_wild(t, n->name) : NULL;
}
