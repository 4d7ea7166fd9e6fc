/*
 * Keys of session tickets (RFC 5077, 4): of a bind line's file, or those that all other bind lines
 * share. There are three: the ultimate one is for others that have rotated before us, the
 * penultimate one encrypts, and all of them decrypt. Workers read them without a lock.
 *
 * Main thread, or the first worker while the others are paused. The keys lie in memory of their
 * own that is not part of a core, and are cleansed.
 */
#ifndef TACIT_TLS_TICKETS_H
#define TACIT_TLS_TICKETS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/sbuf.h"
#include "tls/cert.h"

struct evp_cipher_st;
struct ssl_ctx_st;
struct sys;

enum {
	TLS_TICKETS_NO = 3,
	TLS_TICKET_NAME = 16,    /* bytes of a key that a ticket begins with */
	TLS_TICKET_KEY_128 = 48, /* name, key of the cipher, key of the MAC */
	TLS_TICKET_KEY_256 = 80, /* name, key of the MAC, key of the cipher */
	/* A multiple of the size of a page anywhere. */
	TLS_SECRET_SIZE = 65536
};

struct tls_ticket_keys {
	_Atomic uint32_t version; /* 0: there are none; changes with them */
	uint64_t renewed_ms;      /* the loop's time at the last rotation */
	unsigned char key[TLS_TICKETS_NO][TLS_TICKET_KEY_256]; /* the oldest first */
};

struct tls_tickets {
	struct list link;
	char *file;               /* NULL: they are no file's */
	unsigned int id;
	size_t key_len;
	struct evp_cipher_st *cipher;
	struct tls_ticket_keys *keys;
	struct tls_ticket_keys *kept; /* a copy, which outlives the process; NULL: none */
};

/* Three random keys, of 80 bytes. NULL when memory or random bytes are out. */
struct tls_tickets *tls_tickets_new(struct sys *sys) must_check;
/* Reads the keys of a file: a line for each, in base64, the last three count. NULL with why
 * (TLS_WHY_MAX). */
struct tls_tickets *tls_tickets_read(struct sys *sys, const char *path, char *why) must_check;
/* No context may use them any more. NULL is allowed. */
void tls_tickets_free(struct tls_tickets *t);

/* A random key becomes the ultimate one. 0, or -ERR_SYS and nothing has changed. */
int tls_tickets_rotate(struct tls_tickets *t, uint64_t now_ms) must_check;
/* The same with a key in base64. 0, -ERR_SYNTAX: it is none, -ERR_RANGE: it has another length than
 * the others. */
int tls_tickets_push(struct tls_tickets *t, const char *base64) must_check;
/* Key i in base64. */
void tls_tickets_show(const struct tls_tickets *t, unsigned int i, struct sbuf *out);

/* Copies all later changes to `kept`, which has TLS_SECRET_SIZE bytes to the next page. */
void tls_tickets_keep(struct tls_tickets *t, struct sys *sys, struct tls_ticket_keys *kept);
/* Takes keys that another process has saved, and may be changing. 1, or 0: they cannot be used. */
int tls_tickets_restore(struct tls_tickets *t, const struct tls_ticket_keys *kept);

/* Tickets of this context are made with its acceptor's keys (bind.tickets). */
void tls_tickets_use(struct ssl_ctx_st *ctx);

#endif
