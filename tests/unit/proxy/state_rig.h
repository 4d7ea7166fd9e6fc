/* Servers of a configuration, STATE_RIG_CONFIG, whose changes of state are logged to a socket of
 * the test and noticed on its terminal. */
#ifndef TESTS_UNIT_PROXY_STATE_RIG_H
#define TESTS_UNIT_PROXY_STATE_RIG_H

#include "unit/proxy/world.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "proxy/model/engine.h"

static struct world w;
static struct engine e;
static struct sys sys;
static struct log_sink sink;
static struct log_line lines[8];
static unsigned int n_lines;
static char noticed[2000];
static int from, to;

static void
on_notice(struct engine *by, int is_alert, const char *text)
{
	size_t n = strlen(noticed);

	assert_ptr_equal(by, &e);
	snprintf(noticed + n, sizeof(noticed) - n, "%s%s\n", is_alert ? "! " : "", text);
}

static int
setup(void **st)
{
	static const struct log_ident id = { "tacit", NULL, 1, NULL };
	struct loop_config lc = { .poller = poller_find("epoll"), .max_fd = 64, .max_events = 8 };
	int sv[2], why;

	(void)st;
	world_good(&w, WORLD_DEFAULTS STATE_RIG_CONFIG);
	sys_init(&sys, &sys_linux, NULL);
	log_sink_init(&sink, &sys, &id);
	memset(&e, 0, sizeof(e));
	e.sys = &sys;
	e.loop = loop_new(&sys, &lc, &why);
	assert_non_null(e.loop);
	e.log = &sink;
	e.on_notice = on_notice;
	noticed[0] = '\0';
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, sv), 0);
	from = sv[0];
	to = sv[1];
	list_each(it, &w.proxies.all) {
		struct log_line *line = &lines[n_lines++];

		log_line_init(line);
		line->dest.kind = LOG_DEST_FD;
		line->dest.fd = to;
		line->form = LOG_FORM_SHORT;
		list_append(&list_entry(it, struct proxy, link)->logs, &line->link);
	}
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	while (n_lines)
		list_remove(&lines[--n_lines].link);
	log_sink_fini(&sink);
	loop_free(&e.loop);
	world_fini(&w);
	close(from);
	close(to);
	return 0;
}

/* All lines since the last call, joined by "|". */
static const char *
logged(void)
{
	static char all[2000];
	size_t n = 0;
	ssize_t r;

	log_flush(&sink);
	while ((r = recv(from, all + n, sizeof(all) - n - 1, MSG_DONTWAIT)) > 0) {
		n += (size_t)r;
		all[n - 1] = '|';
	}
	all[n ? n - 1 : 0] = '\0';
	return all;
}

static struct server *
named(const char *be, const char *name)
{
	struct proxy *p = world_proxy(&w, be);

	list_each(it, &p->servers) {
		struct server *s = list_entry(it, struct server, link);

		if (strcmp(s->name, name) == 0)
			return s;
	}
	fail_msg("no server %s/%s", be, name);
	return NULL;
}

#endif
