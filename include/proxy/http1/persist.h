/*
 * Persistence of a session (manual 4.2, `cookie`, `use-server`, `force-persist`, `ignore-persist`,
 * `option persist`): binds the session to a server before load balancing, and processes the cookie
 * in request and response.
 *
 * session.bound is the server found by persistence, session.srv the one that was used; if they
 * differ the client gets a new cookie.
 */
#ifndef TACIT_PROXY_HTTP1_PERSIST_H
#define TACIT_PROXY_HTTP1_PERSIST_H

#include "proxy/model/session.h"
#include "base/sbuf.h"
#include "proxy/model/persist_conf.h"

struct arena;

/* persist_choose(), for a backend with persistence. */
void persist_apply(struct stream *s);

/*
 * Called when s->be is set and the request (mode http) can still be read: binds the session to a
 * server, if any. Costs nothing without persistence.
 */
static inline void
persist_choose(struct stream *s)
{
	s->bound = NULL;
	s->forced = 0;
	if (!persist_conf_is_empty(&s->be->persist))
		persist_apply(s);
}

/*
 * Removes from the request's head what the server must not see: the cookie set by tacit, or its
 * prefix of the server's cookie. Texts lie in the arena. 0, or -ERR_RANGE when they do not fit.
 */
int persist_strip(struct stream *s, struct arena *a) must_check;
/* Sets the cookie in the response's head. Results likewise. */
int persist_answer(struct stream *s, struct arena *a) must_check;
/* True if that adds a cookie and hides the response from caches (nocache). */
int persist_hides_answer(const struct stream *s);

/*
 * The value of a persistence cookie (manual 4.2, `cookie`): "SERVER", or with maxidle or maxlife
 * "SERVER|LAST" or "SERVER|LAST|FIRST" with the dates of the last and the first visit. A date has
 * five base64 characters: a 30-bit number of periods of four seconds since 1970, as in HAProxy. In
 * mode prefix: "SERVER~value". Pure.
 */

/* Dates up to this far in the future are accepted because of clock differences; later ones are
 * ignored. */
#define PERSIST_AHEAD_MAX_S 86400

struct persist_cookie {
	struct str who;
	int64_t last, first; /* s since 1970; 0: not given */
};

/* "NAME=SERVER|dates; path=/; ...", the Set-Cookie value; first: the date of the first visit. who
 * NULL: deletes the cookie. */
void persist_cookie_write(const struct persist_conf *c, const char *who, int64_t now,
	int64_t first, struct sbuf *out);
/* Maximum length of the rest, without name, server and attributes. */
#define PERSIST_COOKIE_EXTRA 64

#endif
