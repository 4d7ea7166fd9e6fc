/* The last sessions of a server, on one worker. OpenSSL reports a new one: within a
 * read, as TLS 1.3 sends tickets after the handshake. */
#include "resume.h"

#include <string.h>

#include "base/atomic.h"
#include "base/mem.h"
#include "event/loop.h"
#include "net/conn.h"
#include "tls/names.h"
#include "tls/sessions.h"
#include "tls/transport.h"

struct kept_session {
	SSL_SESSION *last;           /* NULL: the place is free */
	char *name;                  /* that was asked for; NULL: none */
	unsigned int service;
};

struct tls_resume {
	unsigned int refs;           /* atomic */
	struct shared_sessions *shared; /* a reference; NULL: none */
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
static struct kept_session *
find_session(struct tls_resume *r, const char *name, unsigned int service)
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
	struct kept_session *k = find_session(r, name, service);

	if (k)
		return k;
	k = &r->kept[r->next];
	r->next = (r->next + 1) % r->n;
	return k;
}

/* The session is the list's now. NULL: no memory, and it is the caller's. */
static struct kept_session *
keep_session(struct tls_resume *r, const char *name, unsigned int service, SSL_SESSION *session)
{
	struct kept_session *k;
	char *copy;

	/* The name may be the previous session's. */
	if (mem_copy_string(&copy, name) < 0)
		return NULL;
	k = place_for(r, name, service);
	forget_session(k);
	k->name = copy;
	k->service = service;
	k->last = session;
	return k;
}

/* Notes a new session of OpenSSL. 1: it belongs to the caller's list now. */
static int
on_new_session(SSL *ssl, SSL_SESSION *session)
{
	const struct tls_io *io = BIO_get_data(SSL_get_rbio(ssl));
	struct tls *t = io->cur;
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

	if (!t || !t->resume || !SSL_SESSION_is_resumable(session))
		return 0;
	/* A second one serves the others no better. */
	if (t->resume->shared && !t->has_session)
		shared_sessions_publish(t->resume->shared, name, session, !SSL_session_reused(ssl),
			loop_now_ms(io->conn->loop));
	t->has_session = 1;
	return keep_session(t->resume, name, t->service, session) != NULL;
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
	(void)atomic_add(&r->refs, 1u);
	return r;
}

void
tls_resume_put(struct tls_resume *r)
{
	if (!r || atomic_sub(&r->refs, 1u))
		return;
	for (unsigned int i = 0; i < r->n; i++)
		forget_session(&r->kept[i]);
	shared_sessions_put(r->shared);
	mem_free(r);
}

void
tls_resume_share(struct tls_resume *r, struct shared_sessions *sh)
{
	assert(!r->shared);
	r->shared = shared_sessions_get(sh);
}

/* Takes a session that another worker has published. */
static struct kept_session *
take_shared(struct tls_resume *r, const char *name, unsigned int service)
{
	SSL_SESSION *session = r->shared ? shared_sessions_copy(r->shared, name) : NULL;
	struct kept_session *k = session ? keep_session(r, name, service, session) : NULL;

	if (!k)
		SSL_SESSION_free(session);
	return k;
}

void
tls_resume_offer(struct tls_resume *r, SSL *ssl, unsigned int service)
{
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	const struct kept_session *k = find_session(r, name, service);

	/* A TLS 1.3 ticket is single-use. */
	if (!k || !SSL_SESSION_is_resumable(k->last))
		k = take_shared(r, name, service);
	if (k && SSL_set_session(ssl, k->last) != 1)
		ERR_clear_error();
}

/* --- the second ticket ----------------------------------------------------------------------- */

/* Answers to OpenSSL about tickets, and when the second one is sent. */

enum second_ticket {
	NOT_OWED, /* there was no first one, or both were sent */
	OWED,
	ANSWERED, /* the same, and data was sent */
	DUE       /* and then the client has sent more */
};

/* OpenSSL makes a ticket. A client that resumes gets one for the one it has used. */
static int
on_ticket(SSL *ssl, void *arg)
{
	const struct tls_io *io = arg;
	struct tls *t = io->cur;

	if (t && !t->x.is_up && SSL_version(ssl) == TLS1_3_VERSION && !SSL_session_reused(ssl))
		t->second_ticket = OWED;
	return 1;
}

/* Accepts or ignores the session of a ticket. A ticket for another name is ignored. */
static SSL_TICKET_RETURN
on_ticket_read(SSL *ssl, SSL_SESSION *session, const unsigned char *key_name unused,
	size_t len unused, SSL_TICKET_STATUS status, void *arg unused)
{
	if ((status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) ||
		!tls_hello_match_session(ssl, session))
		return SSL_TICKET_RETURN_IGNORE_RENEW;
	return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

void
second_ticket_enable(SSL_CTX *ctx, struct tls_io *io)
{
	(void)SSL_CTX_set_num_tickets(ctx, 1);
	(void)SSL_CTX_set_session_ticket_cb(ctx, on_ticket, on_ticket_read, io);
}

void
second_ticket_on_read(struct tls *t)
{
	if (t->second_ticket == ANSWERED)
		t->second_ticket = DUE;
}

void
second_ticket_on_write(struct tls *t)
{
	if (t->second_ticket == OWED) {
		t->second_ticket = ANSWERED;
	} else if (t->second_ticket == DUE) {
		t->second_ticket = NOT_OWED;
		/* The ticket leaves in front of the data. */
		(void)SSL_new_session_ticket(t->ssl);
	}
}
