/*
 * Names that rules ask for (do-resolve). A session's worker makes a question and waits; the first
 * worker looks the name up; then the question is the session's worker's again. Between them it
 * stands in a list under a lock, and a message only announces it: it may be lost.
 */
#ifndef TACIT_PROXY_MODEL_DNS_ASK_H
#define TACIT_PROXY_MODEL_DNS_ASK_H

#include "base/compiler.h"
#include "base/list.h"
#include "base/lock.h"
#include "dns/resolvers.h"
#include "proxy/model/shard.h"

struct engine;
struct rule;
struct resolvers;
struct stream;

struct dns_ask {
	struct list link;        /* in dns_asks */
	/* Written before it is asked. */
	unsigned int worker;
	struct resolvers *res;
	enum dns_type prefer;
	char name[DNS_NAME_MAX + 1];
	/* Its worker's. */
	const struct rule *by;   /* the rule that asks */
	struct dns_ask *next;    /* of the same session */
	struct stream *stream; /* NULL: it has ended */
	int is_done;
	/* The first worker's, until it is done. */
	struct dns_asks *of;
	struct dns_watch watch;
	struct addr addr;        /* len 0: there is none */
};

struct dns_asks {
	struct engine *first;    /* NULL: no names are looked up */
	struct task task;        /* of the first worker: takes its own sessions' questions */
	struct list active;      /* struct dns_ask.link: the first worker looks them up */
	struct lock lock;        /* guards the lists below */
	struct list todo;
	struct list done[ENGINES_MAX];
};

/* A question of a stream's rule, on its worker; it comes back through the hook on_resolved(). NULL
 * when memory is out, no names are looked up, or the stream has no extras. */
struct dns_ask *dns_ask_new(struct stream *s, const struct rule *by, struct resolvers *res,
	const char *name, enum dns_type prefer) must_check;
/* The question of this rule; NULL: none. */
struct dns_ask *dns_ask_find(const struct stream *s, const struct rule *by);
/* True if the session waits for one. */
int dns_ask_is_pending(const struct stream *s);
/* The session needs it no longer. Frees it if it is done, or when it comes back. */
void dns_ask_drop(struct stream *s, struct dns_ask *a);
void dns_ask_drop_all(struct stream *s);
/* On e's own thread: takes the questions that have come back. */
void dns_ask_collect(struct engine *e);

#endif
