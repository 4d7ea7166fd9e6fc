/* show events: what rings of logs have, and what they get. On the first worker, which owns them. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "base/atomic.h"
#include "event/profile.h"
#include "proxy/model/ring_conf.h"

struct events {
	struct log_ring_reader reader;
	struct log_ring *ring;
	int waits;    /* -w */
	int from_end; /* -n */
	char delimiter; /* NUL with -0 */
	struct admin_conn *conn;
	struct task again;
};

/* A ring may get messages in the middle of anything that logs. */
static void
on_event_news(struct log_ring_reader *rd)
{
	struct events *e = container_of(rd, struct events, reader);

	loop_post_next(e->conn->admin->worker->loop, &e->again);
}

static void
on_events_again(struct task *t)
{
	admin_wake(container_of(t, struct events, again)->conn);
}
PROFILE_NAME(on_events_again, admin_events)

static void
begin_events(struct admin_conn *c, struct events *e)
{
	e->conn = c;
	e->reader.on_news = on_event_news;
	task_init(&e->again, on_events_again);
	log_ring_join(e->ring, &e->reader, e->from_end);
}

static void
end_events(void *state)
{
	struct events *e = state;

	if (!e->conn)
		return;
	log_ring_leave(&e->reader);
	task_cancel(&e->again);
}

static int
next_event(struct admin_conn *c, void *state)
{
	struct events *e = state;
	char text[LOG_LEN_MAX];
	long len;

	if (!e->conn)
		begin_events(c, e);
	if (c->walk.is_stopped)
		return 0;
	len = log_ring_len(e->ring, e->reader.at);
	if (len < 0) {
		c->wake_ms = e->waits ? ADMIN_WAKE_BY_CALL : 0;
		return e->waits;
	}
	(void)log_ring_copy(e->ring, e->reader.at, text);
	log_ring_advance(&e->reader);
	sbuf_add(&c->out, text, (size_t)len);
	sbuf_addc(&c->out, e->delimiter);
	return 1;
}

/* In HAProxy's words. */
static void
list_sinks(struct admin_conn *c)
{
	const struct list *rings = &c->admin->process->cfg->proxies.log.rings;

	sbuf_adds(&c->out,
		"Supported events sinks are listed below. Add -w(wait), -n(new). Any key to stop\n"
		"    stdout     : type=fd, 0 dropped, standard output (fd#1)\n"
		"    stderr     : type=fd, 0 dropped, standard output (fd#2)\n");
	list_each(it, (struct list *)(uintptr_t)rings) {
		struct ring_conf *r = list_entry(it, struct ring_conf, link);

		sbuf_addf(&c->out, "    %-10s : type=buffer, %llu dropped, %s\n", r->name,
			(unsigned long long)atomic_read(&r->ring.unsaid),
			r->description ? r->description : r->name);
	}
}

/* Words such as -w, -n, -0 and -nw. 0, or -1. */
static int
take_event_options(int argc, char **argv, struct events *e)
{
	for (int i = 0; i < argc; i++) {
		size_t n = strspn(argv[i] + (argv[i][0] == '-'), "wn0");

		if (argv[i][0] != '-' || !n || argv[i][1 + n])
			return -1;
		e->waits |= strchr(argv[i], 'w') != NULL;
		e->from_end |= strchr(argv[i], 'n') != NULL;
		if (strchr(argv[i], '0'))
			e->delimiter = '\0';
	}
	return 0;
}

void
admin_cmd_show_events(struct admin_conn *c, int argc, char **argv)
{
	struct events e = { .delimiter = '\n' };
	struct ring_conf *r;

	if (argc == 0) {
		list_sinks(c);
		return;
	}
	r = ring_conf_find(&c->admin->process->cfg->proxies.log.rings, argv[0]);
	if (!r && (strcmp(argv[0], "stdout") == 0 || strcmp(argv[0], "stderr") == 0))
		admin_msg(c, ADMIN_NOTICE, "Nothing to report for this sink");
	else if (!r)
		admin_msg(c, ADMIN_ERR, "No such event sink");
	else if (take_event_options(argc - 1, argv + 1, &e) < 0)
		admin_msg(c, ADMIN_ERR, "unknown option");
	else {
		e.ring = &r->ring;
		admin_walk(c, next_event, &e, sizeof(e));
		c->walk.end = end_events;
		c->walk.stops_on_input = e.waits;
	}
}
