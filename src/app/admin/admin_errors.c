/* show errors: the last invalid request and response of each proxy (management manual 9.3), in
 * HAProxy's form. On the first worker; it shows a copy, which may be as long as a buffer. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "base/mem.h"
#include "cfg/value.h"
#include "proxy/model/invalid_msg.h"

/* Columns of a line of the dump. */
#define DUMP_WIDTH 79
#define DUMP_ESCAPE_MAX 4
/* Lines of a dump in one step. */
#define DUMP_LINES 64

struct errors_walk {
	const struct proxies *ps;
	const struct list *next;
	int id;                 /* of the proxy that is shown; -1: all */
	int sides;              /* 1 << CLIENT: requests, 1 << SERVER: responses */
	int side;
	struct invalid_msg *shown; /* NULL: the next one is looked for */
	size_t at;              /* of its next line, */
	int continues;          /* and whether that continues the one above */
};

/* --- one message --- */

/* HAProxy's name of the parser's state for a reason; tacit's parser has other states. */
static const char *
parser_state(const struct invalid_msg *m, int side)
{
	static const char *const names[HTTP_BADS] = {
		[HTTP_BAD_REQUEST_LINE] = "MSG_RQVER(6)",
		[HTTP_BAD_METHOD] = "MSG_RQMETH(2)",
		[HTTP_BAD_TARGET] = "MSG_RQURI(4)",
		[HTTP_BAD_TARGET_LONG] = "MSG_RQURI(4)",
		[HTTP_BAD_VERSION] = "MSG_RQVER(6)",
		[HTTP_BAD_STATUS_LINE] = "MSG_RPCODE(12)",
		[HTTP_BAD_LINE_END] = "MSG_HDR_L2_LF(23)",
		[HTTP_BAD_FIELD_NAME] = "MSG_HDR_NAME(17)",
		[HTTP_BAD_FOLD] = "MSG_HDR_NAME(17)",
		[HTTP_BAD_CHUNK_SIZE] = "MSG_CHUNK_SIZE(26)",
		[HTTP_BAD_CHUNK_END] = "MSG_CHUNK_CRLF(28)",
		[HTTP_BAD_TRAILER] = "MSG_TRAILERS(29)",
		[HTTP_BAD_OVERHEAD] = "MSG_CHUNK_SIZE(26)",
	};

	if (side == SERVER && m->at < sizeof("HTTP/1.1") && m->why != HTTP_BAD_LINE_END)
		return "MSG_RPVER(10)";
	if (side == CLIENT && m->at == 0 && m->why == HTTP_BAD_METHOD)
		return "MSG_RQBEFORE(0)";
	return names[m->why] ? names[m->why] : "MSG_HDR_L2_LWS(24)";
}

static void
put_when(struct sbuf *out, uint64_t ms)
{
	struct wall wall = { 0 };

	sbuf_addc(out, '[');
	wall_add_clf(out, wall_local(&wall, (int64_t)(ms / 1000)));
	sbuf_addf(out, ".%03u]", (unsigned int)(ms % 1000));
}

static void
put_sender(struct sbuf *out, const struct addr *a)
{
	char text[ADDR_TEXT];
	int family = addr_family(a);

	if (family == AF_INET || family == AF_INET6)
		sbuf_addf(out, ", src %s:%u", addr_host_text(a, text), addr_port(a));
	else
		sbuf_adds(out, ", src unix:1");
}

static void
put_summary(struct sbuf *out, const struct proxy *p, int side, const struct invalid_msg *m)
{
	const char *other = m->other ? m->other->name : "<NONE>";

	sbuf_adds(out, " \n");
	put_when(out, m->wall_ms);
	sbuf_addf(out, " %s %s (#%d): invalid %s\n  %s %s (#%d), server %s (#%d), event #%llu",
		side == CLIENT ? "frontend" : "backend", p->name, p->id,
		side == CLIENT ? "request" : "response", side == CLIENT ? "backend" : "frontend",
		other, m->other ? m->other->id : -1, m->server[0] ? m->server : "<NONE>",
		m->server[0] ? m->server_id : -1, (unsigned long long)m->event);
	put_sender(out, &m->src);
	sbuf_addf(out,
		"\n  buffer starts at 0 (including 0 out), %u free,\n"
		"  len %u, wraps at %u, error at position %u\n"
		"  H1 connection flags 0x00000000, H1 stream flags 0x00000000\n"
		"  H1 msg state %s, H1 msg flags 0x00000000\n"
		"  H1 chunk len %llu bytes, H1 body len 0 bytes :\n  \n",
		m->room - m->len, m->len, m->room, m->at, parser_state(m, side),
		(unsigned long long)m->chunk_left);
}

/* A byte as it is shown; its length. */
static size_t
escape_byte(unsigned char c, char out[DUMP_ESCAPE_MAX + 1])
{
	static const char letters[] = { ['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r', [27] = 'e',
		['\\'] = '\\' };
	static const char hex[] = "0123456789ABCDEF";

	if (c < sizeof(letters) && letters[c]) {
		memcpy(out, (char[]){ '\\', letters[c], 0 }, 3);
		return 2;
	}
	if (c >= ' ' && c <= '~') {
		memcpy(out, (char[]){ (char)c, 0 }, 2);
		return 1;
	}
	memcpy(out, (char[]){ '\\', 'x', hex[c >> 4], hex[c & 15], 0 }, 5);
	return 4;
}

/* A line begins with its offset; a '+' behind that continues the line above. */
static void
put_dump_line(struct sbuf *out, struct errors_walk *w)
{
	const struct invalid_msg *m = w->shown;
	char text[DUMP_ESCAPE_MAX + 1];
	size_t column = 9, n;

	sbuf_addf(out, "  %05zu%c ", w->at, w->continues ? '+' : ' ');
	do {
		n = escape_byte((unsigned char)m->bytes[w->at], text);
		if (column + n > DUMP_WIDTH)
			break;
		sbuf_add(out, text, n);
		column += n;
	} while (m->bytes[w->at++] != '\n' && w->at < m->len);
	sbuf_addc(out, '\n');
	w->continues = m->bytes[w->at - 1] != '\n';
}

/* The next lines of the message that is shown; it is freed behind the last one. */
static void
put_dump(struct sbuf *out, struct errors_walk *w)
{
	for (int i = 0; i < DUMP_LINES && w->at < w->shown->len; i++)
		put_dump_line(out, w);
	if (w->at < w->shown->len)
		return;
	mem_free(w->shown);
	w->shown = NULL;
}

/* An id chooses the messages of a proxy, and those that came from its clients. */
static int
concerns_proxy(const struct invalid_msg *m, const struct proxy *p, int id)
{
	return id == -1 || p->id == id || (m->other && m->other->id == id);
}

/* NULL when memory is out. */
static struct invalid_msg *
copy_invalid(const struct invalid_msg *m)
{
	struct invalid_msg *copy = invalid_msg_new(m->len);

	if (copy)
		memcpy(copy, m, sizeof(*m) + m->len);
	return copy;
}

static void
begin_last(struct admin_conn *c, struct errors_walk *w, struct proxy *p)
{
	struct sys *sys = c->admin->worker->sys;
	struct invalid_msg *m = invalid_msg_take(&p->invalid[w->side], sys);

	if (m && concerns_proxy(m, p, w->id)) {
		put_summary(&c->out, p, w->side, m);
		w->shown = copy_invalid(m);
		w->at = 0;
		w->continues = 0;
		c->out.failed |= !w->shown;
	}
	invalid_msg_give_back(&p->invalid[w->side], m, sys);
}

/* --- all of them --- */

static int
next_invalid(struct admin_conn *c, void *state)
{
	struct errors_walk *w = state;
	struct proxy *p;

	if (w->shown) {
		put_dump(&c->out, w);
		return 1;
	}
	if (w->next == &w->ps->all)
		return 0;
	p = list_entry((struct list *)(uintptr_t)w->next, struct proxy, link);
	if (w->sides & 1 << w->side)
		begin_last(c, w, p);
	if (w->side == CLIENT) {
		w->side = SERVER;
		return 1;
	}
	w->side = CLIENT;
	w->next = w->next->next;
	return 1;
}

static void
end_errors(void *state)
{
	mem_free(((struct errors_walk *)state)->shown);
}

/* A name, or an id, which need not exist. */
static int
parse_which(const struct proxies *ps, const char *text, int *id)
{
	const struct proxy *p = proxies_find(ps, text, PROXY_FE | PROXY_BE);
	int64_t n;

	if (p) {
		*id = p->id;
		return 0;
	}
	if (cfg_value_int(text, -1, INT32_MAX, &n, NULL) < 0)
		return -1;
	*id = (int)n;
	return 0;
}

void
admin_cmd_show_errors(struct admin_conn *c, int argc, char **argv)
{
	const struct process *p = c->admin->process;
	struct errors_walk w = { .ps = &p->cfg->proxies, .id = -1,
		.sides = 1 << CLIENT | 1 << SERVER, .side = CLIENT };

	if (argc > 0 && parse_which(w.ps, argv[0], &w.id) < 0) {
		admin_msg(c, ADMIN_ERR, "No such proxy.");
		return;
	}
	if (argc > 1 && strcmp(argv[1], "request") == 0)
		w.sides = 1 << CLIENT;
	else if (argc > 1 && strcmp(argv[1], "response") == 0)
		w.sides = 1 << SERVER;
	sbuf_adds(&c->out, "Total events captured on ");
	put_when(&c->out, loop_wall_ns(c->admin->worker->loop) / 1000000);
	sbuf_addf(&c->out, " : %llu\n",
		(unsigned long long)atomic_read(&p->shared.invalid_msgs));
	w.next = w.ps->all.next;
	admin_walk_with_end(c, next_invalid, end_errors, &w, sizeof(w));
}
