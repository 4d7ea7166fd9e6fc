/* Sockets of the service manager for listeners. Main thread, before listeners are copied for the
 * workers: an inherited socket is shared by all of them. */
#include "app/process/activation.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/config/config.h"
#include "app/process/report.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"
#include "net/addr.h"
#include "net/listener.h"

struct applying {
	const struct activation *a;
	struct sys *sys;
	const struct report *report;
	struct addr *addrs;            /* of each socket; len 0: none */
	const struct listener **users; /* NULL: not used yet */
	int bad;
};

/* --- the environment --- */

static const char *
find_variable(const char *const *environment, const char *name)
{
	size_t n = strlen(name);

	for (; *environment; environment++)
		if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
			return *environment + n + 1;
	return NULL;
}

void
activation_read(struct activation *a, struct sys *sys, const char *const *environment)
{
	const char *pid = find_variable(environment, "LISTEN_PID");
	const char *fds = find_variable(environment, "LISTEN_FDS");

	*a = (struct activation){ 0 };
	if (!pid || !fds || strtol(pid, NULL, 10) != sys_getpid(sys))
		return;
	a->n = (unsigned int)strtoul(fds, NULL, 10);
	a->n = MIN(a->n, (unsigned int)ACTIVATION_MAX);
	a->names = find_variable(environment, "LISTEN_FDNAMES");
}

/* The index of the socket with this name, or -1. */
static int
find_activated(const struct activation *a, const char *name)
{
	const char *at = a->names;
	size_t n = strlen(name);

	for (unsigned int i = 0; at && i < a->n; i++) {
		size_t len = strcspn(at, ":");

		if (len == n && memcmp(at, name, n) == 0)
			return (int)i;
		at = at[len] ? at + len + 1 : NULL;
	}
	return -1;
}

/* --- listeners --- */

static void
refuse_socket(struct applying *w, const struct listener *ln, const char *why)
{
	const struct cfg_where *at = &ln->bind->where;

	report_msg(w->report, REPORT_ALERT, "[%s:%u:%u] : 'fd@%s' : %s.",
		at->file ? at->file->name : "-", at->line, at->col, ln->inherit_name, why);
	w->bad = 1;
}

/* NULL: a listener can use it. */
static const char *
why_not_usable(struct sys *sys, int fd, struct addr *a)
{
	int type = 0;
	socklen_t len = sizeof(type);

	if (sys_fcntl(sys, fd, F_GETFD, 0) < 0)
		return "this descriptor is not open";
	if (sys_getsockopt(sys, fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
		return "this descriptor is not a socket";
	if (type != SOCK_STREAM)
		return "this socket is not a stream socket";
	if (addr_of_socket(sys, fd, a) < 0)
		return "this socket has an address of an unknown family";
	if (addr_family(a) != AF_UNIX && !addr_port(a))
		return "this socket is not bound";
	return NULL;
}

static int
check_listening(struct sys *sys, int fd)
{
	int listens = 0;
	socklen_t len = sizeof(listens);

	if (sys_getsockopt(sys, fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) < 0 || !listens)
		return -ERR_INVAL;
	return 0;
}

static void
use_socket(struct applying *w, struct listener *ln, int i)
{
	if (w->users[i]) {
		refuse_socket(w, ln, "another bind line uses this socket");
		return;
	}
	w->users[i] = ln;
	ln->inherit_fd = ACTIVATION_FIRST + i;
}

/* fd@<number> or fd@<name>. */
static void
apply_named(struct applying *w, struct listener *ln)
{
	int i = ln->inherit_fd < 0 ? find_activated(w->a, ln->inherit_name)
				   : ln->inherit_fd - ACTIVATION_FIRST;
	struct addr a;
	const char *why;

	if (ln->inherit_fd < 0 && i < 0) {
		refuse_socket(w, ln, "no socket of this name is passed ($LISTEN_FDNAMES)");
		return;
	}
	why = why_not_usable(w->sys, ACTIVATION_FIRST + i, &a);
	/* A parent of another kind may pass one that is only bound. */
	if (!why && i >= 0 && i < (int)w->a->n && check_listening(w->sys, ACTIVATION_FIRST + i))
		why = "this socket does not listen";
	if (why)
		refuse_socket(w, ln, why);
	else if (i >= 0 && i < (int)w->a->n)
		use_socket(w, ln, i);
}

static int
is_same_addr(const struct addr *a, const struct addr *b)
{
	char x[ADDR_TEXT], y[ADDR_TEXT];

	return a->len && b->len && strcmp(addr_text(a, x), addr_text(b, y)) == 0;
}

static void
apply_address(struct applying *w, struct listener *ln)
{
	for (unsigned int i = 0; i < w->a->n; i++)
		if (!w->users[i] && is_same_addr(&w->addrs[i], &ln->addr)) {
			use_socket(w, ln, (int)i);
			return;
		}
}

static void
apply_binds(struct applying *w, struct list *binds, int by_name)
{
	list_each(it, binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		list_each(lt, &b->listeners) {
			struct listener *ln = list_entry(lt, struct listener, link);

			if (ln->inherit_name && by_name)
				apply_named(w, ln);
			else if (!ln->inherit_name && !by_name)
				apply_address(w, ln);
		}
	}
}

static void
apply_to_all(struct applying *w, struct config *cfg, int by_name)
{
	list_each(it, &cfg->proxies.all) {
		struct proxy *px = list_entry(it, struct proxy, link);

		if (!px->disabled)
			apply_binds(w, &px->binds, by_name);
	}
	list_each(it, &cfg->proxies.peers) {
		struct peers_conf *c = list_entry(it, struct peers_conf, link);

		if (c->is_used)
			apply_binds(w, &c->binds, by_name);
	}
	apply_binds(w, &cfg->global.admin_binds, by_name);
}

/* Unused sockets stay open for the next process. */
static void
finish_sockets(struct applying *w)
{
	char text[ADDR_TEXT];

	for (unsigned int i = 0; i < w->a->n; i++) {
		(void)!sys_fcntl(w->sys, ACTIVATION_FIRST + (int)i, F_SETFD, FD_CLOEXEC);
		if (!w->users[i] && !w->bad)
			report_msg(w->report, REPORT_WARNING,
				"socket %u of the service manager (%s) is used by no bind line.",
				ACTIVATION_FIRST + i,
				w->addrs[i].len ? addr_text(&w->addrs[i], text) : "unusable");
	}
}

int
activation_apply(const struct activation *a, struct sys *sys, struct config *cfg,
	const struct report *report)
{
	struct applying w = { .a = a, .sys = sys, .report = report };

	w.addrs = mem_zalloc((a->n + 1) * sizeof(*w.addrs));
	w.users = mem_zalloc((a->n + 1) * sizeof(*w.users));
	if (w.addrs && w.users) {
		for (unsigned int i = 0; i < a->n; i++)
			if (why_not_usable(sys, ACTIVATION_FIRST + (int)i, &w.addrs[i]))
				w.addrs[i].len = 0;
		apply_to_all(&w, cfg, 1);
		apply_to_all(&w, cfg, 0);
		finish_sockets(&w);
	} else {
		report_msg(report, REPORT_ALERT, "cannot start: %s", err_text(-ERR_NOMEM));
		w.bad = 1;
	}
	mem_free(w.addrs);
	mem_free(w.users);
	return w.bad ? -ERR_INVAL : 0;
}
