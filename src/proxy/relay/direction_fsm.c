/* The machine of one direction: the rows of fsm.tbl.h and their actions. Runs on the session's
 * worker. Only this file assigns the state of a direction. */
#include "base/counter.h"
#include "base/err.h"
#include "base/log.h"
#include "base/probe.h"
#include "proxy/model/fsm.h"
#include "proxy/relay/direction.h"

struct direction_row {
	uint8_t known;
	uint8_t next;
	void (*action)(struct stream *s, int side);
	const char *name;
	PROBE_MEMBER
};

/* --- actions: none assigns a state --- */

static void
direction_do_none(struct stream *s, int side)
{
	(void)s;
	(void)side;
}

static void
direction_do_mark_broken(struct stream *s, int side)
{
	s->dir[side].broken = 1;
	s->dir[side].left_in_kernel = 0;
}

static void
direction_do_drop(struct stream *s, int side)
{
	s->dir[side].broken = 1;
	direction_discard_pending(s->engine, &s->dir[side]);
}

/* An internal error: this direction must not be trusted. */
static void
direction_do_bug(struct stream *s, int side)
{
	counter_add(&s->engine->stat.fsm_bugs, 1);
	log_msg(s->engine->log, LOG_LEVEL_ALERT,
		"session %llu: direction %d in state %s: bug, ended", (unsigned long long)s->id,
		side, direction_state_name(s->dir[side].state));
	s->dir[side].broken = 1;
}

static void
direction_do_shut_sink(struct stream *s, int side)
{
	if (s->dir[side].broken)
		return;
	/* The last direction needs no shutdown(): close() follows and sends the FIN. */
	if (direction_is_over(&s->dir[!side]) && !conn_is_ending(s->conn[side])) {
		conn_finish(s->conn[!side]);
		return;
	}
	conn_shut(s->conn[!side]);
	/* client-fin and server-fin start here. */
	s->last_ms[!side] = stream_now_ms(s);
}

/* --- the table --- */

static const struct direction_row direction_rows[DIRECTION_STATES][DIRECTION_EVENTS] = {
#define DIRECTION_ROW(st, ev, to, act) \
	[DIRECTION_##st][DIRECTION_EV_##ev] = { 1, DIRECTION_##to, direction_do_##act, \
		#act PROBE_VALUE(st, ev, to, act) },
#include "proxy/model/fsm.tbl.h"
#undef DIRECTION_ROW
};

void
direction_event(struct stream *s, int side, enum direction_event ev)
{
	struct direction *d = &s->dir[side];
	const struct direction_row *row = &direction_rows[d->state][ev];

	PROBE_SIDE(direction, s->id, side, row);
	d->state = (enum direction_state)row->next;
	row->action(s, side);
}

const char *
direction_state_name(enum direction_state st)
{
	static const char *const names[DIRECTION_STATES] = {
#define DIRECTION_STATE(name, what) #name,
#include "proxy/model/fsm.tbl.h"
#undef DIRECTION_STATE
	};

	return names[st];
}

int
fsm_direction_row(enum direction_state st, enum direction_event ev, struct fsm_row *out)
{
	const struct direction_row *row = &direction_rows[st][ev];

	if (!row->known)
		return -ERR_UNKNOWN;
	*out = (struct fsm_row){ .next = row->next, .action = row->name };
	return 0;
}
