/* The PROXY header that a connection to a server begins with. On the session's worker; it leaves
 * with the first bytes of the client, or alone. */
#include "proxy/session/proxy_protocol_out.h"

#include "net/proxy_header.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/server.h"
#include "proxy/sample/eval.h"
#include "proxy/sample/unique_id.h"
#include "proxy/session/proxy_protocol_tls.h"

/* Fields of formats; one whose text does not fit is left out. */
static unsigned int
make_tlvs(const struct stream *s, struct arena *a, struct proxy_header_tlv *out)
{
	unsigned int n = 0;
	struct eval l;

	eval_init(&l, (struct stream *)(uintptr_t)s, SAMPLE_AT_CONN);
	l.cx.arena = a;
	for (const struct server_tlv *t = s->srv->conf.tlvs; t; t = t->next) {
		out[n].type = t->type;
		l.cx.where = &t->where;
		n += rule_fmt_text(t->fmt, &l.cx, &out[n].value) == 0;
	}
	return n;
}

/* The addresses are those that rules see: src and dst. */
static size_t
write_proxy_header(const struct stream *s, char out[PROXY_HEADER_OUT_MAX])
{
	unsigned int wants = s->srv->conf.proxy_header;
	struct arena *a = &s->engine->eval.arena;
	struct proxy_header_fields f = { .version = wants & SERVER_PROXY_V2 ? 2 : 1,
		.has_crc32c = (wants & SERVER_PROXY_CRC32C) != 0,
		.has_unique_id = (wants & SERVER_PROXY_UNIQUE_ID) != 0 };
	struct proxy_header_tlv tlv[SERVER_TLVS_MAX];
	struct proxy_header_ssl ssl;
	struct addr src, dst;
	size_t mark = arena_mark(a), n;

	addr_override_copy_source(s, &src);
	f.src = &src;
	if (addr_override_destination(s, &dst) == 0)
		f.dst = &dst;
	if (f.version == 2)
		proxy_protocol_put_tls(s, a, &f, &ssl);
	if (f.has_unique_id && f.version == 2)
		(void)unique_id_get(s, a, &f.unique_id);
	if (s->srv->conf.tlvs && f.version == 2) {
		f.tlv = tlv;
		f.n_tlvs = make_tlvs(s, a, tlv);
	}
	n = proxy_header_write(&f, out);
	arena_release(a, mark);
	return n;
}

int
proxy_protocol_begin(struct stream *s)
{
	char text[PROXY_HEADER_OUT_MAX];

	return conn_set_preface(s->conn[SERVER], text, write_proxy_header(s, text));
}

int
proxy_protocol_matches(const struct stream *s, const struct conn *c)
{
	char text[PROXY_HEADER_OUT_MAX];

	return !s->srv->conf.proxy_header ||
		conn_has_preface(c, text, write_proxy_header(s, text));
}
