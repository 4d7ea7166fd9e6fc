/*
 * The value of a persistence cookie (manual 4.2, `cookie`): "SERVER", or with maxidle or maxlife
 * "SERVER|LAST" or "SERVER|LAST|FIRST" with the dates of the last and the first visit. A date has
 * five base64 characters: a 30-bit number of periods of four seconds since 1970, as in HAProxy. In
 * mode prefix: "SERVER~value". Pure.
 */
#ifndef TACIT_PROXY_HTTP1_PERSIST_COOKIE_H
#define TACIT_PROXY_HTTP1_PERSIST_COOKIE_H

#include "base/sbuf.h"
#include "proxy/model/persist_conf.h"

/* Dates up to this far in the future are accepted because of clock differences; later ones are
 * ignored. */
#define PERSIST_AHEAD_MAX_S 86400

struct persist_cookie {
	struct str who;
	int64_t last, first; /* s since 1970; 0: not given */
};

void persist_cookie_read(const struct persist_conf *c, struct str value,
	struct persist_cookie *out);
/* The state for the log: 'E' idle for too long, 'O' too old, 0 neither. now: s since 1970. */
char persist_cookie_age(const struct persist_conf *c, const struct persist_cookie *k, int64_t now);
/* True if its dates have to be updated. */
int persist_cookie_is_due(const struct persist_conf *c, const struct persist_cookie *k,
	int64_t now);
/* "NAME=SERVER|dates; path=/; ...", the Set-Cookie value; first: the date of the first visit. who
 * NULL: deletes the cookie. */
void persist_cookie_write(const struct persist_conf *c, const char *who, int64_t now,
	int64_t first, struct sbuf *out);
/* Maximum length of the rest, without name, server and attributes. */
#define PERSIST_COOKIE_EXTRA 64

#endif
