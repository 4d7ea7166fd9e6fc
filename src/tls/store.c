/* All certificates of the process by name. Main thread, or the first worker while the others are
 * paused; a name stays until the end. */
#include "tls/store.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/mem.h"
#include "tls/base64.h"

void
tls_store_init(struct tls_store *s)
{
	memset(s, 0, sizeof(*s));
	list_init(&s->entries);
}

static void
free_store_entry(struct tls_entry *e)
{
	tls_cert_put(e->cert);
	tls_cert_put(e->next);
	mem_free(e->name);
	mem_free(e);
}

void
tls_store_fini(struct tls_store *s)
{
	list_each_safe(it, &s->entries)
		free_store_entry(list_entry(it, struct tls_entry, link));
	tls_cert_put(s->change.cert);
	list_init(&s->entries);
	name_index_fini(&s->index);
}

struct tls_entry *
tls_store_find(const struct tls_store *s, const char *name)
{
	struct tls_entry *e = name_index_find(&s->index, name);

	return e && e->is_there ? e : NULL;
}

static struct tls_entry *
make_store_entry(struct tls_store *s, const char *name)
{
	struct tls_entry *e = mem_zalloc(sizeof(*e));

	if (!e)
		return NULL;
	list_init(&e->link);
	list_init(&e->lines);
	e->name = mem_strdup(name);
	if (!e->name || name_index_add(&s->index, e->name, e) < 0) {
		free_store_entry(e);
		return NULL;
	}
	return e;
}

/* Searches from the end, since the files of a directory come in order. */
static void
insert_by_name(struct tls_store *s, struct tls_entry *e)
{
	struct list *at;

	list_remove(&e->link);
	at = s->entries.prev;
	while (at != &s->entries &&
		strcmp(list_entry(at, struct tls_entry, link)->name, e->name) > 0)
		at = at->prev;
	list_append(at->next, &e->link);
}

struct tls_entry *
tls_store_add(struct tls_store *s, const char *name)
{
	struct tls_entry *e = name_index_find(&s->index, name);

	if (!e)
		e = make_store_entry(s, name);
	if (!e)
		return NULL;
	insert_by_name(s, e);
	/* Settings of a removed certificate are not about this one. */
	if (!e->is_there) {
		e->load_ocsp = TLS_OCSP_UNSET;
		e->updates_ocsp = 0;
	}
	e->is_there = 1;
	return e;
}

int
tls_store_load(struct tls_store *s, struct sys *sys, const struct tls_file_rules *rules,
	const char *path, struct tls_entry **out, char *why, char *warning)
{
	struct tls_entry *e = tls_store_find(s, path);
	struct tls_cert_paths paths = { { NULL } };
	struct tls_cert *c;
	int r;

	*out = e;
	warning[0] = '\0';
	if (e && e->cert)
		return 0;
	if (path[0] == '@' || !sys) {
		(void)snprintf(why, TLS_WHY_MAX,
			sys ? "no crt-store has a certificate '%.300s'" : "unable to load %.300s",
			path);
		return -ERR_MISSING;
	}
	paths.of[TLS_CERT_CRT] = mem_strdup(path);
	r = paths.of[TLS_CERT_CRT] ? tls_cert_read(sys, rules, &paths, &c, why, warning)
				   : -ERR_NOMEM;
	mem_free(paths.of[TLS_CERT_CRT]);
	if (r)
		return r;
	e = tls_store_add(s, path);
	if (!e) {
		tls_cert_put(c);
		return -ERR_NOMEM;
	}
	tls_entry_set(e, c);
	*out = e;
	return 0;
}

void
tls_entry_set(struct tls_entry *e, struct tls_cert *c)
{
	tls_cert_put(e->cert);
	e->cert = c;
}

/* --- parts from the admin socket ------------------------------------------------------------- */

/* Parts of a certificate by the names that commands use. First worker. */

/* The certificate of the first n bytes, or of them with ".crt". */
static struct tls_entry *
find_base(const struct tls_store *s, const char *name, size_t n, int del_ext)
{
	static const char ext[] = ".crt";
	char *base = mem_alloc(n + sizeof(ext));
	struct tls_entry *e;

	if (!base)
		return NULL;
	memcpy(base, name, n);
	base[n] = '\0';
	e = tls_store_find(s, base);
	memcpy(base + n, ext, sizeof(ext));
	if (!e && del_ext)
		e = tls_store_find(s, base);
	mem_free(base);
	return e;
}

struct tls_entry *
tls_part_find(const struct tls_store *s, const char *name, int del_ext, enum tls_part *part)
{
	static const char *const ends[] = { [TLS_PART_KEY] = ".key",
		[TLS_PART_ISSUER] = ".issuer", [TLS_PART_SCTL] = ".sctl",
		[TLS_PART_OCSP] = ".ocsp" };
	struct tls_entry *e = tls_store_find(s, name);
	size_t n = strlen(name);

	*part = TLS_PART_PEM;
	for (unsigned int i = TLS_PART_KEY; !e && i < ARRAY_LEN(ends); i++) {
		size_t end = strlen(ends[i]);

		if (n <= end || strcmp(name + n - end, ends[i]) != 0)
			continue;
		e = find_base(s, name, n - end, del_ext);
		*part = (enum tls_part)i;
	}
	return e;
}

typedef int set_bytes_fn(struct tls_cert *c, const void *p, size_t len, char *why);

static int
set_base64(struct tls_cert *c, const char *text, set_bytes_fn *set, char *why)
{
	size_t len = strlen(text);
	unsigned char *out = mem_alloc(TLS_BASE64_ROOM(len));
	long n = out ? tls_base64_decode(text, len, out) : -ERR_NOMEM;

	if (n >= 0)
		n = set(c, out, (size_t)n, why);
	else if (out)
		(void)snprintf(why, TLS_WHY_MAX, "Error reading %s in base64 format",
			set == tls_cert_add_ocsp ? "OCSP response"
						 : "signed certificate timestamp list");
	mem_free(out);
	return (int)n;
}

int
tls_part_set(struct tls_cert *c, enum tls_part part, const char *text, char *why)
{
	switch (part) {
	case TLS_PART_PEM:
		return tls_cert_add_pem(c, text, strlen(text), why);
	case TLS_PART_KEY:
		return tls_cert_add_key(c, text, strlen(text), why);
	case TLS_PART_ISSUER:
		return tls_cert_add_issuer(c, text, strlen(text), why);
	case TLS_PART_SCTL:
		return set_base64(c, text, tls_cert_add_sctl, why);
	case TLS_PART_OCSP:
		return set_base64(c, text, tls_cert_add_ocsp, why);
	}
	return -ERR_UNKNOWN;
}
