/*
 * Any text as a log-format: it is rejected with a reason and its place, or its result for a session
 * is the same twice, contains no byte that could end a line except those of the text itself, and
 * stays in its buffer. The first bytes choose the session.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "proxy/log/log_format.h"
#include "proxy/model/session.h"
#include "proxy/config/vocab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct scene {
	struct engine engine;
	struct bind_conf bind;
	struct listener listener;
	struct proxy fe, be;
	struct server srv;
	struct session sess;
	struct stream s;
	struct wall wall;
	struct log_ident id;
};

static void
check(int ok)
{
	if (!ok)
		abort();
}

static void
make_scene(struct scene *c, uint8_t shape, char *name)
{
	memset(c, 0, sizeof(*c));
	c->fe.name = c->be.name = c->srv.name = name;
	c->id.tag = c->id.node = name;
	c->listener.bind = &c->bind;
	stream_join(&c->s, &c->sess, &c->sess.conn);
	c->s.engine = &c->engine;
	vars_init(&c->s.sess->vars);
	vars_init(&c->engine.alone.vars);
	c->engine.shared = &c->engine.alone;
	c->s.sess->listener = &c->listener;
	c->s.sess->fe = &c->fe;
	c->s.be = shape & 1 ? &c->be : NULL;
	c->s.srv = shape & 2 ? &c->srv : NULL;
	c->s.conn[CLIENT]->fd = c->s.conn[SERVER]->fd = -1;
	c->s.sess->peer.u.sa.sa_family = shape & 4 ? AF_INET6 : shape & 8 ? AF_UNIX : AF_INET;
	c->s.sess->peer.len =
		shape & 4 ? sizeof(c->s.sess->peer.u.in6) : sizeof(c->s.sess->peer.u.in);
	c->s.sess->accept_wall_ns = (uint64_t)shape << 56;
	c->s.queued_ms = shape & 16;
	c->s.connected_ms = shape & 32;
	c->s.dir[SERVER].bytes = UINT64_MAX;
	c->s.term[0] = c->s.term[1] = '-';
	c->s.redispatched = shape & 64;
}

static size_t
render(const struct rule_fmt *f, struct scene *c, char *to, size_t cap, int *failed)
{
	const struct log_context cx = { .id = &c->id, .wall = &c->wall, .now_ms = 5, .asap = 1 };
	struct sbuf b;

	sbuf_init_fixed(&b, to, cap);
	log_format_render(f, NULL, &c->s, &cx, &b);
	check(b.len < cap && to[b.len] == '\0');
	*failed = b.failed;
	return b.len;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char one[1 << 16], two[1 << 16], small[24];
	static struct scene c;
	char name[8] = "n\"\n\x7f#]\\", *text;
	struct rule_fmt *f = NULL;
	struct rule_err why = { 0, "" };
	struct rule_vocab vocab;
	int failed, failed2, own_newline;
	size_t len;

	if (size < 1)
		return 0;
	text = malloc(size);
	check(text != NULL);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	make_scene(&c, data[0], name);
	proxy_vocab_init(&vocab);
	if (log_format_compile(&vocab, text, data[0] & 128, &f, &why) < 0) {
		check(f == NULL && why.text[0] && why.at <= strlen(text));
	} else {
		own_newline = strchr(text, '\n') != NULL;
		check(log_format_stage(f) <= LOG_STAGE_END);
		len = render(f, &c, one, sizeof(one), &failed);
		check(own_newline || !memchr(one, '\n', len));
		check(render(f, &c, two, sizeof(two), &failed2) == len && failed == failed2);
		check(memcmp(one, two, len) == 0);
		(void)render(f, &c, small, sizeof(small), &failed);
		rule_fmt_free(&f);
	}
	free(text);
	return 0;
}
