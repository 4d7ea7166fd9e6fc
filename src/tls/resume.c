/* The last sessions of a server, on one worker. OpenSSL says when there is a new one: within a
 * read, as TLS 1.3 sends tickets after the handshake. */
#include "resume.h"

#include <string.h>

#include "base/mem.h"
#include "tls_bio.h"

struct kept_session {
	SSL_SESSION *last;           /* NULL: the place is free */
	char *name;                  /* that was asked for; NULL: none */
	unsigned int service;
};

struct tls_resume {
	unsigned int refs;
	unsigned int n, next;        /* places, and the one that is taken when all are used */
	struct kept_session kept[];
};

static void
forget_session(struct kept_session *k)
{
	SSL_SESSION_free(k->last);
	mem_free(k->name);
	k->last = NULL;
	k->name = NULL;
}

static int
is_same_name(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* NULL: there is none of this name and service. */
static const struct kept_session *
find_session(const struct tls_resume *r, const char *name, unsigned int service)
{
	for (unsigned int i = 0; i < r->n; i++)
		if (r->kept[i].last && r->kept[i].service == service &&
			is_same_name(r->kept[i].name, name))
			return &r->kept[i];
	return NULL;
}

static struct kept_session *
place_for(struct tls_resume *r, const char *name, unsigned int service)
{
	const struct kept_session *same = find_session(r, name, service);
	unsigned int i = same ? (unsigned int)(same - r->kept) : r->next;

	if (!same)
		r->next = (r->next + 1) % r->n;
	return &r->kept[i];
}

/* The new session belongs to whoever returns 1. */
static int
on_new_session(SSL *ssl, SSL_SESSION *session)
{
	const struct tls_io *io = BIO_get_data(SSL_get_rbio(ssl));
	struct tls *t = io->cur;
	struct kept_session *k;
	char *name;

	if (!t || !t->resume || !SSL_SESSION_is_resumable(session))
		return 0;
	t->has_session = 1;
	/* The name may be the former session's. */
	if (mem_copy_string(&name, SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name)) < 0)
		return 0;
	k = place_for(t->resume, name, t->service);
	forget_session(k);
	k->name = name;
	k->service = t->service;
	k->last = session;
	return 1;
}

struct tls_resume *
tls_resume_new(SSL_CTX *ctx, unsigned int n)
{
	struct tls_resume *r = mem_zalloc(sizeof(*r) + n * sizeof(r->kept[0]));

	if (!r)
		return NULL;
	r->refs = 1;
	r->n = n;
	(void)SSL_CTX_set_session_cache_mode(
		ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ctx, on_new_session);
	return r;
}

struct tls_resume *
tls_resume_get(struct tls_resume *r)
{
	r->refs++;
	return r;
}

void
tls_resume_put(struct tls_resume *r)
{
	if (!r || --r->refs)
		return;
	for (unsigned int i = 0; i < r->n; i++)
		forget_session(&r->kept[i]);
	mem_free(r);
}

void
tls_resume_offer(const struct tls_resume *r, SSL *ssl, unsigned int service)
{
	const struct kept_session *k = find_session(
		r, SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name), service);

	if (k && SSL_set_session(ssl, k->last) != 1)
		ERR_clear_error();
}
