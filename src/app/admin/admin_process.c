/* The process as it was started: environment, messages, stats sockets, libraries (management
 * manual 9.3). On the first worker; nothing of it changes. */
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "app/admin/admin_int.h"
#include "app/process/report.h"
#include "base/counter.h"
#include "cfg/diag.h"
#include "cfg/value.h"

static const char *admin_level_name(enum bind_level level);

/* The connection goes to what passes the sockets: it answers. */
void
admin_cmd_getsocks(struct admin_conn *c, int argc, char **argv)
{
	int fd;

	(void)argc;
	(void)argv;
	if (!c->exposes_fd) {
		admin_msg(c, ADMIN_ERR, "This socket has no 'expose-fd listeners'.");
		return;
	}
	fd = conn_take_fd(&c->conn);
	c->quit = 1;
	sbuf_reset(&c->out);
	(void)!socket_pass_start(&c->admin->process->pass, fd);
}

/* The environment as the configuration has left it. */
void
admin_cmd_show_env(struct admin_conn *c, int argc, char **argv)
{
	const struct cfg_env *env = &c->admin->process->cfg->env;
	const char *value;

	if (argc > 0) {
		value = cfg_env_get(env, argv[0]);
		if (value)
			sbuf_addf(&c->out, "%s=%s\n", argv[0], value);
		else
			admin_msg(c, ADMIN_ERR, "Variable not found");
		return;
	}
	for (unsigned int i = 0; i < env->nvar; i++)
		sbuf_addf(&c->out, "%s=%s\n", env->var[i].name, env->var[i].value);
}

void
admin_cmd_show_startup_logs(struct admin_conn *c, int argc, char **argv)
{
	const struct process *p = c->admin->process;

	(void)argc;
	(void)argv;
	cfg_diag_text(&p->cfg->diag, &c->out, p->report->quiet);
	if (p->report->kept && p->report->kept->len)
		sbuf_add(&c->out, p->report->kept->p, p->report->kept->len);
}

/* --- show cli sockets --- */

static const char *
socket_prefix(const struct addr *a)
{
	return addr_family(a) == AF_INET     ? "ipv4@"
		: addr_family(a) == AF_INET6 ? "ipv6@"
					     : "";
}

void
admin_cmd_show_cli_sockets(struct admin_conn *c, int argc, char **argv)
{
	char text[ADDR_TEXT];

	(void)argc;
	(void)argv;
	sbuf_adds(&c->out, "# socket lvl processes\n");
	list_each (b, &c->admin->process->cfg->global.admin_binds) {
		const struct bind_conf *bind = list_entry(b, struct bind_conf, link);

		list_each (it, &bind->listeners) {
			const struct addr *a = &list_entry(it, struct listener, link)->addr;

			sbuf_addf(&c->out, "%s%s %s all\n", socket_prefix(a), addr_text(a, text),
				admin_level_name(bind->level));
		}
	}
}

/* --- show libs --- */

/* The addresses of its segments, from the first to the last. */
static int
add_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *name = info->dlpi_name;
	uintptr_t from = UINTPTR_MAX, to = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		from = MIN(from, at);
		to = MAX(to, at + info->dlpi_phdr[i].p_memsz);
	}
	/* Without a path it is the program, or mapped by the kernel. */
	if (name && !*name)
		name = (const char *)getauxval(AT_EXECFN);
	if (name && strchr(name, '/') && from < to)
		sbuf_addf(arg, "0x%012llx-0x%012llx (0x%07llx) %s\n", (unsigned long long)from,
			(unsigned long long)to - 1, (unsigned long long)(to - from), name);
	return 0;
}

void
admin_cmd_show_libs(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	(void)dl_iterate_phdr(add_library, &c->out);
}

/* --- the dialogue ---------------------------------------------------------------------------- */

/* Commands about the dialogue itself: prompt, timeout, severity, level and modes. */

void
admin_cmd_prompt(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	c->prompt = !c->prompt;
}

void
admin_cmd_quit(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	c->quit = 1;
}

void
admin_cmd_echo(struct admin_conn *c, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		sbuf_addf(&c->out, "%s%s", i ? " " : "", argv[i]);
	sbuf_addc(&c->out, '\n');
}

void
admin_cmd_set_timeout(struct admin_conn *c, int argc, char **argv)
{
	uint64_t ms;

	if (argc < 1 || strcmp(argv[0], "cli") != 0)
		admin_msg(c, ADMIN_ERR, "'set timeout' only supports 'cli'.");
	else if (argc < 2)
		admin_msg(c, ADMIN_ERR, "Expects an integer value.");
	else if (argc > 2 ||
		cfg_value_time(argv[1], CFG_UNIT_S, 1, CFG_TIME_MAX_MS, &ms, NULL) < 0)
		admin_msg(c, ADMIN_ERR, "Invalid timeout value.");
	else
		c->timeout_ms = (uint32_t)ms;
}

void
admin_cmd_set_severity_output(struct admin_conn *c, int argc, char **argv)
{
	static const char *const names[] = { "none", "number", "string" };

	for (int i = 0; argc == 1 && i < (int)ARRAY_LEN(names); i++)
		if (strcmp(argv[0], names[i]) == 0) {
			c->severity = (enum bind_severity)i;
			return;
		}
	admin_msg(c, ADMIN_ERR, "one of 'none', 'number', 'string' is a required argument");
}

static void
lower_level(struct admin_conn *c, enum bind_level level)
{
	if (c->level < level)
		admin_msg(c, ADMIN_ERR, "Permission denied");
	else
		c->level = level;
	c->modes = 0;
}

void
admin_cmd_user(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	lower_level(c, BIND_USER);
}

void
admin_cmd_operator(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	lower_level(c, BIND_OPERATOR);
}

/* "user", "operator" or "admin". */
static const char *
admin_level_name(enum bind_level level)
{
	static const char *const names[] = { "user", "operator", "admin" };

	return names[level];
}

void
admin_cmd_show_cli_level(struct admin_conn *c, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	admin_msg(c, ADMIN_INFO, "%s", admin_level_name(c->level));
}

/* Without an argument it is shown; other words than on and off change nothing, as in HAProxy. */
static void
toggle_mode(struct admin_conn *c, enum admin_mode mode, const char *name, int argc, char **argv)
{
	if (argc == 0)
		admin_msg(c, ADMIN_INFO, "%s is %s", name, c->modes & (1u << mode) ? "ON" : "OFF");
	else if (strcmp(argv[0], "on") == 0)
		c->modes |= 1u << mode;
	else if (strcmp(argv[0], "off") == 0)
		c->modes &= ~(1u << mode);
}

void
admin_cmd_expert_mode(struct admin_conn *c, int argc, char **argv)
{
	toggle_mode(c, ADMIN_MODE_EXPERT, "expert-mode", argc, argv);
}

void
admin_cmd_experimental_mode(struct admin_conn *c, int argc, char **argv)
{
	toggle_mode(c, ADMIN_MODE_EXPERIMENTAL, "experimental-mode", argc, argv);
}

/* --- threads --------------------------------------------------------------------------------- */

/*
 * show threads, show tasks: what each worker is doing, asked of the worker itself. The visitors
 * run on their threads, the rest on the first worker.
 */

static uint64_t
cpu_ns(struct worker *w)
{
	struct timespec ts = { 0, 0 };

	(void)sys_clock_gettime(w->sys, CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static unsigned int
running_timers(struct worker *w)
{
	return (unsigned int)(counter_read(&loop_timers(w->loop)->n) +
		counter_read(&loop_starts(w->loop)->n));
}

struct threads_tour {
	struct admin_tour tour;
	uint64_t tasks;    /* sum so far */
};

/* The thread that runs the command has a star. */
static void
show_thread(struct admin_conn *c, struct worker *w, void *state)
{
	struct threads_tour *t = state;
	const struct loop_stats *ls = loop_stats(w->loop);

	t->tour.is_done = 1;
	sbuf_addf(&c->out, "%c Thread %-2u: id=0x%llx wq=%u rq=%u sess=%u idle=%u%%\n",
		w == c->admin->worker ? '*' : ' ', w->index + 1,
		(unsigned long long)(uintptr_t)pthread_self(), running_timers(w),
		loop_posted(w->loop), atomic_read(&w->engine.n_sessions), loop_idle_pct(w->loop));
	sbuf_addf(&c->out, "             turns=%llu events=%llu cpu_ns=%llu\n",
		(unsigned long long)counter_read(&ls->turns),
		(unsigned long long)counter_read(&ls->events), (unsigned long long)cpu_ns(w));
}

void
admin_cmd_show_threads(struct admin_conn *c, int argc, char **argv)
{
	struct threads_tour t = { .tour.visit = show_thread };

	(void)argc;
	(void)argv;
	admin_tour(c, &t, sizeof(t));
}

static void
count_tasks(struct admin_conn *c, struct worker *w, void *state)
{
	struct threads_tour *t = state;

	t->tour.is_done = 1;
	t->tasks += loop_posted(w->loop);
	if (w->index == c->admin->process->n_workers - 1)
		sbuf_addf(&c->out, "Running tasks: %llu (%u threads)\n",
			(unsigned long long)t->tasks, c->admin->process->n_workers);
}

void
admin_cmd_show_tasks(struct admin_conn *c, int argc, char **argv)
{
	struct threads_tour t = { .tour.visit = count_tasks };

	(void)argc;
	(void)argv;
	admin_tour(c, &t, sizeof(t));
}

/* --- health ---------------------------------------------------------------------------------- */

/*
 * show health: whether clients should be sent here. Each worker is asked: if one hangs, there is no
 * answer. First worker.
 */

struct health {
	unsigned int workers;            /* that have been asked */
	int is_json;
	unsigned int frontends, n_frontends; /* that accept, and all */
	unsigned int listeners, n_listeners;
	char why[80];
};

static void
note_answer(struct admin_conn *c, struct worker *w, void *state)
{
	(void)c;
	(void)w;
	((struct health *)state)->workers++;
}

static int
is_accepting(const struct listener *ln)
{
	enum listener_state s = atomic_read(&ln->state);

	return s == LISTENER_READY || s == LISTENER_FULL;
}

/* Counts its sockets, which its copies share. */
static void
count_accepting(struct health *h, const struct proxy *fe)
{
	unsigned int before = h->listeners, all = h->n_listeners;

	list_each(it, &fe->binds)
		list_each(lt, &list_entry(it, const struct bind_conf, link)->listeners) {
			const struct listener *ln = list_entry(lt, const struct listener, link);

			if (ln->lead)
				continue;
			h->n_listeners++;
			h->listeners += (unsigned int)is_accepting(ln);
		}
	h->n_frontends += h->n_listeners > all;
	h->frontends += h->listeners > before;
}

static const char *
health_state(const struct process *p)
{
	return p->state <= PROCESS_RUNNING ? "serving" :
		p->state == PROCESS_GRACE  ? "grace" :
		p->state == PROCESS_STOPPING ? "draining" : "closing";
}

/* Returns 1 if clients should be sent to this process, and writes the reason. */
static int
judge_health(const struct process *p, struct health *h)
{
	unsigned int left = gate_count(&p->shared.gate);

	list_each(it, &p->cfg->proxies.all) {
		const struct proxy *px = list_entry(it, const struct proxy, link);

		if (!px->disabled)
			count_accepting(h, px);
	}
	if (p->state == PROCESS_GRACE)
		snprintf(h->why, sizeof(h->why), "it stops, and still accepts");
	else if (p->state > PROCESS_GRACE)
		snprintf(h->why, sizeof(h->why), "it stops, %u session%s left", left,
			left == 1 ? " is" : "s are");
	else if (h->n_listeners && !h->listeners)
		snprintf(h->why, sizeof(h->why), "no frontend accepts connections");
	else
		snprintf(h->why, sizeof(h->why), "%u of %u frontends accept connections",
			h->frontends, h->n_frontends);
	return p->state < PROCESS_GRACE && (!h->n_listeners || h->listeners);
}

static void
health_put(struct sbuf *out, const struct process *p, const struct health *h, int is_healthy)
{
	sbuf_addf(out, "%s: %s\nstate: %s\nfrontends: %u of %u\nlisteners: %u of %u\n"
		"workers: %u of %u\nsessions: %u\n", is_healthy ? "healthy" : "unhealthy",
		h->why, health_state(p), h->frontends, h->n_frontends, h->listeners,
		h->n_listeners, h->workers, p->n_workers, gate_count(&p->shared.gate));
}

static void
health_put_json(struct sbuf *out, const struct process *p, const struct health *h, int is_healthy)
{
	sbuf_addf(out, "{\"healthy\":%s,\"why\":\"%s\",\"state\":\"%s\","
		"\"frontends\":{\"accepting\":%u,\"all\":%u},"
		"\"listeners\":{\"accepting\":%u,\"all\":%u},"
		"\"workers\":{\"answering\":%u,\"all\":%u},\"sessions\":%u}\n",
		is_healthy ? "true" : "false", h->why, health_state(p), h->frontends,
		h->n_frontends, h->listeners, h->n_listeners, h->workers, p->n_workers,
		gate_count(&p->shared.gate));
}

static int
health_step(struct admin_conn *c, void *state)
{
	const struct process *p = c->admin->process;
	struct health *h = state;
	int is_healthy;

	if (h->workers < p->n_workers) {
		admin_ask(c, &p->workers[h->workers], note_answer);
		return 1;
	}
	is_healthy = judge_health(p, h);
	if (h->is_json)
		health_put_json(&c->out, p, h, is_healthy);
	else
		health_put(&c->out, p, h, is_healthy);
	return 0;
}

void
admin_cmd_show_health(struct admin_conn *c, int argc, char **argv)
{
	struct health h = { .is_json = argc == 1 && strcmp(argv[0], "json") == 0 };

	if (argc > h.is_json)
		admin_msg(c, ADMIN_ERR, "'show health' expects 'json' or nothing.");
	else
		admin_walk(c, health_step, &h, sizeof(h));
}
