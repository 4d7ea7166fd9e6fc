/* Peers: show peers, in HAProxy's form, with numbers where that has addresses. On the first
 * worker. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/process/process.h"
#include "app/process/process_peers.h"
#include "base/wall.h"
#include "proxy/model/peers_conf.h"
#include "table/table_log.h"

/* Bits that HAProxy shows for a section that has the entries of the previous process, and those of
 * a peer. */
#define FLAG_LOCAL_DONE 1u
#define FLAG_REMOTE_DONE 2u
#define NAMES_A_LINE 4u

struct peers_walk {
	const struct list *run;  /* struct peers_run */
	unsigned int section;    /* its number, from 1 */
	unsigned int peer;       /* 0: the section's line comes next; then its peers + 1 */
	int shows_names;
	const char *only;        /* of struct peers_conf; NULL: all */
};

/* A time in units that HAProxy chooses: "5s", "1m05s". */
static void
add_span(struct sbuf *b, uint64_t ms)
{
	static const struct {
		unsigned int s;
		const char *unit, *below;
		unsigned int below_s;
	} unit[] = { { 86400, "d", "h", 3600 }, { 3600, "h", "m", 60 }, { 60, "m", "s", 1 } };
	uint64_t s = ms / 1000;

	for (unsigned int i = 0; i < ARRAY_LEN(unit); i++)
		if (s >= unit[i].s) {
			sbuf_addf(b, "%llu%s%02llu%s", (unsigned long long)(s / unit[i].s),
				unit[i].unit,
				(unsigned long long)(s % unit[i].s / unit[i].below_s),
				unit[i].below);
			return;
		}
	sbuf_addf(b, "%llus", (unsigned long long)s);
}

/* The time until a deadline. */
static void
add_deadline(struct admin_conn *c, const char *name, uint64_t at)
{
	uint64_t now = loop_now_ms(process_loop(c->admin->process));

	sbuf_addf(&c->out, "%s=", name);
	if (!at || at == UINT64_MAX)
		sbuf_adds(&c->out, "<NEVER>");
	else if (at <= now)
		sbuf_adds(&c->out, "<PAST>");
	else
		add_span(&c->out, at - now);
}

static const char *
status_name(enum peer_status status)
{
	switch (status) {
	case PEER_STATUS_NONE:
		return "NONE";
	case PEER_STATUS_CONNECTING:
		return "CONN";
	case PEER_STATUS_HELLO:
		return "HSHK";
	case PEER_STATUS_UP:
		return "ESTA";
	case PEER_STATUS_RETRY:
		return "RETR";
	case PEER_STATUS_PROTOCOL:
		return "PROT";
	case PEER_STATUS_VERSION:
		return "VERS";
	case PEER_STATUS_NAME:
		return "NAME";
	case PEER_STATUS_UNKNOWN:
		break;
	}
	return "UNKN";
}

static void
show_section(struct admin_conn *c, const struct peers_walk *at, const struct peers_run *r)
{
	const struct peer_group *g = r->group;
	int is_done = g->resync == PEER_RESYNC_DONE;
	uint64_t now = loop_wall_ns(process_loop(c->admin->process));
	struct wall w = { .valid = 0 };

	sbuf_addf(&c->out, "0x%x: [", at->section);
	wall_add_clf(&c->out, wall_local(&w, (int64_t)(now / 1000000000)));
	sbuf_addf(&c->out, "] id=%s disabled=0 flags=0x%x ", g->name,
		FLAG_LOCAL_DONE | (is_done ? FLAG_REMOTE_DONE : 0));
	add_deadline(c, "resync_timeout", is_done ? 1 : g->resync_ms);
	sbuf_adds(&c->out, " task_calls=0\n");
}

static void
show_conf(struct admin_conn *c, unsigned int id, const struct peer_conf *s, int is_local,
	int is_active)
{
	char text[ADDR_TEXT];

	sbuf_addf(&c->out, "  0x%x: id=%s(%s,%s) addr=%s ", id, s->name,
		is_local ? "local" : "remote", is_active ? "active" : "inactive",
		s->addr.len ? addr_text(&s->addr, text) : "-");
}

static void
show_shared_table(struct admin_conn *c, const struct peer_session *s, const struct peer *p,
	unsigned int i)
{
	const struct peer_table *t = &p->group->table[i];
	const struct peer_cursor *k = &p->cursor[i];
	unsigned long long end = table_log_end(t->table) - 1;

	sbuf_addf(&c->out,
		"          0x%x local_id=%u remote_id=%llu flags=0x%x remote_data=0x%llx\n"
		"              last_acked=%llu last_pushed=%llu last_get=%u teaching_origin=%llu "
		"update=%llu\n"
		"              table:0x%x id=%s update=%llu localupdate=%llu commitupdate=%llu "
		"refcnt=1\n",
		i + 1, i + 1, (unsigned long long)k->remote_id,
		s && s->lesson.is_on ? 1u : 0u, (unsigned long long)k->def.stores,
		(unsigned long long)k->acked - 1, (unsigned long long)(s ? k->next - 1 : 0), k->got,
		(unsigned long long)k->taught - 1, end, i + 1,
		table_name(t->table), end, end, (unsigned long long)k->acked - 1);
}

/* The names of a direction; names NULL: there is no connection. */
static void
show_names(struct admin_conn *c, const char *direction, const char *const *names)
{
	sbuf_addf(&c->out, "        %s dictionary cache:\n", direction);
	for (unsigned int i = 0; i < TABLE_WIRE_NAMES && names; i++)
		sbuf_addf(&c->out, "%s%5u -> %s%s", i % NAMES_A_LINE ? "" : "        ", i,
			names[i] ? names[i] : "-",
			i % NAMES_A_LINE == NAMES_A_LINE - 1 ? "\n" : "");
}

/* The same for each table: there is one dictionary for each direction. */
static void
show_dictionary(struct admin_conn *c, const struct peers_walk *w, const struct peer_session *s)
{
	if (!w->shows_names) {
		sbuf_adds(&c->out,
			"        Dictionary cache not dumped (use \"show peers dict\")\n");
		return;
	}
	show_names(c, "TX", s ? s->sent.name : NULL);
	show_names(c, "RX", s ? (const char *const *)s->names.name : NULL);
}

static void
show_remote(struct admin_conn *c, const struct peers_walk *w, const struct peers_run *r,
	const struct peers_dial *d)
{
	const struct peer *p = d->peer;
	const struct peer_session *s = p->session;
	int is_up = s && s->state == PEER_UP;

	show_conf(c, w->peer, d->conf, 0, s != NULL);
	sbuf_addf(&c->out, "last_status=%s last_hdshk=", status_name(p->status));
	if (p->hello_ms)
		add_span(&c->out, loop_now_ms(process_loop(c->admin->process)) - p->hello_ms);
	else
		sbuf_adds(&c->out, "<NEVER>");
	sbuf_adds(&c->out, "\n        ");
	add_deadline(c, "reconnect", d->timer.pos ? d->timer.deadline : 0);
	add_deadline(c, " heartbeat", is_up ? s->sent_ms + PEER_HEARTBEAT_MS : 0);
	sbuf_addf(&c->out,
		" confirm=%u tx_hbt=%llu rx_hbt=%llu no_hbt=%llu new_conn=%llu proto_err=%llu "
		"coll=%llu\n        flags=0x%x",
		s ? s->confirms : 0, (unsigned long long)p->tx_heartbeats,
		(unsigned long long)p->rx_heartbeats, (unsigned long long)p->silences,
		(unsigned long long)p->connections, (unsigned long long)p->errors,
		(unsigned long long)p->collisions, (unsigned int)p->needs_teaching);
	if (s)
		sbuf_addf(&c->out, " appctx:0x%x st0=%d st1=0 task_calls=0 state=%s",
			w->peer, (int)s->state, is_up ? "EST" : "CON");
	sbuf_adds(&c->out, "\n        shared tables:\n");
	for (unsigned int i = r->group->n_tables; i-- > 0;) {
		show_shared_table(c, s, p, i);
		show_dictionary(c, w, s);
	}
}

static int
next_peers(struct admin_conn *c, void *state)
{
	struct peers_walk *w = state;
	const struct process_peers *all = c->admin->process->peers;
	const struct peers_run *r = list_entry(w->run, const struct peers_run, link);

	/* They end with the first step of a stop. */
	if (!all || w->run == &all->runs)
		return 0;
	if (w->only && strcmp(w->only, r->group->name) != 0) {
		w->run = w->run->next;
		w->section++;
		return 1;
	}
	if (!w->peer) {
		show_section(c, w, r);
	} else if (w->peer <= r->group->n_peers) {
		show_remote(c, w, r, &r->dial[w->peer - 1]);
	} else {
		show_conf(c, w->peer, r->conf->local, 1, 0);
		sbuf_adds(&c->out,
			"last_status=NONE last_hdshk=<NEVER>\n        reconnect=<NEVER> "
			"heartbeat=<NEVER> confirm=0 tx_hbt=0 rx_hbt=0 no_hbt=0 new_conn=0 "
			"proto_err=0 coll=0\n        flags=0x0\n");
		w->run = w->run->next;
		w->section++;
		w->peer = 0;
		return 1;
	}
	w->peer++;
	return 1;
}

void
admin_cmd_show_peers(struct admin_conn *c, int argc, char **argv)
{
	const struct process *p = c->admin->process;
	struct peers_walk w = { .section = 1 };

	if (argc > 0 && (strcmp(argv[0], "dict") == 0 || strcmp(argv[0], "-") == 0)) {
		w.shows_names = argv[0][0] == 'd';
		argc--;
		argv++;
	}
	if (argc > 0) {
		const struct peers_conf *conf = proxies_find_peers(&p->cfg->proxies, argv[0]);

		if (!conf) {
			admin_msg(c, ADMIN_ERR, "No such peers");
			return;
		}
		w.only = conf->name;
	}
	if (!p->peers)
		return;
	w.run = p->peers->runs.next;
	admin_walk(c, next_peers, &w, sizeof(w));
}
