/*
 * Cookies of servers made of their addresses and a secret key of the backend (manual 4.2, `cookie
 * dynamic`): proxies with the same key make the same ones. The first worker changes them when an
 * address or the key changes; others read them without a lock.
 */
#ifndef TACIT_PROXY_MODEL_DYNAMIC_COOKIE_H
#define TACIT_PROXY_MODEL_DYNAMIC_COOKIE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

struct proxy;
struct server;

/* Room for the text of a cookie. */
#define DYNAMIC_COOKIE_TEXT 17
/* Maximum length of a key. */
#define DYNAMIC_COOKIE_KEY_MAX 1024

struct dynamic_cookie {
	struct server *srv;
	uint64_t value;      /* 0: none; any worker may read it (atomic_read) */
};

struct dynamic_cookies {
	int is_on;           /* `dynamic`, or by command */
	char *key;           /* dynamic-cookie-key; NULL: none */
	struct dynamic_cookie *entry; /* of servers without `cookie`, in file order */
	unsigned int n;
};

/* Allocates and makes those of p, when its servers are known. 0 or -ERR_NOMEM. */
int dynamic_cookies_make(struct proxy *p) must_check;
/* A server is removed, while the workers are paused. */
void dynamic_cookies_forget(struct dynamic_cookies *d, struct server *s);
void dynamic_cookies_fini(struct dynamic_cookies *d);
/* On the first worker: sets the cookies after a change of the key or of is_on. */
void dynamic_cookies_set(struct proxy *p);
/* The same for one server, whose address has changed. */
void dynamic_cookie_set(struct server *s);
/* True if two servers have the same one, which is that of the first. */
int dynamic_cookies_collide(const struct dynamic_cookies *d);

/* The value of a cookie that a client has sent; 0: it is none of these. */
uint64_t dynamic_cookie_parse(struct str text);
/* The next server with it, from *at on, which begins with 0; NULL: no more. */
struct server *
dynamic_cookie_next(const struct dynamic_cookies *d, uint64_t value, unsigned int *at);
/* The cookie of a server, from its line or made, in text or its own; NULL: it has none. */
const char *server_cookie(const struct server *s, char text[DYNAMIC_COOKIE_TEXT]);

#endif
