/* A process on the real kernel that forwards between unix sockets in a temporary directory. */
#ifndef TESTS_UNIT_APP_BENCH_H
#define TESTS_UNIT_APP_BENCH_H

#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "app/admin/admin.h"
#include "app/config/options.h"
#include "app/process/process.h"
#include "files.h"
#include "net/listener.h"
#include "unit/test.h"
#include "world.h"

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
	struct timeval limit = { .tv_sec = 5 };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Opens a configuration with these lines in its global section, which forwards socket "front" to
 * "back". There is one worker unless the lines say otherwise. */
static inline int
bench_open(const char *global, const char *proxy)
{
	static struct options o;
	struct sockaddr_un back;
	char text[1500], front[128];

	if (files_open(NULL) || world_open(NULL))
		return -1;
	sys_init(&sys, &sys_linux, NULL);
	report.to = fopen("/dev/null", "w");
	back = bench_addr("back");
	origin = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (bind(origin, (struct sockaddr *)&back, sizeof(back)) || listen(origin, 16))
		return -1;
	snprintf(front, sizeof(front), "%s", files_path("front"));
	snprintf(text, sizeof(text),
		 "global\n%s%s\ndefaults\n mode tcp\n timeout connect 5s\n timeout client 5s\n"
		 " timeout server 5s\nlisten l\n bind %s\n server s %s\n%s\n",
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

#endif
