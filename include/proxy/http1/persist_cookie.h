/*
 * The value of a cookie that names a server (manual 4.2, `cookie`): "SERVER", and where its age
 * counts, "SERVER|LAST" or "SERVER|LAST|FIRST" with the dates of the last and the first visit. A
 * date is five letters of base64: a number of 30 bits, of periods of four seconds since 1970, as
 * HAProxy writes it. Prefixed to a value of the server's: "SERVER~value". Pure.
 */
#ifndef TACIT_PROXY_HTTP1_PERSIST_COOKIE_H
#define TACIT_PROXY_HTTP1_PERSIST_COOKIE_H

#include "base/sbuf.h"
#include "proxy/model/persist_conf.h"

/* Dates so far ahead are taken for somebody's wrong clock, others for nobody's. */
#define PERSIST_AHEAD_MAX_S 86400

struct persist_cookie {
	struct str who;
	int64_t last, first; /* s since 1970; 0: not given */
};

void persist_cookie_read(const struct persist_conf *c, struct str value,
	struct persist_cookie *out);
/* As the log says it: 'E' idle for too long, 'O' too old, 0 neither. now: s since 1970. */
char persist_cookie_age(const struct persist_conf *c, const struct persist_cookie *k, int64_t now);
/* Are its dates to be written anew? */
int persist_cookie_is_due(const struct persist_conf *c, const struct persist_cookie *k,
	int64_t now);
/* "NAME=SERVER|dates; path=/; ...", which sets it; first: of the first visit. who NULL: which takes
 * it away from the client. */
void persist_cookie_write(const struct persist_conf *c, const char *who, int64_t now,
	int64_t first, struct sbuf *out);
/* Bytes that this takes at most besides name, server and attributes. */
#define PERSIST_COOKIE_EXTRA 64

#endif
