/* Lines of a crt-list. Main thread, or the first worker for a command. */
#include "tls/crt_list.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "cfg/diag.h"
#include "tls/cert_files.h"
#include "tls/ocsp_responder.h"
#include "tls/tls_conf.h"

static int
bad_line(char *why, const char *text)
{
	(void)snprintf(why, TLS_WHY_MAX, "%s", text);
	return -ERR_SYNTAX;
}

/* Cuts the text at blanks; brackets are cut off their words. The number of words, or -1: too
 * many. */
static int
cut_words(char *text, char **word)
{
	int n = 0;

	for (char *p = text;;) {
		p += strspn(p, " \t\r\n");
		if (!*p)
			return n;
		if (n == TLS_LIST_WORDS_MAX)
			return -1;
		word[n++] = p;
		p += strcspn(p, " \t\r\n");
		if (*p)
			*p++ = '\0';
	}
}

/* One option with its argument; returns the words taken, or a negative reason. */
static int
take_list_option(struct tls_settings *own, char *const *word, int n, char *why)
{
	int args = tls_settings_args(TLS_AT_CRT_LIST, word[0]), r;
	char reason[TLS_WHY_MAX];

	if (strcmp(word[0], "npn") == 0)
		return bad_line(why, "NPN is obsolete and not supported; use 'alpn'");
	if (args < 0) {
		(void)snprintf(why, TLS_WHY_MAX, "unknown ssl keyword %.100s", word[0]);
		return -ERR_UNKNOWN;
	}
	if (args > n - 1) {
		(void)snprintf(why, TLS_WHY_MAX, "ssl args out of '[]' for %.100s", word[0]);
		return -ERR_SYNTAX;
	}
	r = tls_settings_set(own, TLS_AT_CRT_LIST, word[0], args ? word[1] : "", reason);
	if (r < 0)
		(void)snprintf(why, TLS_WHY_MAX, "'%.60s' : %.400s", word[0], reason);
	return r < 0 ? r : 1 + args;
}

/* The words between the brackets; returns the words taken, or a negative reason. */
static int
take_list_options(struct tls_list_line *out, int at, int n, char *why)
{
	char **word = out->words;
	int last = at;

	while (last < n && !strchr(word[last], ']'))
		last++;
	if (last == n)
		return bad_line(why, "missing ']' after the options");
	if (strcmp(strchr(word[last], ']'), "]") != 0)
		return bad_line(why, "a blank is missing after ']'");
	word[at]++;
	*strchr(word[last], ']') = '\0';
	for (int i = at; i <= last;) {
		int r = *word[i] ? take_list_option(&out->own, word + i, last - i + 1, why) : 1;

		if (r < 0)
			return r;
		i += r;
	}
	return last + 1 - at;
}

int
tls_list_line_parse(char *text, struct tls_list_line *out, char *why)
{
	int n = cut_words(text, out->words), at = 1, r;

	out->path = NULL;
	out->n_filters = 0;
	out->has_options = 0;
	memset(&out->own, 0, sizeof(out->own));
	if (n < 0)
		return bad_line(why, "too many words");
	if (n == 0 || out->words[0][0] == '#')
		return 0;
	out->path = out->words[0];
	if (out->path[0] == '[')
		return bad_line(why, "file must start with a cert");
	if (n > 1 && out->words[1][0] == '[') {
		r = take_list_options(out, 1, n, why);
		if (r < 0)
			return r;
		at += r;
		out->has_options = 1;
	}
	out->filter = out->words + at;
	out->n_filters = (unsigned int)(n - at);
	return 0;
}

/* --- options as text --- */

static void
put_option(struct sbuf *out, const char *name, const char *value)
{
	if (value)
		sbuf_addf(out, "%s%s %s", out->len ? " " : "", name, value);
}

static void
put_flag(struct sbuf *out, const struct tls_settings *own, unsigned int flag, const char *name)
{
	if (own->flags & flag)
		sbuf_addf(out, "%s%s", out->len ? " " : "", name);
}

static void
put_alpn(struct sbuf *out, const struct tls_bytes *alpn)
{
	for (size_t i = 0; i < alpn->len; i += 1u + alpn->p[i]) {
		sbuf_adds(out, i ? "," : "alpn ");
		sbuf_add(out, (const char *)alpn->p + i + 1, alpn->p[i]);
	}
}

static void
put_file(struct sbuf *out, const char *name, const char *base, const char *file)
{
	char *path = file ? tls_path(file[0] == '@' ? NULL : base, file) : NULL;

	put_option(out, name, path);
	mem_free(path);
}

char *
tls_list_options(const struct tls_settings *own, const char *ca_base)
{
	static const char *const verify[] = { [TLS_VERIFY_NONE] = "none",
		[TLS_VERIFY_OPTIONAL] = "optional", [TLS_VERIFY_REQUIRED] = "required" };
	struct sbuf b;
	char *text;

	sbuf_init(&b, 0);
	put_alpn(&b, &own->alpn);
	put_flag(&b, own, TLS_NO_ALPN, "no-alpn");
	put_option(&b, "verify", verify[own->verify]);
	put_flag(&b, own, TLS_NO_CA_NAMES, "no-ca-names");
	put_flag(&b, own, TLS_WANTS_0RTT, "allow-0rtt");
	put_file(&b, "ca-file", ca_base, own->ca_file);
	put_file(&b, "ca-verify-file", ca_base, own->ca_verify_file);
	put_file(&b, "crl-file", ca_base, own->crl_file);
	put_option(&b, "ciphers", own->ciphers);
	put_option(&b, "ciphersuites", own->ciphersuites);
	put_option(&b, "curves", own->curves);
	put_option(&b, "sigalgs", own->sigalgs);
	put_option(&b, "client-sigalgs", own->client_sigalgs);
	put_option(&b, "ssl-min-ver", tls_version_word(own->min));
	put_option(&b, "ssl-max-ver", tls_version_word(own->max));
	text = b.failed ? NULL : mem_strndup(b.p ? b.p : "", b.len);
	sbuf_fini(&b);
	return text;
}

/* --- crt-store ------------------------------------------------------------------------------- */

/* Sections crt-store. Main thread, while the configuration is read. */

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
	int r;

	/* Its line was refused. */
	if (!l->path.of[TLS_CERT_CRT])
		return -1;
	r = find_files(conf, s, l, &files);
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
