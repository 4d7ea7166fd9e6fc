/* Each place holds a session or nothing. A worker takes a session out by an exchange; no other one
 * can reach it then. */
#include "tls/shared_sessions.h"

#include <string.h>

#include "base/atomic.h"
#include "base/keyhash.h"
#include "base/mem.h"
#include "tls/openssl.h"

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

/* Clients may choose names that share a place: that costs what random names cost as well. */
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
