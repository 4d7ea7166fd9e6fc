/* Connections to servers that show the client's address. On the session's worker; such a
 * connection is never used for another client. */
#include "proxy/session/connect_source.h"

#include <string.h>

#include "net/conn_socket.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/http_txn.h"
#include "rule/sample/sample.h"

/* Element number `nth` of a header's lists, the first one is 0; *n is their number. */
static int
find_element(const struct http_head *h, struct str name, int nth, int *n, struct str *out)
{
	int found = 0;

	*n = 0;
	for (int i = http_find(h, name, 0); i >= 0; i = http_find(h, name, (unsigned int)i + 1)) {
		struct str rest = h->field[i].value, one;

		for (; http_list_next(&rest, &one); ++*n)
			if (*n == nth) {
				*out = one;
				found = 1;
			}
	}
	return found;
}

/* Negative occurrences count from the last one. */
static int
find_occurrence(const struct http_head *h, const struct source_conf *src, struct str *out)
{
	struct str name = str_of(src->header);
	int n;

	if (src->occurrence > 0)
		return find_element(h, name, src->occurrence - 1, &n, out);
	(void)find_element(h, name, -1, &n, out);
	return find_element(h, name, n + src->occurrence, &n, out);
}

void
connect_source_note(struct stream *s)
{
	const struct source_conf *src = &s->srv->conf.source;
	struct arena *a = &s->engine->eval.arena;
	struct http_txn *t = s->txn;
	struct sample value;
	struct str text;
	size_t mark;

	if (src->as != SOURCE_AS_HEADER || t->placed || !find_occurrence(&t->req, src, &text))
		return;
	mark = arena_mark(a);
	sample_set_str(&value, text);
	if (sample_cast(&value, SAMPLE_ADDR, a) == 0) {
		int is_v4 = value.type == SAMPLE_IPV4;

		t->source_family = is_v4 ? AF_INET : AF_INET6;
		memcpy(t->source_ip, is_v4 ? (const void *)&value.u.ipv4 : &value.u.ipv6,
			is_v4 ? sizeof(value.u.ipv4) : sizeof(value.u.ipv6));
	}
	arena_release(a, mark);
}

static int
noted_address(const struct http_txn *t, struct addr *out)
{
	memset(out, 0, sizeof(*out));
	if (!t || !t->source_family)
		return 0;
	out->u.sa.sa_family = t->source_family;
	if (t->source_family == AF_INET) {
		out->len = sizeof(out->u.in);
		memcpy(&out->u.in.sin_addr, t->source_ip, sizeof(out->u.in.sin_addr));
	} else {
		out->len = sizeof(out->u.in6);
		memcpy(&out->u.in6.sin6_addr, t->source_ip, sizeof(out->u.in6.sin6_addr));
	}
	return 1;
}

int
connect_source_get(const struct stream *s, struct addr *out)
{
	const struct source_conf *src = &s->srv->conf.source;

	switch (src->as) {
	case SOURCE_AS_SELF:
		return 0;
	case SOURCE_AS_ADDR:
		*out = src->as_addr;
		return 1;
	case SOURCE_AS_HEADER:
		return noted_address(s->txn, out);
	case SOURCE_AS_CLIENT:
	case SOURCE_AS_CLIENT_IP:
		break;
	}
	addr_override_copy_source(s, out);
	if (src->as == SOURCE_AS_CLIENT_IP)
		addr_set_port(out, 0);
	return addr_family(out) == AF_INET || addr_family(out) == AF_INET6;
}

int
connect_source_is(const struct stream *s, const struct conn *c)
{
	struct addr want, has;

	if (!source_is_of_client(&s->srv->conf.source))
		return 1;
	return connect_source_get(s, &want) &&
		conn_local_addr(c, &has) == 0 &&
		addr_is_same_host(&want, &has) &&
		(!addr_port(&want) || addr_port(&want) == addr_port(&has));
}
