#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/config/options.h"
#include "app/process/connect_targets.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

#define TIMES "defaults\n timeout connect 1s\n timeout client 1s\n timeout server 1s\n"

/* With name servers of its own, not those of this machine. */
static void
load(const char *lines)
{
	static struct options o;
	char text[2048];

	snprintf(text, sizeof(text), "%sresolvers default\n nameserver x 127.0.0.1:53\n", lines);
	config_fini(&cfg);
	assert_int_equal(world_open(NULL), 0);
	memset(&o, 0, sizeof(o));
	o.files[o.n_files++] = files_write("a.cfg", text);
	assert_int_equal(config_load(&cfg, &sys, &o), 0);
}

/* The targets in order, each once: "80 443 unix@/x ". */
static void
note_target(const struct addr *a, void *out)
{
	char text[ADDR_TEXT + 16], host[ADDR_TEXT];

	if (addr_family(a) == AF_UNIX)
		snprintf(text, sizeof(text), "%s ", addr_text(a, host));
	else
		snprintf(text, sizeof(text), "%u ", addr_port(a));
	if (!strstr(out, text))
		strcat(out, text);
}

static const char *
targets(const char *text)
{
	static char out[1024];

	load(text);
	out[0] = '\0';
	connect_targets_each(&cfg, note_target, out);
	return out;
}

#define SERVER_LINES                                                                    \
	"backend b\n server s 127.0.0.1:1001 socks4 127.0.0.1:1002 check port 1003"     \
	" addr 127.0.0.1:1004 agent-check agent-port 1005 agent-addr 127.0.0.1\n"       \
	" server t [::1]:1006\n server u unix@/run/u\n server v abns@v\n"
#define CHECK_LINES                                                                     \
	"backend b\n option tcp-check\n tcp-check connect port 1001\n"                  \
	" tcp-check connect addr 127.0.0.1 port 1002\n server s 127.0.0.1:1003 check\n" \
	"listen l\n bind 127.0.0.1:1\n dispatch 127.0.0.1:1004\n"
#define LOG_LINES                                                                       \
	"global\n log 127.0.0.1:514 local0\n log /run/log local0\n"                     \
	" log tcp@127.0.0.1:1001 local0\n" TIMES                                        \
	"backend b\n log abns@log local0\n server s 127.0.0.1:1002\n"                   \
	"resolvers r\n nameserver one 127.0.0.1:1003\nring x\n server s 127.0.0.1:1004\n"

static void
all_of_a_configuration(void **state)
{
	(void)state;
	assert_string_equal(targets(TIMES "backend b\n server s 127.0.0.1:1001\n"), "1001 53 ");
	assert_string_equal(targets(TIMES SERVER_LINES),
		"1001 1002 1004 0 1003 1005 1006 unix@/run/u abns@v 53 ");
	assert_string_equal(targets(TIMES CHECK_LINES), "1003 1001 0 1002 1004 53 ");
	assert_string_equal(
		targets(LOG_LINES), "1002 abns@log unix@/run/log 1001 1004 1003 53 ");
	assert_string_equal(targets("global\n ocsp-update.httpproxy 127.0.0.1:1001\n"), "53 1001 ");
}

static const char *
unknown_of(const char *global, const char *backend)
{
	const char *why;
	char text[1024];

	snprintf(text, sizeof(text), "global\n%s\n" TIMES "backend b\n%s\n", global, backend);
	load(text);
	why = connect_targets_unknown(&cfg);
	return why ? why : "";
}

/* Each of the first could connect to a port that no rule has. */
static void
ports_that_nobody_knows(void **state)
{
	static const char *const t[][3] = {
		{ "", " server s 127.0.0.1", "client" },
		{ "", " server s 127.0.0.1:+1000", "client" },
		{ "", " option transparent", "client" },
		{ "", " server s _http._tcp.x:80 resolvers default", "SRV" },
		{ "", " option tcp-check\n tcp-check connect port str(81)\n server s 127.0.0.1:80",
			"computes" },
		{ "", " load-server-state-from-file local\n server s 127.0.0.1:80", "state file" },
		{ " stats socket /run/a level admin", " server s 127.0.0.1:80", "admin" },
		{ " stats socket /run/a level operator", " server s 127.0.0.1:80", "" },
		{ " stats socket /run/a", " server s 127.0.0.1:80", "" },
		{ "", " server s 127.0.0.1:80 check port 81", "" },
		{ "", " server s localhost:80", "" },
		{ "", " server s x.invalid:80 resolvers default init-addr none", "" },
		{ "", " server s 0.0.0.0:80", "" },
		{ "", " server s unix@/run/s", "" },
		{ "", " server s 127.0.0.1:80\n tcp-request content set-dst-port int(1)", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		const char *why = unknown_of(t[i][0], t[i][1]);

		assert_true(*t[i][2] ? strstr(why, t[i][2]) != NULL : !*why);
	}
}

static int
finds_socket(const char *root, const char *server, const char *path)
{
	struct addr_spec spec;
	const char *why;
	char text[600];

	snprintf(text, sizeof(text), "global\n%s%s\n" TIMES "backend b\n server s unix@%s\n",
		root ? " chroot " : "", root ? root : "", server);
	load(text);
	assert_int_equal(addr_parse(path, ADDR_ALLOW_UNIX, &spec, &why), 0);
	return connect_targets_have(&cfg, &sys, &spec.addr);
}

static void
a_socket_is_found_by_any_path(void **state)
{
	char path[256], other[300], root[256];

	(void)state;
	snprintf(path, sizeof(path), "%s", files_write("m.sock", ""));
	snprintf(root, sizeof(root), "%.*s", (int)(strrchr(path, '/') - path), path);
	snprintf(other, sizeof(other), "%s/./m.sock", root);
	assert_true(finds_socket(NULL, path, path));
	assert_true(finds_socket(NULL, other, path));
	assert_true(finds_socket(root, "/m.sock", path));
	assert_true(finds_socket(root, "m.sock", path));
	assert_false(finds_socket(NULL, "/m.sock", path));
	assert_false(finds_socket(NULL, "/no/such/socket", path));
	/* nothing is there, and the text is the same */
	assert_true(finds_socket(NULL, "/no/such/socket", "/no/such/socket"));
	assert_false(finds_socket(NULL, "/no/such/socket", "abns@m"));
	assert_true(finds_socket(NULL, "/no/such\n server t abns@m", "abns@m"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		FILES_CASE(all_of_a_configuration),
		FILES_CASE(ports_that_nobody_knows),
		FILES_CASE(a_socket_is_found_by_any_path),
	};

	sys_init(&sys, &sys_linux, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
