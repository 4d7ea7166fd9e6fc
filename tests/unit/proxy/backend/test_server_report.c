/* Messages about servers whose state changes; the texts are those of HAProxy 2.6 (observed). */
#include "unit/proxy/world.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/server_control.h"
#include "proxy/backend/server_report.h"

#define MORE                                                                    \
	"backend b\n server s 127.0.0.1:1\n server t 127.0.0.1:1\n"                \
	"backend one\n server x 127.0.0.1:1\n server y 127.0.0.1:1 backup\n"       \
	"backend out\n server z 127.0.0.1:1 disabled\n"                            \
	"listen both\n bind :1\n server q 127.0.0.1:1\n"

static struct world w;
static struct engine e;
static struct sys sys;
static struct log_sink sink;
static struct log_line lines[4];
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
	static const char *const names[] = { "b", "one", "out", "both" };
	int sv[2];

	(void)st;
	world_good(&w, WORLD_DEFAULTS MORE);
	sys_init(&sys, &sys_linux, NULL);
	log_sink_init(&sink, &sys, &id);
	memset(&e, 0, sizeof(e));
	e.log = &sink;
	e.on_notice = on_notice;
	noticed[0] = '\0';
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, sv), 0);
	from = sv[0];
	to = sv[1];
	for (int i = 0; i < 4; i++) {
		log_line_init(&lines[i]);
		lines[i].dest.kind = LOG_DEST_FD;
		lines[i].dest.fd = to;
		lines[i].form = LOG_FORM_SHORT;
		list_append(&world_proxy(&w, names[i])->logs, &lines[i].link);
	}
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	for (int i = 0; i < 4; i++)
		list_remove(&lines[i].link);
	log_sink_fini(&sink);
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

/* weight: -1 keeps it. */
static void
change(const char *be, const char *name, enum server_admin to_state, int weight)
{
	struct server *s = named(be, name);
	struct server_before before = server_before(s);

	server_set_admin(s, to_state, 1);
	if (weight >= 0)
		assert_int_equal(server_set_weight(s, weight), 0);
	server_report(&e, s, &before);
}

#define DOWN(sv, left, rest)                                                          \
	"Server " sv " is going DOWN for maintenance. " left " servers left." rest        \
	" 0 sessions active, 0 requeued, 0 remaining in queue."

static void
every_change_is_logged_once(void **st)
{
	static const struct {
		const char *be, *name;
		enum server_admin admin;
		int weight;
		const char *log;
	} t[] = {
		{ "b", "s", SERVER_MAINT, -1, "<1>" DOWN("b/s", "1 active and 0 backup", "") },
		{ "b", "s", SERVER_MAINT, -1, "" },
		{ "b", "s", SERVER_UP, -1,
			"<5>Server b/s is UP/READY (leaving forced maintenance)." },
		{ "b", "s", SERVER_UP, -1, "" },
		{ "b", "s", SERVER_DRAIN, -1,
			"<5>Server b/s enters drain state. 1 active and 0 backup servers online. "
			"0 sessions requeued, 0 total in queue." },
		{ "b", "s", SERVER_UP, -1, "<5>Server b/s is UP (leaving forced drain)." },
		{ "b", "s", SERVER_MAINT, -1, "<1>" DOWN("b/s", "1 active and 0 backup", "") },
		{ "b", "s", SERVER_DRAIN, -1,
			"<5>Server b/s is UP/DRAIN (leaving forced maintenance).|"
			"<5>Server b/s remains in forced drain mode." },
		{ "b", "s", SERVER_DRAIN, 0, "" },
		{ "b", "s", SERVER_DRAIN, 10, "<5>Server b/s remains in forced drain mode." },
		{ "b", "s", SERVER_MAINT, -1, "<5>" DOWN("b/s", "1 active and 0 backup", "") },
		{ "b", "t", SERVER_MAINT, -1, "<1>" DOWN("b/t", "0 active and 0 backup", "")
			"|<0>backend b has no server available!" },
		{ "b", "t", SERVER_UP, -1,
			"<5>Server b/t is UP/READY (leaving forced maintenance)." },
		{ "b", "t", SERVER_UP, 0, "<0>backend b has no server available!" },
		{ "one", "x", SERVER_MAINT, -1, "<1>" DOWN("one/x", "0 active and 1 backup",
			" Running on backup.") },
		{ "one", "y", SERVER_MAINT, -1,
			"<1>Backup " DOWN("one/y", "0 active and 0 backup", "")
			"|<0>backend one has no server available!" },
		{ "one", "y", SERVER_UP, -1,
			"<5>Backup Server one/y is UP/READY (leaving forced maintenance)." },
		{ "both", "q", SERVER_MAINT, -1, "<1>" DOWN("both/q", "0 active and 0 backup", "")
			"|<0>proxy both has no server available!" },
		{ "out", "z", SERVER_UP, -1,
			"<5>Server out/z is UP/READY (leaving forced maintenance)." },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		change(t[i].be, t[i].name, t[i].admin, t[i].weight);
		assert_string_equal(logged(), t[i].log);
	}
}

/* They are also printed on the terminal, with the backend's name in quotes. */
static void
every_change_is_printed(void **st)
{
	(void)st;
	change("b", "s", SERVER_MAINT, -1);
	change("b", "t", SERVER_MAINT, -1);
	change("b", "s", SERVER_UP, -1);
	assert_string_equal(noticed, DOWN("b/s", "1 active and 0 backup", "") "\n"
		DOWN("b/t", "0 active and 0 backup", "") "\n"
		"! backend 'b' has no server available!\n"
		"Server b/s is UP/READY (leaving forced maintenance).\n");
	e.on_notice = NULL;
	change("b", "s", SERVER_MAINT, -1);
	change("b", "s", SERVER_MAINT, -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_change_is_logged_once),
		CASE(every_change_is_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
