/* show servers state, show backend, clear counters (management manual 9.3). On the
 * first worker, which owns the states of servers and checks. */
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_server.h"
#include "proxy/model/check.h"
#include "proxy/model/proxies.h"
#include "tls/tls_counts.h"

/* --- show servers state --- */

/* Bits of srv_check_state and srv_agent_state. */
enum {
	STATE_RUNNING = 1,
	STATE_CONFIGURED = 2,
	STATE_ENABLED = 4,
	STATE_PAUSED = 8,
	STATE_AGENT = 16
};

/* Bits of srv_admin_state. */
static unsigned int
admin_bits(const struct server *s)
{
	static const struct {
		unsigned int own, shown;
	} bits[] = {
		{ SERVER_MAINT_FORCED, 0x01 },
		{ SERVER_MAINT_TRACKED, 0x02 },
		{ SERVER_DRAIN_FORCED, 0x08 },
		{ SERVER_DRAIN_TRACKED, 0x10 },
		{ SERVER_MAINT_UNRESOLVED, 0x20 },
	};
	/* `disabled` in the configuration is shown for ever. */
	unsigned int out = s->conf.disabled ? 0x04 : 0;

	for (size_t i = 0; i < ARRAY_LEN(bits); i++)
		if (s->admin & bits[i].own)
			out |= bits[i].shown;
	return out;
}

static unsigned int
oper_number(const struct server *s)
{
	static const unsigned int numbers[] = {
		[SERVER_STOPPED] = 0, [SERVER_STARTING] = 1, [SERVER_RUNNING] = 2,
		[SERVER_STOPPING] = 3
	};

	return s->admin & SERVER_MAINT ? 0 : numbers[s->oper];
}

static unsigned int
check_bits(const struct check *c)
{
	if (!c)
		return 0;
	return STATE_CONFIGURED | (c->enabled ? STATE_ENABLED : 0u) |
		(c->is_running ? STATE_RUNNING : 0u) | (c->is_agent ? STATE_AGENT : 0u);
}

/* A server that is `disabled` has paused checks even if it has none. */
static unsigned int
pause_bit(const struct server *s)
{
	int paused = s->check ? (s->admin & SERVER_MAINT) != 0 : s->conf.disabled;

	return paused ? STATE_PAUSED : 0;
}

static int
shown_health(const struct server *s)
{
	if (s->admin & SERVER_MAINT)
		return 0;
	return s->check ? s->check->health : s->conf.check.rise;
}

/* " <status> <result> <health> <check> <agent>" */
static void
print_check_state(struct sbuf *o, const struct server *s)
{
	enum check_status status = s->check ? s->check->status : CHECK_INI;
	/* The result of a check that is running is not known yet. */
	int known = s->check && !s->check->is_running;

	sbuf_addf(o, " %u %u %d %u %u", check_status_number(status),
		known ? (unsigned int)check_status_result(status) : 0, shown_health(s),
		check_bits(s->check) | pause_bit(s), check_bits(s->agent));
}

/* " <srvrecord> <use_ssl> <check_port> <check_addr> <agent_addr> <agent_port>" */
static void
print_check_target(struct sbuf *o, const struct server *s)
{
	const struct check_server_conf *c = &s->conf.check;
	const struct server_tls_conf *tls = &s->conf.tls;

	sbuf_addf(o, " - %d %u ", tls->is_on ? 1 : tls->is_off ? -1 : 0, c->port);
	admin_print_host(o, &c->addr);
	sbuf_addc(o, ' ');
	admin_print_host(o, &c->agent_addr);
	/* Without agent-port it is the port of checks. */
	sbuf_addf(o, " %u\n", c->agent_port ? c->agent_port : c->port);
}

/* The port, also of a server whose name has no address. */
static unsigned int
server_port(const struct server *s, const struct addr *own)
{
	if (s->spec.has_offset)
		return (unsigned int)s->spec.port_offset;
	return server_is_unresolved(s) ? s->spec.port_lo : addr_port(own);
}

static void
print_server(struct admin_conn *c, const struct server *s)
{
	struct addr own, none = { .len = 0 };
	struct sbuf *o = &c->out;

	(void)addr_cell_get(&s->addr, &own);
	sbuf_addf(o, "%d %s %d %s ", s->be->id, s->be->name, s->id, s->name);
	admin_print_host(o, server_is_unresolved(s) ? &none : &own);
	sbuf_addf(o, " %u %u %d %d %llu", oper_number(s), admin_bits(s), s->uweight, s->conf.weight,
		(unsigned long long)((admin_now_ms(c) - s->last_change_ms) / 1000));
	print_check_state(o, s);
	sbuf_addf(o, " %d %d %s %u", s->be->has_own_id, s->has_own_id, s->fqdn ? s->fqdn : "-",
		server_port(s, &own));
	print_check_target(o, s);
}

static int
next_state(struct admin_conn *c, void *walk)
{
	const struct server *s = admin_servers_next(c, walk);

	if (s)
		print_server(c, s);
	return s != NULL;
}

void
admin_cmd_show_servers_state(struct admin_conn *c, int argc, char **argv)
{
	struct admin_servers w;

	if (admin_servers_begin(c, argc, argv, &w) < 0)
		return;
	sbuf_adds(&c->out,
		"1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state "
		"srv_uweight srv_iweight srv_time_since_last_change srv_check_status "
		"srv_check_result srv_check_health srv_check_state srv_agent_state bk_f_forced_id "
		"srv_f_forced_id srv_fqdn srv_port srvrecord srv_use_ssl srv_check_port "
		"srv_check_addr srv_agent_addr srv_agent_port\n");
	admin_walk(c, next_state, &w, sizeof(w));
}

/* --- show backend --- */

void
admin_cmd_show_backend(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	sbuf_adds(&c->out, "# name\n");
	list_each(it, &c->admin->process->cfg->proxies.all) {
		const struct proxy *p = list_entry(it, struct proxy, link);

		if (p->caps & PROXY_BE)
			sbuf_addf(&c->out, "%s\n", p->name);
	}
}

/* --- clear counters --- */

static void
clear_maxima(struct worker *w)
{
	w->engine.conn_rate.max = 0;
	w->engine.sess_rate.max = 0;
	if (w->tls)
		tls_io_clear_maxima(w->tls);
}

static void
clear_counters(struct admin_conn *c, int all)
{
	const struct process *p = c->admin->process;

	admin_stop_workers(c);
	list_each(it, &p->cfg->proxies.all)
		proxy_clear_stat(list_entry(it, struct proxy, link), all);
	for (unsigned int i = 0; i < p->n_workers; i++)
		clear_maxima(&p->workers[i]);
	keep_clear(c->admin->process, all);
	admin_resume_workers(c);
}

void
admin_cmd_clear_counters(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	clear_counters(c, 0);
}

void
admin_cmd_clear_counters_all(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	clear_counters(c, 1);
}
