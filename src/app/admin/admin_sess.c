/* show sess: what every session is doing, and how it got there. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "cfg/value.h"
#include "proxy/session/session_walk.h"

/* Sessions shown in about a slice, and sessions examined for it. */
#define SESSIONS_PER_VISIT 40
#define LOOKS_PER_VISIT 2000

static const char *
proto_of(const struct addr *a)
{
	return addr_family(a) == AF_INET     ? "tcpv4"
		: addr_family(a) == AF_INET6 ? "tcpv6"
					     : "unix_stream";
}

static void
add_expiry(struct admin_conn *c, const struct stream *s)
{
	uint64_t now = stream_now_ms(s);

	if (s->timer.deadline == TIMER_NEVER)
		sbuf_adds(&c->out, "exp=");
	else
		sbuf_addf(&c->out, "exp=%llums",
			(unsigned long long)(s->timer.deadline > now ? s->timer.deadline - now
								     : 0));
}

static void
add_side(struct admin_conn *c, const struct stream *s, int side)
{
	const struct conn *conn = s->conn[side];
	struct interest in;
	void *owner;

	sbuf_addf(&c->out, "%s[fd=%d", side == CLIENT ? "c" : "s", conn->fd);
	if (conn->fd >= 0 && loop_peek(conn->loop, conn->fd, &in, &owner) == 0)
		sbuf_addf(&c->out, ",r=%s,w=%s,polled=%s%s%s",
			  interest_state_name((enum interest_state)in.state[DIR_R]),
			  interest_state_name((enum interest_state)in.state[DIR_W]),
			  in.polled & EV_R ? "R" : "", in.polled & EV_W ? "W" : "",
			  in.polled & EV_EDGE ? "E" : "");
	sbuf_addf(&c->out, ",err=%d] ", conn->err);
}

static void
add_half(struct admin_conn *c, const char *name, const struct direction *d)
{
	size_t pending = d->tail - d->head + (d->pipe ? d->pipe->bytes : 0);

	sbuf_addf(&c->out, "%s[%s%s,bytes=%llu,pending=%zu] ", name, direction_state_name(d->state),
		d->broken ? "!" : "", (unsigned long long)d->bytes, pending);
}

/* The last (state, event) pairs, oldest first. */
static void
add_history(struct admin_conn *c, const struct stream *s)
{
	unsigned int n = s->hist_n, first = n > STREAM_HISTORY ? n - STREAM_HISTORY : 0;

	sbuf_adds(&c->out, "hist=");
	for (unsigned int i = first; i < n; i++) {
		const uint8_t *h = s->hist[i % STREAM_HISTORY];

		sbuf_addf(&c->out, "%s%s:%s", i > first ? "," : "",
			  history_state_name(h[0]), history_event_name(h[0], h[1]));
	}
}

static void
add_session(struct admin_conn *c, const struct stream *s)
{
	uint64_t now = stream_now_ms(s);
	const struct server *srv = stream_chosen_server(s);
	char src[ADDR_TEXT];

	sbuf_addf(&c->out,
		"0x%llx: proto=%s src=%s fe=%s be=%s srv=%s state=%s age=%llums calls=%u ",
		(unsigned long long)s->id, proto_of(&s->sess->peer), addr_text(&s->sess->peer, src),
		s->sess->fe->name, s->be ? s->be->name : "<NONE>", srv ? srv->name : "<none>",
		history_state_name(stream_shown_state(s)),
		(unsigned long long)(now - s->sess->accept_ms), s->hist_n);
	add_half(c, "rq", &s->dir[CLIENT]);
	add_half(c, "rp", &s->dir[SERVER]);
	add_side(c, s, CLIENT);
	add_side(c, s, SERVER);
	add_expiry(c, s);
	sbuf_addf(&c->out, " retries=%u term=%c%c ", s->retries, s->term[0], s->term[1]);
	add_history(c, s);
	sbuf_addc(&c->out, '\n');
}

struct sess_tour {
	struct admin_tour tour;
	unsigned long long only; /* 0: all */
	uint64_t min_age_ms;
	unsigned int shown;
};

static int
is_shown(const struct stream *s, const void *arg)
{
	const struct sess_tour *t = arg;

	return (!t->only || s->id == t->only) &&
		stream_now_ms(s) - s->sess->accept_ms >= t->min_age_ms;
}

struct sess_answer {
	struct admin_conn *conn;
	struct sess_tour *tour;
};

static void
show_session(struct stream *s, void *arg)
{
	struct sess_answer *a = arg;

	add_session(a->conn, s);
	a->tour->shown++;
}

static void
show_sessions(struct admin_conn *c, struct worker *w, void *state)
{
	struct sess_tour *t = state;
	struct sess_answer answer = { c, t };
	struct session_walk walk = {
		.after = t->tour.after,
		.pick = is_shown,
		.pick_arg = t,
		.fn = show_session,
		.fn_arg = &answer,
		.max = SESSIONS_PER_VISIT,
		.max_looks = LOOKS_PER_VISIT,
	};

	t->tour.is_done = !engine_walk(&w->engine, &walk);
	t->tour.after = walk.after;
	if (t->only && !t->shown && t->tour.is_done &&
		w->index == c->admin->process->n_workers - 1)
		sbuf_adds(&c->out, "Session not found.\n");
}

/* [all | older <age> | <id>]: 0, or -1 after a message. */
static int
parse_sessions(struct admin_conn *c, int argc, char **argv, struct sess_tour *t)
{
	char *end = NULL;

	if (argc == 0 || strcmp(argv[0], "all") == 0)
		return 0;
	if (strcmp(argv[0], "older") == 0) {
		if (argc > 1 && cfg_value_time(argv[1], CFG_UNIT_S, 0, CFG_TIME_MAX_MS,
				&t->min_age_ms, NULL) == 0)
			return 0;
		admin_msg(c, ADMIN_ERR, "Invalid age: expects a time such as 5s.");
		return -1;
	}
	t->only = strtoull(argv[0], &end, 16);
	if (!*end && t->only)
		return 0;
	admin_msg(c, ADMIN_ERR,
		"Invalid session: expects 'all', 'older <age>' or an identifier such as 0x1f.");
	return -1;
}

void
admin_cmd_show_sess(struct admin_conn *c, int argc, char **argv)
{
	struct sess_tour t = { .tour.visit = show_sessions };

	if (parse_sessions(c, argc, argv, &t) == 0)
		admin_tour(c, &t, sizeof(t));
}
