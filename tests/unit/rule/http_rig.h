/* expr_rig with HTTP messages. */
#ifndef TACIT_TEST_RULE_HTTP_RIG_H
#define TACIT_TEST_RULE_HTTP_RIG_H

#include "unit/rule/expr_rig.h"
#include "unit/test.h"

#include "http/h1_parse.h"

struct http_rig {
	struct expr_rig r;
	struct http_head req, res;
	struct http_field fields[2][64];
	char values[4096];
};

static inline void
rig_request(struct http_rig *h, const char *text)
{
	struct h1_parser p = { 0 };
	size_t used;

	http_head_init(&h->req, HTTP_REQUEST, h->fields[0], ARRAY_LEN(h->fields[0]));
	assert_int_equal(h1_parse_request(&p, text, strlen(text), &h->req, &used),
		HTTP_COMPLETE);
	h->r.cx.req = &h->req;
	h->r.cx.req_body = (struct sample_body){ .content = { text + used, strlen(text) - used },
		.is_whole = 1 };
	h->r.cx.at = RIG_EVERYWHERE & ~SAMPLE_AT_RES;
}

static inline void
rig_response(struct http_rig *h, const char *text)
{
	struct h1_parser p = { 0 };
	size_t used;

	http_head_init(&h->res, HTTP_RESPONSE, h->fields[1], ARRAY_LEN(h->fields[1]));
	assert_int_equal(h1_parse_response(&p, text, strlen(text), &h->res, &used),
		HTTP_COMPLETE);
	h->r.cx.res = &h->res;
	h->r.cx.at = RIG_EVERYWHERE;
}

/* All values as an ACL sees them, each followed by '|'; "-|" for a missing one. */
static inline const char *
rig_each(struct http_rig *h, const char *text)
{
	struct rule_expr *e = NULL;
	struct sample s;
	size_t used, n = 0;

	assert_int_equal(rule_expr_parse(&h->r.vocab, text, strlen(text), h->r.cx.at, 0, &e, &used,
				 &h->r.why), 0);
	h->values[0] = '\0';
	h->r.cx.nth = 0;
	do {
		int found = rule_expr_eval(e, &h->r.cx, &s);
		uint8_t more = s.has_more;

		n += (size_t)snprintf(h->values + n, sizeof(h->values) - n, "%s|",
			found ? rig_show(&h->r, &s) : "-");
		s.has_more = more;
		arena_release(&h->r.arena, 0);
		h->r.cx.nth++;
	} while (s.has_more && n < sizeof(h->values));
	h->r.cx.nth = 0;
	rule_expr_free(&e);
	return h->values;
}

#endif
