#define _GNU_SOURCE
#include "sim/process_world.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin.h"
#include "app/config/options.h"
#include "app/promex/promex.h"
#include "app/stats/stats.h"
#include "base/err.h"
#include "proxy/sample/route.h"
#include "sim/faults.h"
#include "sim/process_ends.h"

#define CONFIG "process.cfg"
/* The beginning of each configuration. */
#define PREAMBLE                                              \
	"global\n"                                            \
	"    nbthread 1\n"                                    \
	"    stats socket ipv4@127.0.0.1:1999 level admin\n" \
	"defaults\n"                                          \
	"    timeout connect 5s\n"                            \
	"    timeout client 1h\n"                             \
	"    timeout server 1h\n"
#define MAXCONN 100
#define TABLE 1024
/* A process that was stopped hard has gone after this time. */
#define PATIENCE (10 * FAKE_SEC)
/* The signal is repeated so often: calls that were made to fail may have read it. */
#define AGAIN FAKE_SEC

void
process_world_error(struct process_world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->why[0])
		return;
	va_start(ap, fmt);
	vsnprintf(w->why, sizeof(w->why), fmt, ap);
	va_end(ap);
}

void
process_world_note(struct process_world *w, const char *fmt, ...)
{
	uint64_t ns = fake_now(w->k) - w->began;
	va_list ap;

	if (w->is_over)
		return;
	fake_memory_is_ours++;
	sbuf_addf(&w->trace, "%5llu.%03llu", (unsigned long long)(ns / FAKE_SEC),
		(unsigned long long)(ns % FAKE_SEC / FAKE_MS));
	if (ns % FAKE_MS)
		sbuf_addf(&w->trace, "%06llu", (unsigned long long)(ns % FAKE_MS));
	sbuf_addc(&w->trace, ' ');
	va_start(ap, fmt);
	sbuf_vaddf(&w->trace, fmt, ap);
	va_end(ap);
	sbuf_addc(&w->trace, '\n');
	fake_memory_is_ours--;
}

/* A message for the terminal: a line, or the rest of one. */
static ssize_t
on_report(void *world, const char *text, size_t len)
{
	struct process_world *w = world;

	process_world_note(w, "terminal: %.*s", (int)strcspn(text, "\n"), text);
	return (ssize_t)len;
}

void
process_world_open(struct process_world *w)
{
	cookie_io_functions_t io = { .write = on_report };

	memset(w, 0, sizeof(*w));
	/* Logs have local time. */
	setenv("TZ", "UTC", 1);
	w->k = fake_new();
	w->began = fake_now(w->k);
	sys_init(&w->sys, &sys_fake, w->k);
	sbuf_init(&w->trace, 0);
	w->report.to = fopencookie(w, "w", io);
	setvbuf(w->report.to, NULL, _IOLBF, 4096);
	w->report.pid = (int)sys_getpid(&w->sys);
	w->notify.fd = -1;
	w->ends = process_ends_new(w);
}

static int
load(struct process_world *w, const char *config)
{
	static const char *const no_environment[] = { NULL };
	struct options o = { .progname = "tacit", .n_files = 1, .files = { CONFIG } };
	struct sbuf text;
	int r;

	sbuf_init(&text, 0);
	sbuf_addf(&text, "%s%s", PREAMBLE, config);
	fake_put_file(w->k, CONFIG, text.p, text.len);
	sbuf_fini(&text);
	r = config_init(&w->cfg, no_environment);
	if (!r)
		r = config_load(&w->cfg, &w->sys, &o);
	report_diag(&w->report, &w->cfg.diag, 0);
	if (r)
		process_world_error(w, "the configuration is refused:\n%s", w->trace.p);
	return r;
}

static void
set_limits(struct process_world *w)
{
	const struct global_conf *g = &w->cfg.global;

	w->p.limits = (struct limits){
		.maxconn = g->maxconn ? (unsigned int)g->maxconn : MAXCONN,
		.fds = TABLE,
		.table = TABLE
	};
	proxies_set_fullconn(&w->cfg.proxies, w->p.limits.maxconn);
}

/* 0, or a negative reason. */
static int
start(struct process_world *w)
{
	int r = 0;

	if (w->is_notified)
		r = notify_open(&w->notify, &w->sys, PROCESS_WORLD_NOTIFY);
	if (!r)
		r = process_init(&w->p, &w->sys, &w->cfg, &w->report, &w->notify);
	if (r)
		return r;
	w->p.service = &admin_service;
	w->p.stats = &stats_service;
	w->p.metrics = &promex_service;
	w->p.watchdog.interval_ms = w->watchdog_ms;
	set_limits(w);
	process_open_log(&w->p, "tacit");
	r = process_bind(&w->p);
	if (!r)
		r = process_start(&w->p);
	return r;
}

int
process_world_start(struct process_world *w, const char *config)
{
	int r = load(w, config);

	if (r)
		return -1;
	faults_apply(w->mem_faults);
	r = start(w);
	faults_apply(0);
	if (r)
		process_world_error(w, "the process does not start (%s):\n%s", err_text(r),
			w->trace.p ? w->trace.p : "");
	return r ? -1 : 0;
}

static void
give_up(struct fake *k, void *world)
{
	struct process_world *w = world;

	(void)k;
	process_world_error(w, "the process does not end: %u sessions, state %d",
		process_sessions(&w->p), (int)w->p.state);
	w->p.state = PROCESS_GONE;
}

static void
stop_hard(struct fake *k, void *world)
{
	if (((const struct process_world *)world)->p.state >= PROCESS_KILLING)
		return;
	fake_signal(k, SIGTERM);
	fake_after(k, AGAIN, stop_hard, world);
}

static void
end_scenario(struct fake *k, void *world)
{
	struct process_world *w = world;

	process_world_note(w, "-- the scenario is over");
	w->is_over = 1;
	process_ends_leave(w->ends);
	stop_hard(k, w);
	fake_after(k, PATIENCE, give_up, w);
}

void
process_world_run(struct process_world *w)
{
	fake_after(w->k, w->until - (fake_now(w->k) - w->began), end_scenario, w);
	faults_apply(w->mem_faults);
	process_run(&w->p);
	faults_apply(0);
	process_world_note(w, "-- the process has ended");
	/* Lets its last bytes arrive. */
	fake_advance(w->k, FAKE_SEC);
	w->is_over = 1;
}

static void
check_kernel(struct process_world *w)
{
	for (int a = 0; a < FAKE_ABUSES; a++)
		if (a != FAKE_CORK_STALL && fake_abuse(w->k, (enum fake_abuse)a))
			process_world_error(w, "%s: %llu times",
				fake_abuse_name((enum fake_abuse)a),
				(unsigned long long)fake_abuse(w->k, (enum fake_abuse)a));
	if (fake_fds(w->k))
		process_world_error(w, "descriptor %d is still open", fake_any_fd(w->k));
}

int
process_world_close(struct process_world *w)
{
	w->is_over = 1;
	if (w->p.workers) {
		/* They still use this memory: the test has failed, and leaks it. */
		if (process_join(&w->p) || process_sessions(&w->p)) {
			process_world_error(w, "the process ends with %u sessions",
				process_sessions(&w->p));
			return -1;
		}
		process_fini(&w->p);
	}
	notify_close(&w->notify);
	config_fini(&w->cfg);
	check_kernel(w);
	process_ends_free(&w->ends);
	fake_free(&w->k);
	fclose(w->report.to);
	sbuf_fini(&w->trace);
	return w->why[0] ? -1 : 0;
}
