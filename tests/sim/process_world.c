#define _GNU_SOURCE
#include "sim/process_world.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin.h"
#include "app/config/modules.h"
#include "app/config/options.h"
#include "app/promex/promex.h"
#include "app/stats/stats.h"
#include "base/err.h"
#include "base/mem.h"
#include "proxy/sample/route.h"
#include "fake/tasks.h"
#include "sim/faults.h"

#define CONFIG "process.cfg"
#define FILE_LINE "--- file "
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
/* For changes of maps, in the memory that outlives a process. */
#define MAPS_ROOM ((size_t)1 << 20)

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
on_report(void *run, const char *text, size_t len)
{
	struct process_run *r = run;

	process_world_note(r->w, "terminal: %.*s", (int)strcspn(text, "\n"), text);
	return (ssize_t)len;
}

void
process_world_open(struct process_world *w)
{
	memset(w, 0, sizeof(*w));
	/* Logs have local time. */
	setenv("TZ", "UTC", 1);
	w->k = fake_new();
	w->began = fake_now(w->k);
	sbuf_init(&w->trace, 0);
	w->ends = process_ends_new(w);
}

/* --- one process --- */

int __real_modules_register(struct cfg_registry *reg, const char **culprit);
int __wrap_modules_register(struct cfg_registry *reg, const char **culprit);

/* Called by the linker's redirection: see --wrap in build-aux/build.mk. Gives each configuration a
 * copy of one table of keywords, since sorting them takes longer than most worlds. Where
 * allocations may fail the table is made by the program. */
int
__wrap_modules_register(struct cfg_registry *reg, const char **culprit)
{
	static struct cfg_registry all;
	int r = 0;

	if (faults_are_applied())
		return __real_modules_register(reg, culprit);
	if (!all.nmodule)
		r = __real_modules_register(&all, culprit);
	*reg = all;
	reg->kw = r ? NULL : mem_resize(NULL, all.kwcap, sizeof(*reg->kw));
	if (!reg->kw)
		return r ? r : -ERR_NOMEM;
	memcpy(reg->kw, all.kw, all.nkw * sizeof(*reg->kw));
	return 0;
}

static struct process_run *
run_new(struct process_world *w)
{
	struct process_run *r = &w->run[w->n_runs++];
	cookie_io_functions_t io = { .write = on_report };

	assert(w->n_runs <= PROCESS_WORLD_RUNS);
	r->w = w;
	r->number = w->n_runs - 1;
	sys_init(&r->sys, &sys_fake, w->k);
	r->report.to = fopencookie(r, "w", io);
	setvbuf(r->report.to, NULL, _IOLBF, 4096);
	r->notify.fd = -1;
	master_link_init(&r->link, &r->sys);
	inherited_init(&r->inherited, &r->sys);
	return r;
}

/* Writes the configuration, up to a line "--- file NAME" behind which that file stands. */
static void
put_files(struct process_run *r)
{
	const char *config = r->w->config, *file = strstr(config, FILE_LINE);
	struct sbuf text;
	char name[64];
	size_t n;

	fake_memory_is_ours++;
	sbuf_init(&text, 0);
	sbuf_addf(&text, "%s%.*s", PREAMBLE, file ? (int)(file - config) : INT_MAX, config);
	fake_memory_is_ours--;
	fake_put_file(r->w->k, CONFIG, text.p, text.len);
	sbuf_fini(&text);
	if (!file)
		return;
	file += strlen(FILE_LINE);
	n = strcspn(file, "\n");
	snprintf(name, sizeof(name), "%.*s", (int)n, file);
	fake_put_file(r->w->k, name, file + n + 1, strlen(file + n + 1));
}

static int
load(struct process_run *r)
{
	static const char *const no_environment[] = { NULL };
	struct options o = { .progname = "tacit", .n_files = 1, .files = { CONFIG } };
	int e;

	put_files(r);
	r->report.pid = (int)sys_getpid(&r->sys);
	r->is_open = 1;
	e = config_init(&r->cfg, no_environment);
	if (!e)
		e = config_load(&r->cfg, &r->sys, &o);
	report_diag(&r->report, &r->cfg.diag, 0);
	if (e)
		process_world_error(r->w, "the configuration is refused:\n%s", r->w->trace.p);
	return e;
}

static void
set_limits(struct process_run *r)
{
	const struct global_conf *g = &r->cfg.global;

	r->p.limits = (struct limits){
		.maxconn = g->maxconn ? (unsigned int)g->maxconn : MAXCONN,
		.fds = TABLE,
		.table = TABLE
	};
	proxies_set_fullconn(&r->cfg.proxies, r->p.limits.maxconn);
}

/* 0, or a negative reason. */
static int
start(struct process_run *r, struct keep *keep)
{
	int e = 0;

	if (r->w->is_notified && !r->master)
		e = notify_open(&r->notify, &r->sys, PROCESS_WORLD_NOTIFY);
	if (!e)
		e = process_init(&r->p, &r->sys, &r->cfg, &r->report, &r->notify);
	r->has_process = r->p.workers != NULL;
	if (e)
		return e;
	r->p.service = &admin_service;
	r->p.stats = &stats_service;
	r->p.metrics = &promex_service;
	r->p.watchdog.interval_ms = r->w->watchdog_ms;
	r->p.inherited = &r->inherited;
	r->p.master = r->master ? &r->link : NULL;
	r->p.keep = *keep;
	set_limits(r);
	e = keep_open(&r->p);
	if (!e)
		process_tables_open(&r->p);
	if (e)
		return e;
	process_open_log(&r->p, "tacit");
	e = process_bind(&r->p);
	if (e)
		return e;
	inherited_close_rest(&r->inherited);
	return process_start(&r->p);
}

static void
keep_descriptor(struct process_world *w, const char *name, int fd)
{
	unsigned int i = w->n_kept++;

	assert(w->n_kept <= PROCESS_WORLD_KEPT && strlen(name) < sizeof(w->kept[i].name));
	memcpy(w->kept[i].name, name, strlen(name) + 1);
	w->kept[i].fd = fd;
}

static void
on_message(struct fake *k, void *run)
{
	static const char stores[] = "FDSTORE=1\nFDNAME=";
	struct process_run *r = run;
	char text[MASTER_LINK_MSG_MAX + 1];
	long n;
	int fd;

	while ((n = fake_peer_recv_fd(r->master, text, MASTER_LINK_MSG_MAX, &fd)) > 0) {
		text[n] = '\0';
		if (fd >= 0 && strncmp(text, stores, sizeof(stores) - 1) == 0)
			keep_descriptor(r->w, text + sizeof(stores) - 1, fd);
		else if (fd >= 0)
			fake_close(k, fd);
	}
}

static void
end(struct process_run *r)
{
	if (r->has_process) {
		/* Their memory cannot be freed: the test has failed, and its memory is lost. */
		if (process_join(&r->p) || process_sessions(&r->p)) {
			process_world_error(r->w, "the process ends with %u sessions",
				process_sessions(&r->p));
			return;
		}
		process_fini(&r->p);
	}
	/* The link is both. */
	if (r->master)
		on_message(r->w->k, r);
	else
		notify_close(&r->notify);
	master_link_fini(&r->link);
	inherited_fini(&r->inherited);
	if (r->is_open)
		config_fini(&r->cfg);
	fclose(r->report.to);
	r->has_ended = 1;
}

/* --- the master --- */

/* 0, or -1 without memory. */
static int
link_to_master(struct process_run *r)
{
	struct process_world *w = r->w;
	int fd;

	if (!w->has_master)
		return 0;
	r->master = fake_pair(w->k, &fd);
	fake_peer_notify(r->master, 0, on_message, r);
	r->link.fd = fd;
	r->notify = (struct notify){ &r->sys, fd, 0 };
	for (unsigned int i = 0; i < w->n_kept; i++)
		if (inherited_add(&r->inherited, fake_dup(w->k, w->kept[i].fd), w->kept[i].name,
			    INHERITED_MASTER) < 0)
			return -1;
	return 0;
}

/* 0, or -1 with w->why. */
static int
run_start(struct process_run *r)
{
	struct process_world *w = r->w;
	struct keep keep = { 0 };
	int e;

	if (link_to_master(r) < 0)
		return -1;
	keep.maps_room = MAPS_ROOM;
	keep_open_former(&keep, &r->inherited, &r->report);
	if (load(r)) {
		for (unsigned int i = 0; i < keep.n_former; i++)
			memfile_close(&keep.former[i].view);
		mem_free(keep.former);
		process_tables_close(&keep.tables);
		return -1;
	}
	/* The fault is that of the first one. */
	faults_apply(w->mem_faults && !r->number);
	e = start(r, &keep);
	faults_apply(0);
	if (e)
		process_world_error(w, "the process does not start (%s):\n%s", err_text(e),
			w->trace.p ? w->trace.p : "");
	return e ? -1 : 0;
}

int
process_world_start(struct process_world *w, const char *config)
{
	w->config = config;
	return run_start(run_new(w));
}

static void
run_serve(struct process_run *r)
{
	struct process_world *w = r->w;

	faults_apply(w->mem_faults && w->n_runs == 1);
	process_run(&r->p);
	faults_apply(0);
	if (r->number || w->n_runs > 1)
		process_world_note(w, "-- process %u has ended", r->number + 1);
	else
		process_world_note(w, "-- the process has ended");
	end(r);
}

static void
new_process_main(void *run)
{
	struct process_run *r = run;
	int failed = r->w->why[0] != '\0';

	fake_thread_is_process(r->number);
	if (run_start(r) < 0) {
		/* The one before it continues. */
		process_world_note(r->w, "-- process %u does not start", r->number + 1);
		if (!failed)
			r->w->why[0] = '\0';
		end(r);
		return;
	}
	process_world_note(r->w, "-- process %u is ready", r->number + 1);
	fake_signal_to(r->w->k, r->number - 1, SIGUSR1);
	run_serve(r);
}

int
process_world_reload(struct process_world *w)
{
	struct process_run *r;

	if (!w->has_master)
		return -1;
	/* There is none that it could replace: the world ends. */
	if (w->run[w->n_runs - 1].has_ended)
		return 0;
	r = run_new(w);
	if (thread_start(&r->thread, new_process_main, r, "reload"))
		process_world_error(w, "no thread");
	return 0;
}

/* --- the end --- */

static void
give_up(struct fake *k, void *world)
{
	struct process_world *w = world;

	(void)k;
	for (unsigned int i = 0; i < w->n_runs; i++) {
		struct process *p = &w->run[i].p;

		if (w->run[i].has_ended)
			continue;
		process_world_error(w, "the process does not end: %u sessions, state %d",
			process_sessions(p), (int)p->state);
		p->state = PROCESS_GONE;
	}
}

static void
stop_hard(struct fake *k, void *world)
{
	const struct process_world *w = world;
	int again = 0;

	for (unsigned int i = 0; i < w->n_runs; i++) {
		if (w->run[i].has_ended || w->run[i].p.state >= PROCESS_KILLING)
			continue;
		fake_signal_to(k, i, SIGTERM);
		again = 1;
	}
	if (again)
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
	run_serve(&w->run[0]);
	for (unsigned int i = 1; i < w->n_runs; i++)
		(void)!thread_join(&w->run[i].thread);
	/* Lets its last bytes arrive. */
	fake_advance(w->k, FAKE_SEC);
	w->is_over = 1;
}

/* A descriptor that another process has open too leaves the poller before it is closed. */
static int
is_normal(const struct process_world *w, int abuse)
{
	return abuse == FAKE_CORK_STALL || (abuse == FAKE_DEL_BEFORE_CLOSE && w->has_master);
}

static void
check_kernel(struct process_world *w)
{
	for (int a = 0; a < FAKE_ABUSES; a++)
		if (!is_normal(w, a) && fake_abuse(w->k, (enum fake_abuse)a))
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
	for (unsigned int i = 0; i < w->n_runs; i++) {
		if (!w->run[i].has_ended)
			end(&w->run[i]);
		if (!w->run[i].has_ended)
			return -1;
	}
	for (unsigned int i = 0; i < w->n_kept; i++)
		fake_close(w->k, w->kept[i].fd);
	check_kernel(w);
	process_ends_free(&w->ends);
	fake_free(&w->k);
	sbuf_fini(&w->trace);
	return w->why[0] ? -1 : 0;
}
