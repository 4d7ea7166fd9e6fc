/* The last session of a server, on one worker. OpenSSL says when there is a new one: within a read,
 * as TLS 1.3 sends tickets after the handshake. */
#include "resume.h"

#include <string.h>

#include "base/mem.h"
#include "tls_bio.h"

struct tls_resume {
	unsigned int refs;
	SSL_SESSION *last;
	char *name; /* that was asked for; NULL: none */
};

static void
forget_session(struct tls_resume *r)
{
	SSL_SESSION_free(r->last);
	mem_free(r->name);
	r->last = NULL;
	r->name = NULL;
}

/* The new session belongs to whoever returns 1. */
static int
on_new_session(SSL *ssl, SSL_SESSION *session)
{
	const struct tls_io *io = BIO_get_data(SSL_get_rbio(ssl));
	struct tls_resume *r = io->cur ? io->cur->resume : NULL;
	char *name;

	if (!r || !SSL_SESSION_is_resumable(session))
		return 0;
	/* The name may be the former session's. */
	if (mem_copy_string(&name, SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name)) < 0)
		return 0;
	forget_session(r);
	r->name = name;
	r->last = session;
	return 1;
}

struct tls_resume *
tls_resume_new(SSL_CTX *ctx)
{
	struct tls_resume *r = mem_zalloc(sizeof(*r));

	if (!r)
		return NULL;
	r->refs = 1;
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
	forget_session(r);
	mem_free(r);
}

static int
is_same_name(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

void
tls_resume_offer(const struct tls_resume *r, SSL *ssl)
{
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

	if (r->last && is_same_name(r->name, name) &&
		SSL_set_session(ssl, r->last) != 1)
		ERR_clear_error();
}
