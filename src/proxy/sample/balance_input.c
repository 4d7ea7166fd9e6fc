/* The balancing key of a session, evaluated once, before it is balanced. */
#include <string.h>

#include "proxy/backend/balance.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/proxies.h"
#include "proxy/sample/eval.h"
#include "rule/sample/rdp.h"

static unsigned int
balance_scope(const struct proxy *be)
{
	unsigned int at = SAMPLE_AT_CONN | SAMPLE_AT_BACK;

	return be->mode == PROXY_HTTP ? at | SAMPLE_AT_REQ : at;
}

/* An address as its bytes, a number as eight bytes. */
static int
key_of_expr(struct stream *s, const struct rule_expr *e, uint32_t *key)
{
	struct sample found = { 0 };
	struct eval eval;
	size_t mark;
	int known;

	eval_init(&eval, s, balance_scope(s->be));
	eval.cx.req_ended = 1;
	eval.cx.where = &s->be->balance_by.where;
	if (!eval.cx.req)
		eval.cx.at &= ~(unsigned int)SAMPLE_AT_REQ;
	mark = arena_mark(eval.cx.arena);
	known = rule_expr_eval_as(e, &eval.cx, SAMPLE_BIN, &found);
	if (known)
		*key = balance_key_of_text(&s->be->hash_type, found.u.str.p, found.u.str.len);
	arena_release(eval.cx.arena, mark);
	return known;
}

static int
key_of_request(struct stream *s, uint32_t *key)
{
	const struct proxy *be = s->be;
	const struct http_head *req = &s->txn->req;
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	int known = balance_key_of_request(be->balance, &be->balance_by, &be->hash_type, req, key);

	if (known || !balance_wants_body(be->balance, req))
		return known;
	known = balance_key_of_form(&be->balance_by, &be->hash_type, eval_received_body(s), key);
	arena_release(a, mark);
	return known;
}

static int
key_of_rdp(const struct stream *s, uint32_t *key)
{
	struct str value;

	if (s->txn || !rdp_find_named(tcp_received(s), s->be->balance_by.name, &value) ||
		!value.len)
		return 0;
	*key = balance_key_of_text(&s->be->hash_type, value.p, value.len);
	return 1;
}

int
balance_key_of_session(struct stream *s, uint32_t *key)
{
	const struct proxy *be = s->be;

	if (be->balance == BALANCE_SOURCE)
		return balance_key_of_addr(&be->hash_type, addr_override_source(s), key);
	if (be->balance == BALANCE_HASH)
		return key_of_expr(s, be->balance_by.expr, key);
	if (be->balance == BALANCE_RDP_COOKIE)
		return key_of_rdp(s, key);
	return s->txn ? key_of_request(s, key) : 0;
}

void
balance_check(const struct proxy *be, struct proxies *root, struct cfg_diag *d)
{
	const struct balance_by *by = &be->balance_by;
	struct rule_err why;

	if (!(be->caps & PROXY_BE))
		return;
	if (be->mode == PROXY_HTTP && be->balance == BALANCE_RDP_COOKIE)
		cfg_diag_add(d, CFG_WARNING, &be->where,
			"backend '%s': 'balance rdp-cookie' is roundrobin without 'mode tcp'.",
			be->name);
	if (be->balance != BALANCE_HASH || !by->expr)
		return;
	/* Bytes are only available where connections wait for them. */
	if (rule_expr_needs(by->expr) & ~balance_scope(be))
		cfg_diag_add(d, CFG_ALERT, &by->where,
			"'balance hash' : request contents are not available in mode tcp.");
	if (rule_expr_check(by->expr, root, &why) < 0)
		cfg_diag_add(d, CFG_ALERT, &by->where, "'balance hash' : %s.", why.text);
}
