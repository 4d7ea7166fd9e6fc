/* The variables of log formats that are about captures (manual 8.7, 8.8), and the unique id. */
#include "proxy/log/log_alias_int.h"
#include "proxy/sample/capture.h"
#include "proxy/model/http_txn.h"
#include "proxy/sample/unique_id.h"

/* Without a valid request there are no captures, not even empty slots. */
static int
has_captures(const struct log_render *r)
{
	const struct session *s = r->s;

	return s->captures && (!s->is_http || (s->txn && s->txn->head_ms));
}

/* --- cookies --- */

static void
put_cookie(struct log_render *r, unsigned int i)
{
	struct str text;

	if (!capture_get(r->s, CAPTURE_COOKIE, i, &text))
		text = (struct str){ NULL, 0 };
	rule_fmt_put(r->out, r->flags, text);
}

void
put_CC(struct log_render *r)
{
	put_cookie(r, 0);
}

void
put_CS(struct log_render *r)
{
	put_cookie(r, 1);
}

/* --- fields --- */

/* "{a||c}": missing values are empty. */
static void
put_braces(struct log_render *r, enum capture_kind kind)
{
	unsigned int flags = (r->flags & ~(unsigned int)RULE_FMT_Q) | RULE_FMT_LIST;
	unsigned int n = r->s->fe->captures.n[kind];
	struct str text;

	if (!n || !has_captures(r))
		return;
	sbuf_adds(r->out, r->flags & RULE_FMT_Q ? "\"{" : "{");
	for (unsigned int i = 0; i < n; i++) {
		if (i)
			sbuf_addc(r->out, '|');
		if (capture_get(r->s, kind, i, &text))
			rule_fmt_put(r->out, flags, text);
	}
	sbuf_adds(r->out, r->flags & RULE_FMT_Q ? "}\"" : "}");
}

/* "a - c", separate values. */
static void
put_list(struct log_render *r, enum capture_kind kind)
{
	unsigned int n = has_captures(r) ? r->s->fe->captures.n[kind] : 0;
	struct str text;

	for (unsigned int i = 0; i < n; i++) {
		if (i)
			sbuf_addc(r->out, ' ');
		if (!capture_get(r->s, kind, i, &text))
			text = (struct str){ NULL, 0 };
		rule_fmt_put(r->out, r->flags | RULE_FMT_LIST, text);
	}
}

void
put_hr(struct log_render *r)
{
	put_braces(r, CAPTURE_REQUEST);
}

void
put_hs(struct log_render *r)
{
	put_braces(r, CAPTURE_RESPONSE);
}

void
put_hrl(struct log_render *r)
{
	put_list(r, CAPTURE_REQUEST);
}

void
put_hsl(struct log_render *r)
{
	put_list(r, CAPTURE_RESPONSE);
}

/* --- the unique id --- */

void
put_ID(struct log_render *r)
{
	struct str id;

	if (!unique_id_get(r->s, r->arena, &id))
		id = (struct str){ NULL, 0 };
	rule_fmt_put(r->out, r->flags, id);
}
