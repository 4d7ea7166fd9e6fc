#include <string.h>

#include "base/age.h"
#include "proxy/model/check.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

#define HEAD "1\n# be_id be_name\n"

static char *text;
static size_t text_len;

/* Counts searches through all servers of a backend. */
static unsigned int searches;
struct server *__real_proxy_find_server(const struct proxy *be, struct str name);
struct server *__wrap_proxy_find_server(const struct proxy *be, struct str name);

struct server *
__wrap_proxy_find_server(const struct proxy *be, struct str name)
{
	searches++;
	return __real_proxy_find_server(be, name);
}

/* Starts with this file and two more servers in the backend l. NULL: there is no file. */
static void
start(const char *file)
{
	assert_int_equal(bench_open("server-state-file states\n",
				 " load-server-state-from-file global\n"
				 " server t 127.0.0.1:1 check inter 1h weight 9\n"
				 " server u 127.0.0.1:7 weight 9 track l/t\n"),
		0);
	cfg.global.state_base = mem_strdup(files_dir);
	if (file)
		files_write("states", file);
	fclose(report.to);
	report.to = open_memstream(&text, &text_len);
	searches = 0;
	state_files_read(&proc);
	assert_int_equal(process_bind(&proc), 0);
	assert_int_equal(process_start(&proc), 0);
	fflush(report.to);
	assert_non_null(text);
}

static void
stop(void)
{
	bench_close();
	free(text);
	text = NULL;
}

static struct server *
server_named(const char *name)
{
	struct server *s = proxy_find_server(
		proxies_find(&cfg.proxies, "l", PROXY_BE), str_of(name));

	assert_non_null(s);
	return s;
}

/* There may be as many rows as servers. */
static void
rows_find_their_servers_by_name(void **state)
{
	const struct proxy *l;

	(void)state;
	start(HEAD "2 l 3 u - 2 0 8 9 70 1 0 2 0 0 0 0 - 8 - 0 0 - - 0\n"
		   "2 l 4 nobody - 2 0 8 9 70 1 0 2 0 0 0 0 - 8 - 0 0 - - 0\n"
		   "2 l 2 t - 2 0 3 9 70 8 2 0 6 0 0 0 - 0 - 0 0 - - 0\n");
	assert_int_equal(searches, 0);
	assert_int_equal(server_named("t")->uweight, 3);
	assert_int_equal(server_named("u")->uweight, 8);
	/* Servers may be removed later. */
	l = proxies_find(&cfg.proxies, "l", PROXY_BE);
	assert_null(l->server_names.slot);
	stop();
}

/* Its time is that of another machine, or of this one before it started again. */
static void
a_time_before_the_start_of_the_machine_is_kept(void **state)
{
	(void)state;
	start(HEAD "2 l 2 t - 0 0 3 9 2000000000 8 2 0 6 0 0 0 - 0 - 0 0 - - 0\n");
	assert_int_equal(age_between(server_named("t")->last_change_ms, proc.started_ms) / 1000,
		2000000000);
	assert_int_equal(age_between(server_named("t")->down_since_ms, proc.started_ms) / 1000,
		2000000000);
	stop();
}

static void
rows_are_applied(void **state)
{
	(void)state;
	start(HEAD "2 l 2 t - 0 0 3 9 70 8 2 0 6 0 0 0 - 0 - 0 0 - - 0\n"
		   "\n# a comment\n"
		   "2 l 3 u 127.0.0.1 2 1 9 9 70 1 0 2 0 0 0 0 - 8 - 0 0 - - 0\n");
	assert_int_equal(server_named("t")->oper, SERVER_STOPPED);
	assert_int_equal(server_named("t")->check->health, 0);
	assert_int_equal(server_named("t")->check->status, CHECK_L4CON);
	assert_int_equal(server_named("t")->uweight, 3);
	assert_int_equal((proc.started_ms - server_named("t")->last_change_ms) / 1000, 70);
	assert_int_equal(server_named("u")->oper, SERVER_STOPPED);
	assert_true(server_named("u")->admin & SERVER_MAINT_FORCED);
	assert_int_equal(server_named("s")->oper, SERVER_RUNNING);
	assert_non_null(
		strstr(text, "Server l/t is DOWN, changed from server-state after a reload"));
	assert_null(proc.states.global);
	stop();
}

static void
invalid_fields_are_named(void **state)
{
	(void)state;
	start(HEAD "2 l 2 t - 9 0 300 9 70 8 2 0 6 0 0 0 - 0 - 0 0 - - 0\n");
	assert_int_equal(server_named("t")->oper, SERVER_RUNNING);
	assert_int_equal(server_named("t")->uweight, 9);
	assert_non_null(strstr(text,
		"server-state application failed for server 'l/t', invalid srv_op_state value '9', "
		"invalid srv_uweight value '300'"));
	stop();
}

static void
bad_files_are_warnings(void **state)
{
	static const struct {
		const char *file, *says;
	} bad[] = {
		{ NULL, "Can't open global server state file" },
		{ "", "Can't get version of the global server state file" },
		{ "2\n", "Can't get version of the global server state file" },
		{ HEAD "2 l 2 t - 0 0 3 9\n", "corrupted global server state file" },
		{ HEAD "2 l 2 t - 0 0 3 9 70 8 2 0 6 0 0 0 - 0 - 0 0 - - 0", "at line 2." },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		start(bad[i].file);
		assert_int_equal(server_named("t")->uweight, 9);
		if (!strstr(text, bad[i].says))
			fail_msg("'%s' instead of '%s'", text, bad[i].says);
		stop();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_applied),
		cmocka_unit_test(a_time_before_the_start_of_the_machine_is_kept),
		cmocka_unit_test(rows_find_their_servers_by_name),
		cmocka_unit_test(invalid_fields_are_named),
		cmocka_unit_test(bad_files_are_warnings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
