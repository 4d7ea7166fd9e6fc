/*
 * For tests of app: files in a temporary directory (files_*), configurations (world_*), a process
 * on the real kernel (bench_*), admin commands (rig_*) and local services (service_rig_open,
 * new_job) in it. Users: all tests of app that need more than the functions of one file.
 */
#ifndef TESTS_UNIT_APP_RIG_H
#define TESTS_UNIT_APP_RIG_H

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/admin/admin.h"
#include "app/admin/admin_int.h"
#include "app/config/config.h"
#include "app/config/options.h"
#include "app/process/process.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cfg/reader.h"
#include "net/listener.h"
#include "proxy/model/service.h"
#include "unit/test.h"

/* --- files in a temporary directory --- */

static char files_dir[64];

static inline int
files_open(void **state)
{
	(void)state;
	snprintf(files_dir, sizeof(files_dir), "/tmp/tacit-unit-XXXXXX");
	return mkdtemp(files_dir) ? 0 : -1;
}

static inline int
files_close(void **state)
{
	DIR *d = opendir(files_dir);
	char path[400];

	(void)state;
	for (struct dirent *e; d && (e = readdir(d));) {
		snprintf(path, sizeof(path), "%s/%s", files_dir, e->d_name);
		(void)unlink(path);
	}
	if (d)
		closedir(d);
	return rmdir(files_dir);
}

/* The path of a file in it; valid until the fourth call after this one. */
static inline const char *
files_path(const char *name)
{
	static char buf[4][128];
	static int next;
	char *p = buf[next++ % 4];

	snprintf(p, sizeof(buf[0]), "%s/%s", files_dir, name);
	return p;
}

static inline const char *
files_write(const char *name, const char *text)
{
	const char *path = files_path(name);
	FILE *f = fopen(path, "w");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
	return path;
}

/* --- configurations: all modules, text in --- */

static struct config cfg;

/* A configuration with all modules registered and an empty environment. */
static inline int
world_open(void **state)
{
	static const char *const none[] = { NULL };

	(void)state;
	return config_init(&cfg, none);
}

static inline int
world_close(void **state)
{
	(void)state;
	config_fini(&cfg);
	return 0;
}

static inline int
world_files_open(void **state)
{
	return files_open(state) || world_open(state);
}

static inline int
world_files_close(void **state)
{
	(void)world_close(state);
	return files_close(state);
}

/* A test with a configuration, and files that it may name. */
#define FILES_CASE(fn) \
	cmocka_unit_test_setup_teardown(fn, world_files_open, world_files_close)

/* Reads lines of the section global: 0, or -1 when one was rejected. */
static inline int
world_global(const char *lines)
{
	struct cfg_reader r;
	struct cfg_facts facts;
	struct cfg_reader_opts opts = { .root = &cfg, .registry = &cfg.registry, .diag = &cfg.diag,
					.env = &cfg.env, .facts = &facts };
	size_t len = strlen(lines) + 16;
	char *text = mem_alloc(len);
	unsigned before = cfg.diag.count[CFG_ALERT];

	if (!text)
		return -1;
	snprintf(text, len, "global\n%s\n", lines);
	config_facts(&cfg, &facts);
	cfg_reader_init(&r, &opts);
	(void)cfg_reader_text(&r, "t.cfg", text, strlen(text));
	(void)cfg_reader_end(&r);
	cfg_reader_fini(&r);
	mem_free(text);
	/* Errors of earlier lines still count: only the new ones are checked. */
	return cfg.diag.count[CFG_ALERT] > before ? -1 : 0;
}

/* The text of the diagnostic that the last lines made or extended; "" for none. */
static inline const char *
world_diagnostic(void)
{
	const struct cfg_file *last = cfg.diag.nfile ? cfg.diag.file[cfg.diag.nfile - 1] : NULL;

	for (unsigned i = cfg.diag.nentry; i-- > 0;) {
		const struct cfg_diag_entry *e = &cfg.diag.entry[i];

		if (!e->places.n || e->places.at[e->places.n - 1].file == last)
			return e->text;
	}
	return "";
}

/* --- a process on the real kernel, which forwards between unix sockets --- */

static struct sys sys;
static struct process proc;
static struct worker *w; /* the first worker */
static struct notify nobody = { .fd = -1 };
static struct report report;
static int origin = -1; /* the listening socket of the server */

static inline struct sockaddr_un
bench_addr(const char *name)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", files_path(name));
	return un;
}

static inline int
bench_connect(const char *name)
{
	struct sockaddr_un un = bench_addr(name);
	struct timeval limit = { .tv_sec = 60 };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Opens a configuration with these lines in its global section, which forwards socket "front" to
 * "back". There is one worker unless the lines say otherwise. An abstract socket has ${UNIT_PID} in
 * its name: another process may run the same test. */
static inline int
bench_open(const char *global, const char *proxy)
{
	static struct options o;
	struct sockaddr_un back;
	char text[1500], front[128], pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (files_open(NULL) || world_open(NULL) || cfg_env_set(&cfg.env, "UNIT_PID", pid))
		return -1;
	sys_init(&sys, &sys_linux, NULL);
	report.to = fopen("/dev/null", "w");
	back = bench_addr("back");
	origin = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (bind(origin, (struct sockaddr *)&back, sizeof(back)) || listen(origin, 16))
		return -1;
	snprintf(front, sizeof(front), "%s", files_path("front"));
	snprintf(text, sizeof(text),
		 "global\n%s%s\ndefaults\n mode tcp\n timeout connect 1m\n timeout client 1m\n"
		 " timeout server 1m\nlisten l\n bind %s\n server s %s\n%s\n",
		 strstr(global, "nbthread") ? "" : "nbthread 1\n", global, front, back.sun_path,
		 proxy);
	memset(&o, 0, sizeof(o));
	o.files[o.n_files++] = files_write("t.cfg", text);
	if (config_load(&cfg, &sys, &o))
		return -1;
	if (process_init(&proc, &sys, &cfg, &report, &nobody))
		return -1;
	proc.service = &admin_service;
	w = process_first(&proc);
	proc.limits = (struct limits){
		.maxconn = (unsigned int)(cfg.global.maxconn ? cfg.global.maxconn : 16),
		.fds = 256,
		.table = 256
	};
	process_open_log(&proc, "test");
	return 0;
}

static inline void
bench_close(void)
{
	process_fini(&proc);
	if (origin >= 0)
		close(origin);
	origin = -1;
	world_close(NULL);
	fclose(report.to);
	files_close(NULL);
}

/* The same, and accepts connections. */
static inline void
bench_start(const char *global, const char *proxy)
{
	assert_int_equal(bench_open(global, proxy), 0);
	assert_int_equal(process_bind(&proc), 0);
	assert_int_equal(process_start(&proc), 0);
}

/* A soft stop of all workers, which waits until their sessions have ended. */
static inline void
bench_stop(void)
{
	process_on_signal(&proc, SIGUSR1, 0);
	process_run(&proc);
	assert_int_equal(process_sessions(&proc), 0);
	assert_int_equal(process_join(&proc), 0);
	bench_close();
}

/* Runs a few turns of the loop, enough for what is pending. */
static inline void
bench_turns(void)
{
	for (int i = 0; i < 8; i++)
		assert_int_equal(loop_turn(w->loop, 2), 0);
}

/* --- admin commands in its first worker --- */

static struct admin_conn rig_conn;
static struct sbuf rig_answer;
static struct listener *rig_listener;

/* Starts a worker with these additional lines in its global section; see bench_open(). */
static inline void
rig_open(const char *global, const char *proxy)
{
	char text[800];

	snprintf(text, sizeof(text), "stats socket abns@tacit-unit-%d level admin\n%s",
		 (int)getpid(), global);
	assert_int_equal(bench_open(text, proxy), 0);
	assert_int_equal(process_bind(&proc), 0);
	assert_int_equal(process_start(&proc), 0);
	rig_listener = list_first(
		&list_first(&cfg.global.admin_binds, struct bind_conf, link)->listeners,
		struct listener, link);
	memset(&rig_conn, 0, sizeof(rig_conn));
}

static inline void
rig_close(void)
{
	sbuf_fini(&rig_conn.out);
	sbuf_fini(&rig_answer);
	bench_close();
}

static inline int
rig_setup(void **st)
{
	(void)st;
	rig_open("", "");
	return 0;
}

static inline int
rig_teardown(void **st)
{
	(void)st;
	rig_close();
	return 0;
}

/* A test with a process of its own, whose configuration has no additional lines. */
#define RIG_CASE(fn) cmocka_unit_test_setup_teardown(fn, rig_setup, rig_teardown)
/* The same, with the lines of the file's setup(). */
#define RIG_CASE_SETUP(fn) cmocka_unit_test_setup_teardown(fn, setup, rig_teardown)

/* Forwards five bytes on a connection, the first one of this process or a later one. */
static inline void
rig_forward_hello(void)
{
	int c = bench_connect("front"), s;
	char buf[8];

	assert_int_equal(send(c, "hello", 5, 0), 5);
	bench_turns();
	s = accept(origin, NULL, NULL);
	assert_int_equal(recv(s, buf, sizeof(buf), 0), 5);
	close(c);
	close(s);
	bench_turns();
}

/* Produces the whole answer to a line, slice by slice. */
static inline const char *
rig_run_line(char *line, char *payload)
{
	sbuf_fini(&rig_answer);
	sbuf_init(&rig_answer, 0);
	sbuf_fini(&rig_conn.out);
	sbuf_init(&rig_conn.out, ADMIN_OUT_MAX);
	admin_begin_line(&rig_conn, line, payload);
	while (rig_conn.line) {
		admin_run_line(&rig_conn);
		/* The parts of other workers need a real connection. */
		assert_null(rig_conn.ask.worker);
		assert_false(rig_conn.out.failed);
		sbuf_add(&rig_answer, rig_conn.out.p ? rig_conn.out.p : "", rig_conn.out.len);
		sbuf_reset(&rig_conn.out);
		/* `wait`: time passes. */
		if (rig_conn.wake_ms)
			assert_int_equal(loop_turn(w->loop, 5), 0);
	}
	return rig_answer.len ? rig_answer.p : "";
}

/* The answer to a line on a connection of its own. The text is valid until the next call. */
static inline const char *
rig_run(enum bind_level level, const char *line)
{
	char *copy = strdup(line);
	const char *answer;

	assert_non_null(copy);
	sbuf_fini(&rig_conn.out);
	memset(&rig_conn, 0, sizeof(rig_conn));
	rig_conn.admin = proc.admin;
	rig_conn.level = level;
	rig_conn.timeout_ms = 10000;
	admin_ask_init(&rig_conn.ask, NULL);
	answer = rig_run_line(copy, NULL);
	free(copy);
	return answer;
}

static inline const char *
rig_command(const char *line)
{
	return rig_run(BIND_ADMIN, line);
}

/* Clients split answers at empty lines: there is one at the end and none before. */
static inline void
rig_check_shape(const char *answer)
{
	const char *empty = strstr(answer, "\n\n");

	/* An empty answer, and the empty line that `echo` makes of no text. */
	if (strcmp(answer, "\n") == 0 || strcmp(answer, "\n\n") == 0)
		return;
	if (answer[0] == '\n' || !empty || empty[2])
		fail_msg("an empty line is missing or too early: '%.300s'", answer);
}

/* The number of lines of an answer, without the empty one at its end. */
static inline unsigned int
rig_lines(const char *answer)
{
	unsigned int n = 0;

	for (; *answer; answer++)
		n += *answer == '\n';
	return n - 1;
}

static inline void
rig_check_start(const char *answer, const char *start)
{
	if (strncmp(answer, start, strlen(start)) != 0)
		fail_msg("'%.300s' does not start with '%s'", answer, start);
}

/* The nth line, without its newline. */
static inline const char *
rig_line(const char *answer, int nth)
{
	static char line[4096];

	while (nth-- > 0) {
		answer = strchr(answer, '\n');
		assert_non_null(answer);
		answer++;
	}
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(answer, "\n"), answer);
	return line;
}

/* --- jobs of local services, run in it --- */

static struct service_job *job;
static char rig_text[1 << 18];

static inline int
service_rig_open(const char *sections)
{
	assert_int_equal(bench_open("", sections), 0);
	assert_int_equal(process_bind(&proc), 0);
	assert_int_equal(process_start(&proc), 0);
	return 0;
}

static inline void
end_job(void)
{
	if (!job)
		return;
	job->service->end(job);
	sbuf_fini(&job->texts);
	sbuf_fini(&job->out);
	free(job);
	job = NULL;
}

/* In place of the one before. */
static inline void
new_job(const struct local_service *service, const char *target)
{
	end_job();
	job = calloc(1, sizeof(*job));
	job->service = service;
	job->target = str_of(target);
	sbuf_init(&job->texts, SERVICE_HEAD_MAX);
	sbuf_init(&job->out, sizeof(rig_text) - 1);
}

/* The whole body; "" without one. The head is in job until the next one is made. */
static inline const char *
run_job(void)
{
	while (job->service->begin(job, &proc))
		;
	assert_false(job->texts.failed);
	while (job->has_body && job->service->step(job, &proc))
		assert_false(job->out.failed);
	(void)snprintf(rig_text, sizeof(rig_text), "%s", job->out.p ? job->out.p : "");
	return rig_text;
}

#endif
