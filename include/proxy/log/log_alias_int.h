/* Shared by the files of log aliases. */
#ifndef TACIT_PROXY_LOG_LOG_ALIAS_INT_H
#define TACIT_PROXY_LOG_LOG_ALIAS_INT_H

#include "proxy/sample/eval.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/session.h"
#include "rule/sample/fmt.h"

/* The source and the output of an alias. */
struct log_render {
	const struct stream *s;
	const struct log_context *cx;
	struct sbuf *out;
	struct arena *arena;  /* memory for temporary texts */
	unsigned int flags;   /* enum rule_fmt_flag */
	/* The head that rules of a response see; NULL: another place. */
	const struct http_head *res;
};

/* "+" if the value is not final. */
static inline void
log_put_plus(struct log_render *r)
{
	if (r->cx->asap)
		sbuf_addc(r->out, '+');
}

/* A duration in milliseconds, -1 if its end was not reached. */
static inline void
log_put_timer(struct log_render *r, int reached, uint64_t from, uint64_t to)
{
	if (!reached)
		sbuf_adds(r->out, "-1");
	else
		sbuf_addu(r->out, to > from ? to - from : 0);
}

/* The time between accept and the first request or session, which is that of a PROXY header. Only
 * for the first request of a connection. */
static inline uint64_t
log_handshake_ms(const struct stream *s)
{
	return s->sess->begun_ms && s->sess->requests <= 1 ? s->sess->begun_ms - s->sess->accept_ms
							   : 0;
}

/* The request was for a local service, which takes the place of a server. */
static inline int
log_is_served(const struct stream *s)
{
	return s->txn && s->txn->served_by;
}

/* The aliases of mode http, log_alias_http.c: put_<fn> of log_alias.tbl.h. */
void put_r(struct log_render *r);
void put_HM(struct log_render *r);
void put_HP(struct log_render *r);
void put_HPO(struct log_render *r);
void put_HQ(struct log_render *r);
void put_HU(struct log_render *r);
void put_HV(struct log_render *r);
void put_ST(struct log_render *r);
void put_tsc(struct log_render *r);
void put_TR(struct log_render *r);
void put_Tr(struct log_render *r);
void put_Td(struct log_render *r);
void put_Ta(struct log_render *r);
void put_Ti(struct log_render *r);
void put_Tq(struct log_render *r);
void put_tr(struct log_render *r);
void put_trg(struct log_render *r);
void put_trl(struct log_render *r);

#endif
