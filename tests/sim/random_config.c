#include "sim/random_world.h"

#include "proxy/model/session.h"

#define KIND_MS 3000000 /* a timeout that is never reached */

static uint64_t
delay(struct dice *d)
{
	return dice_is(d, 3) ? (1 + dice(d, 60)) * FAKE_MS : 0;
}

static void
timeouts(struct dice *d, int kind, struct proxy_timeouts *to)
{
	if (kind) {
		to->connect = to->client = to->server = to->queue = KIND_MS;
		return;
	}
	to->connect = 1 + dice(d, 3000);
	to->client = 1 + dice(d, 5000);
	to->server = 1 + dice(d, 5000);
	to->queue = 1 + dice(d, 3000);
	to->client_fin = dice_is(d, 3) ? 1 + dice(d, 1000) : 0;
	to->server_fin = dice_is(d, 3) ? 1 + dice(d, 1000) : 0;
}

/* Bulk transfers with turns and large pieces, and with pipes: of all sizes, including useless ones,
 * and too few. */
static void
streams(struct dice *d, struct world_config *c)
{
	static const unsigned int options[] = { OPT_SPLICE_AUTO, OPT_SPLICE_REQUEST,
		OPT_SPLICE_RESPONSE, OPT_SPLICE_REQUEST | OPT_SPLICE_RESPONSE };
	static const unsigned int fragments[] = { 10, 536, 1448, 4096 };

	if (dice_is(d, 2))
		c->bulk_bufsize = c->bufsize << dice(d, 4);
	if (dice_is(d, 2))
		c->bulk_turn = 1 + dice(d, 40000) / 8; /* alone they have eight times as much */
	c->splice_after = 1u << dice(d, 17);
	if (dice_is(d, 2))
		return;
	c->options |= options[dice(d, ARRAY_LEN(options))];
	c->maxpipes = 1 + dice(d, 6);
	c->pipe_slots = 1u << dice(d, 6);
	c->fragment = fragments[dice(d, ARRAY_LEN(fragments))];
}

/* Rules that inspect data before it is forwarded, and rules that end sessions. */
const char *
random_rules(struct dice *d, int kind)
{
	static const char *const pass[] = {
		"tcp-request inspect-delay 100ms\n"
		"tcp-request content accept if { req.len gt 300 }",
		"tcp-response inspect-delay 100ms\n"
		"tcp-response content accept if { res.len gt 300 }",
		"tcp-request inspect-delay 2s\ntcp-request content accept if { req.len gt 1 }\n"
		"tcp-response inspect-delay 1s\ntcp-response content accept if { res.len gt 9 }",
	};
	static const char *const end[] = {
		"tcp-request inspect-delay 500ms\n"
		"tcp-request content reject if { req.len gt 700 }",
		"tcp-response inspect-delay 500ms\n"
		"tcp-response content reject if { res.len gt 700 }",
		"tcp-request inspect-delay 1s\ntcp-request content reject if WAIT_END",
	};

	if (!dice_is(d, 4))
		return NULL;
	return kind || dice_is(d, 2) ? pass[dice(d, ARRAY_LEN(pass))]
				     : end[dice(d, ARRAY_LEN(end))];
}

struct world_config
random_config(struct dice *d, int kind)
{
	struct world_config c = { 0 };

	c.mode = (enum interest_mode)dice(d, 3);
	c.eager = dice_is(d, 5);
	c.bufsize = 1024u << dice(d, 5);
	c.sndbuf = 2048u << dice(d, 6);
	c.rcvbuf = 2048u << dice(d, 6);
	c.max_events = dice_is(d, 4) ? 1 + (int)dice(d, 4) : 0;
	c.maxconn = dice_is(d, 5) ? 1 + (int)dice(d, 5) : 0;
	c.fd_limit = dice_is(d, 6) ? 8 + (int)dice(d, 20) : 0;
	c.defer = dice_is(d, 6);
	c.client_delay = delay(d);
	c.retries = (int)dice(d, 4);
	c.redispatch = (int)dice(d, 4) - 2;
	c.n_servers = 1 + dice(d, WORLD_SERVERS);
	if (dice_is(d, 3))
		c.options = OPT_SRVTCPKA | OPT_SMART_CONNECT | OPT_SMART_ACCEPT;
	if (!kind && dice_is(d, 4))
		c.options |= OPT_NOLINGER;
	streams(d, &c);
	timeouts(d, kind, &c.to);
	for (unsigned int i = 0; i < c.n_servers; i++) {
		struct world_server *s = &c.server[i];

		s->one_way = delay(d);
		s->path = s->one_way ? FAKE_FAR : FAKE_NEAR;
		s->maxconn = dice_is(d, 5) ? 1 + (int)dice(d, 4) : 0;
		s->backlog = kind ? 0 : 1 + (int)dice(d, 8);
		if (kind)
			continue;
		s->absent = dice_is(d, 6);
		if (dice_is(d, 8))
			s->path = dice_is(d, 2) ? FAKE_REFUSED : FAKE_BLACKHOLE;
	}
	/* missing descriptors make connects fail, which is not kind */
	if (kind)
		c.fd_limit = 0;
	return c;
}

/* Memory for a few sessions and fewer buffers, down to none. */
static uint64_t
memory(struct dice *d, unsigned int bufsize)
{
	uint64_t sessions, buffers;

	if (!dice_is(d, 4))
		return 0;
	sessions = dice(d, 8);
	buffers = dice(d, 4);
	return sessions * SESSION_SIZE + buffers * bufsize;
}

/* Zero-copy sends, and a kernel that completes them in one of several ways. */
static void
zerocopy(struct dice *d, struct world_config *c)
{
	if (!dice_is(d, 3))
		return;
	c->zerocopy = 1 + dice(d, c->bufsize);
	c->pinned = dice_is(d, 3) ? 8192u << dice(d, 4) : 0;
	c->no_fast_path = dice_is(d, 4);
	c->zc.refused = dice_is(d, 12);
	c->zc.copied = dice_is(d, 8);
	c->zc.shuffle = dice_is(d, 3);
	c->zc.limit = dice_is(d, 4) ? 1 + dice(d, 4) : 0;
	c->zc.first = dice_is(d, 3) ? UINT32_MAX - dice(d, 8) : 0;
	c->zc.late = dice_is(d, 3) ? dice(d, 50) * FAKE_MS : 0;
}

const char *
random_header(struct dice *d, int kind)
{
	static const char *const headers[] = { "PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n",
		"PROXY UNKNOWN\r\n", "PROXY TCP6 2001:db8::1 ::2 65535 0\r\n",
		/* and invalid ones */
		"PROXY TCP4 1.2", "", "PROXY TCP5 x\r\n" };

	return headers[dice(d, kind ? 3 : ARRAY_LEN(headers))];
}

void
random_bounds(struct dice *d, struct world_config *c)
{
	c->memory = memory(d, c->bufsize);
	zerocopy(d, c);
}

void
random_tls(unsigned int n, struct world_config *c)
{
	unsigned int way = n / 4;

	if (n % 4)
		return;
	c->tls = 1 + way % 3;
	c->tls_12 = way % 2;
	c->update_every = way > 3 ? 2 : 0;
	/* Without peeking, a direction needs a buffer. */
	if (c->memory)
		c->memory += n * 2 * RANDOM_TLS_BYTES + c->bufsize;
}
