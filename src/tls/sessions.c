/* Sessions by id. OpenSSL asks on the worker of the connection; a part is used under its lock, and
 * nothing is parsed, allocated or freed meanwhile. */
#include "tls/sessions.h"

#include <stdint.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/counter.h"
#include "base/keyhash.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/mem.h"
#include "event/loop.h"
#include "tls/bind.h"
#include "tls/names.h"
#include "tls/openssl.h"
#include "tls/tls_conf.h"
#include "tls/transport.h"

#define PARTS 64
/* Bytes of a session that is kept: with a large certificate of the client it is not. */
#define SESSION_MAX 8192

struct kept_session {
	struct list link;          /* in part.used */
	struct kept_session *next;      /* of the same slot */
	unsigned int id_len;
	unsigned char id[SSL_MAX_SSL_SESSION_ID_LENGTH];
	size_t len;
	unsigned char der[];
};

struct part {
	cacheline_aligned struct lock lock;
	struct list used;          /* the latest first */
	struct kept_session **slot;
	unsigned int n;
	_Atomic uint64_t lookups, misses;
};

struct tls_sessions {
	struct part part[PARTS];
	unsigned int most;         /* sessions of a part */
	unsigned int slots;        /* of a part, a power of two */
};

struct tls_sessions *
tls_sessions_new(unsigned int n)
{
	struct tls_sessions *t = mem_zalloc_aligned(CACHE_LINE, sizeof(*t));

	if (!t)
		return NULL;
	t->most = n / PARTS + (n % PARTS != 0);
	for (t->slots = 1; t->slots < t->most && t->slots < 1u << 24;)
		t->slots *= 2;
	for (unsigned int i = 0; i < PARTS; i++) {
		struct part *p = &t->part[i];

		list_init(&p->used);
		p->slot = mem_zalloc(t->slots * sizeof(struct kept_session *));
		if (!p->slot) {
			tls_sessions_free(t);
			return NULL;
		}
	}
	return t;
}

/* Wiped before it is freed: it has the keys of connections. */
static void
free_session(struct kept_session *s)
{
	if (!s)
		return;
	OPENSSL_cleanse(s, sizeof(*s) + s->len);
	mem_free(s);
}

void
tls_sessions_free(struct tls_sessions *t)
{
	if (!t)
		return;
	for (unsigned int i = 0; i < PARTS && t->part[i].slot; i++) {
		list_each_safe(it, &t->part[i].used)
			free_session(list_entry(it, struct kept_session, link));
		mem_free(t->part[i].slot);
	}
	mem_free(t);
}

/* --- a part; its lock is held --- */

/* Returns the hash of an id: ids that are kept were random, so their first bytes are used. */
static uint32_t
id_hash(const unsigned char *id, unsigned int len)
{
	uint32_t h = 0;

	memcpy(&h, id, MIN(len, sizeof(h)));
	return h;
}

static struct part *
part_of(struct tls_sessions *t, const unsigned char *id, unsigned int len)
{
	return &t->part[id_hash(id, len) % PARTS];
}

static struct kept_session **
find_locked(const struct tls_sessions *t, struct part *p, const unsigned char *id, unsigned int len)
{
	struct kept_session **at = &p->slot[id_hash(id, len) / PARTS & (t->slots - 1)];

	lock_assert_held(&p->lock);
	while (*at && ((*at)->id_len != len || memcmp((*at)->id, id, len) != 0))
		at = &(*at)->next;
	return at;
}

static struct kept_session *
take_locked(struct part *p, struct kept_session **at)
{
	struct kept_session *s = *at;

	lock_assert_held(&p->lock);
	if (!s)
		return NULL;
	*at = s->next;
	list_remove(&s->link);
	p->n--;
	return s;
}

/* Inserts s; returns in gone[] the entries it evicts (same id, oldest), for the caller to free. */
static void
add_locked(const struct tls_sessions *t, struct part *p, struct kept_session *s,
	struct kept_session *gone[2])
{
	struct kept_session **at;

	lock_assert_held(&p->lock);
	gone[0] = take_locked(p, find_locked(t, p, s->id, s->id_len));
	gone[1] = NULL;
	if (p->n >= t->most) {
		struct kept_session *last = list_entry(p->used.prev, struct kept_session, link);

		gone[1] = take_locked(p, find_locked(t, p, last->id, last->id_len));
	}
	at = find_locked(t, p, s->id, s->id_len);
	s->next = NULL;
	*at = s;
	list_append(p->used.next, &s->link);
	p->n++;
}

/* --- callbacks of OpenSSL --- */

/* Returns the system calls of the connection's worker. NULL: there is no connection, so the worker
 * is unknown. */
static struct sys *
caller_sys(const struct tls_acceptor *a)
{
	const struct tls_io *io = a ? a->maker.io : NULL;

	return io && io->conn ? loop_sys(io->conn->loop) : NULL;
}

static struct kept_session *
pack_session(const SSL_SESSION *session)
{
	int len = i2d_SSL_SESSION(session, NULL);
	unsigned int id_len = 0;
	const unsigned char *id = SSL_SESSION_get_id(session, &id_len);
	struct kept_session *s;
	unsigned char *at;

	if (len <= 0 || len > SESSION_MAX || !id_len || id_len > sizeof(s->id))
		return NULL;
	s = mem_alloc(sizeof(*s) + (size_t)len);
	if (!s)
		return NULL;
	list_init(&s->link);
	s->id_len = id_len;
	memcpy(s->id, id, id_len);
	s->len = (size_t)len;
	at = s->der;
	(void)i2d_SSL_SESSION(session, &at);
	return s;
}

/* Stores a new session. Returns 0: OpenSSL keeps its reference. */
static int
on_new_session_id(SSL *ssl, SSL_SESSION *session)
{
	const struct tls_acceptor *a = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	struct sys *sys = caller_sys(a);
	struct kept_session *s, *gone[2];
	struct part *p;

	/* The ticket of TLS 1.3 is the session itself. */
	if (!sys ||
		(SSL_version(ssl) == TLS1_3_VERSION && !(SSL_get_options(ssl) & SSL_OP_NO_TICKET)))
		return 0;
	s = pack_session(session);
	if (!s)
		return 0;
	p = part_of(a->bind->conf->sessions, s->id, s->id_len);
	lock_take(&p->lock, sys);
	add_locked(a->bind->conf->sessions, p, s, gone);
	lock_drop(&p->lock);
	free_session(gone[0]);
	free_session(gone[1]);
	return 0;
}

/* Copies it: the bytes of the session, or 0. */
static size_t
copy_session(struct tls_sessions *t, struct sys *sys, const unsigned char *id, unsigned int len,
	unsigned char der[SESSION_MAX])
{
	struct part *p = part_of(t, id, len);
	struct kept_session *s;
	size_t n = 0;

	lock_take(&p->lock, sys);
	s = *find_locked(t, p, id, len);
	counter_add(&p->lookups, 1);
	if (s) {
		n = s->len;
		memcpy(der, s->der, n);
		list_remove(&s->link);
		list_append(p->used.next, &s->link);
	} else {
		counter_add(&p->misses, 1);
	}
	lock_drop(&p->lock);
	return n;
}

/* OpenSSL verifies its age and where it may be resumed. */
static SSL_SESSION *
on_session_asked(SSL *ssl, const unsigned char *id, int len, int *needs_copy)
{
	const struct tls_acceptor *a = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	struct sys *sys = caller_sys(a);
	unsigned char der[SESSION_MAX];
	const unsigned char *at = der;
	SSL_SESSION *found;
	size_t n;

	*needs_copy = 0;
	if (!sys || len <= 0 || len > SSL_MAX_SSL_SESSION_ID_LENGTH)
		return NULL;
	n = copy_session(a->bind->conf->sessions, sys, id, (unsigned int)len, der);
	if (!n)
		return NULL;
	found = d2i_SSL_SESSION(NULL, &at, (long)n);
	OPENSSL_cleanse(der, n);
	if (found && !tls_hello_match_session(ssl, found)) {
		SSL_SESSION_free(found);
		found = NULL;
	}
	return found;
}

/* Called for a session that is too old, or whose connection has failed. */
static void
on_session_removed(SSL_CTX *ctx, SSL_SESSION *session)
{
	const struct tls_acceptor *a = SSL_CTX_get_app_data(ctx);
	struct sys *sys = caller_sys(a);
	unsigned int len = 0;
	const unsigned char *id = SSL_SESSION_get_id(session, &len);
	struct kept_session *s;
	struct part *p;

	if (!sys || !len)
		return;
	p = part_of(a->bind->conf->sessions, id, len);
	lock_take(&p->lock, sys);
	s = take_locked(p, find_locked(a->bind->conf->sessions, p, id, len));
	lock_drop(&p->lock);
	free_session(s);
}

void
tls_sessions_use(SSL_CTX *ctx)
{
	(void)SSL_CTX_set_session_cache_mode(
		ctx, SSL_SESS_CACHE_SERVER | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ctx, on_new_session_id);
	SSL_CTX_sess_set_get_cb(ctx, on_session_asked);
	SSL_CTX_sess_set_remove_cb(ctx, on_session_removed);
}

void
tls_sessions_count(const struct tls_sessions *t, uint64_t *lookups, uint64_t *misses)
{
	*lookups = *misses = 0;
	for (unsigned int i = 0; t && i < PARTS; i++) {
		*lookups += counter_read(&t->part[i].lookups);
		*misses += counter_read(&t->part[i].misses);
	}
}

/* --- sessions with servers ------------------------------------------------------------------- */

/*
 * Each place holds a session or nothing. A worker takes a session out by an exchange; no other
 * one can reach it then.
 */

/* A power of two. Two names of one place take turns. */
#define PLACES 16
/* A larger one is not shared. */
#define SHARED_MAX 16384
/* Serializing a session costs about a twentieth of a resumed handshake: not more often than this,
 * for one that only replaces another. */
#define RENEW_MS 1000

struct packed {
	size_t size;           /* of all */
	size_t len;            /* of the session, behind the name */
	char name[];           /* NUL-terminated; "": none */
};

struct place {
	struct packed *kept;   /* NULL: none, or a worker reads it. Atomic, as the next. */
	uint64_t since_ms;
};

struct shared_sessions {
	unsigned int refs;     /* atomic */
	struct place place[PLACES];
};

/* Wiped before it is freed: it has the keys of connections. */
static void
free_packed(struct packed *p)
{
	if (p)
		OPENSSL_cleanse(p, p->size);
	mem_free(p);
}

struct shared_sessions *
shared_sessions_new(void)
{
	struct shared_sessions *sh = mem_zalloc(sizeof(*sh));

	if (sh)
		sh->refs = 1;
	return sh;
}

struct shared_sessions *
shared_sessions_get(struct shared_sessions *sh)
{
	(void)atomic_add(&sh->refs, 1u);
	return sh;
}

void
shared_sessions_put(struct shared_sessions *sh)
{
	if (!sh || atomic_sub(&sh->refs, 1u))
		return;
	for (unsigned int i = 0; i < PLACES; i++)
		free_packed(sh->place[i].kept);
	mem_free(sh);
}

/* Returns the place of a name. Clients may choose names that share a place: that costs no more than
 * random names do. */
static struct place *
place_of_name(struct shared_sessions *sh, const char *name)
{
	return &sh->place[keyhash_slot(keyhash(&keyhash_known, name, strlen(name)), PLACES)];
}

static struct packed *
pack_for_all(const char *name, const SSL_SESSION *session)
{
	int len = i2d_SSL_SESSION(session, NULL);
	size_t before = sizeof(struct packed) + strlen(name) + 1;
	unsigned char *at;
	struct packed *p;

	if (len <= 0 || len > SHARED_MAX)
		return NULL;
	p = mem_alloc(before + (size_t)len);
	if (!p)
		return NULL;
	p->size = before + (size_t)len;
	p->len = (size_t)len;
	memcpy(p->name, name, strlen(name) + 1);
	at = (unsigned char *)p + before;
	(void)i2d_SSL_SESSION(session, &at);
	return p;
}

void
shared_sessions_publish(struct shared_sessions *sh, const char *name, const SSL_SESSION *session,
	int is_new, uint64_t now_ms)
{
	struct place *place = place_of_name(sh, name ? name : "");
	struct packed *p;

	if (!is_new && atomic_read(&place->kept) &&
		now_ms - atomic_read(&place->since_ms) < RENEW_MS)
		return;
	p = pack_for_all(name ? name : "", session);
	if (!p)
		return;
	atomic_write(&place->since_ms, now_ms);
	free_packed(atomic_swap(&place->kept, p));
}

/* Puts the session back, unless a newer one came meanwhile. */
static void
put_back(struct place *place, struct packed *p)
{
	struct packed *now = NULL;

	while (!atomic_replace(&place->kept, &now, p))
		if (now) {
			free_packed(p);
			return;
		}
}

SSL_SESSION *
shared_sessions_copy(struct shared_sessions *sh, const char *name)
{
	struct place *place = place_of_name(sh, name ? name : "");
	struct packed *p;
	const unsigned char *at;
	SSL_SESSION *session = NULL;

	/* Without a write where there is nothing. */
	if (!atomic_read(&place->kept))
		return NULL;
	p = atomic_swap(&place->kept, NULL);
	if (!p)
		return NULL;
	at = (const unsigned char *)p + p->size - p->len;
	if (strcmp(p->name, name ? name : "") == 0)
		session = d2i_SSL_SESSION(NULL, &at, (long)p->len);
	put_back(place, p);
	if (!session)
		ERR_clear_error();
	return session;
}
