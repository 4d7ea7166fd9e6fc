/* The process as it was started, and its threads. */
#include "unit/app/app_rig.h"

#include "cfg/diag.h"

static int
setup(void **st)
{
	(void)st;
	setenv("TACIT_UNIT", "a=b", 1);
	rig_open("stats socket \"abns@tacit-unit-more-${UNIT_PID}\" level user\n"
		 "setenv TACIT_SET here\n", "");
	return 0;
}

static void
the_environment_is_that_of_the_configuration(void **st)
{
	(void)st;
	assert_string_equal(rig_command("show env TACIT_SET"), "TACIT_SET=here\n\n");
	assert_string_equal(rig_command("show env tacit_set"), "Variable not found\n\n");
	assert_non_null(strstr(rig_command("show env"), "TACIT_SET=here\n"));
	rig_check_shape(rig_command("show env"));
	assert_string_equal(rig_run(BIND_USER, "show env"), "Permission denied\n\n");
}

static void
sockets_are_listed_with_their_level(void **st)
{
	char want[200];

	(void)st;
	snprintf(want, sizeof(want),
		 "# socket lvl processes\nabns@tacit-unit-%d admin all\n"
		 "abns@tacit-unit-more-%d user all\n\n",
		 (int)getpid(), (int)getpid());
	assert_string_equal(rig_command("show cli sockets"), want);
}

static void
libraries_have_addresses(void **st)
{
	const char *a = rig_command("show libs");
	unsigned long long from, to, size;

	(void)st;
	rig_check_shape(a);
	assert_true(rig_lines(a) >= 3);
	for (unsigned int i = 0; i < rig_lines(a); i++) {
		const char *line = rig_line(a, (int)i);
		char *end;

		from = strtoull(line, &end, 16);
		assert_int_equal(*end, '-');
		to = strtoull(end + 1, &end, 16);
		assert_int_equal(strncmp(end, " (0x", 4), 0);
		size = strtoull(end + 2, &end, 16);
		assert_int_equal(strncmp(end, ") ", 2), 0);
		assert_non_null(strchr(end, '/'));
		assert_true(from && size == to - from + 1);
	}
	/* The program's own code is in one of them. */
	assert_non_null(strstr(a, "libc.so.6\n"));
}

static void
messages_of_the_start_are_kept(void **st)
{
	struct sbuf kept;
	struct report r = { .to = fopen("/dev/null", "w") };

	(void)st;
	sbuf_init(&kept, 0);
	assert_string_equal(rig_command("show startup-logs"), "\n");
	r.kept = &kept;
	r.pid = 5;
	proc.report = &r;
	cfg.diag.pid = 5;
	cfg_diag_add(&cfg.diag, CFG_WARNING, NULL, "odd");
	report_msg(&r, REPORT_WARNING, "still odd");
	r.is_started = 1;
	report_msg(&r, REPORT_WARNING, "later");
	assert_string_equal(rig_command("show startup-logs"),
			    "[WARNING]  (5) : config : odd\n[WARNING]  (5) : still odd\n\n");
	proc.report = &report;
	fclose(r.to);
	sbuf_fini(&kept);
}

static void
each_thread_is_shown(void **st)
{
	const char *a = rig_command("show threads");
	const char *cpu = strstr(a, " cpu_ns=");

	(void)st;
	rig_check_shape(a);
	rig_check_start(a, "* Thread 1 : id=0x");
	assert_int_equal(rig_lines(a), 2);
	assert_non_null(cpu);
	assert_true(strtoull(cpu + 8, NULL, 10) > 0);
}

static void
on_task(struct task *t)
{
	(void)t;
}

static void
tasks_are_counted(void **st)
{
	struct task now, next;

	(void)st;
	assert_string_equal(rig_command("show tasks"), "Running tasks: 0 (1 threads)\n\n");
	task_init(&now, on_task);
	task_init(&next, on_task);
	loop_post(w->loop, &now);
	loop_post_next(w->loop, &next);
	assert_string_equal(rig_command("show tasks"), "Running tasks: 2 (1 threads)\n\n");
	assert_non_null(strstr(rig_command("show threads"), " rq=2 "));
	bench_turns();
	assert_string_equal(rig_command("show tasks"), "Running tasks: 0 (1 threads)\n\n");
}

#define HEALTH(verdict, state, accepting)                                              \
	verdict "\nstate: " state "\nfrontends: " accepting "\nlisteners: " accepting \
		"\nworkers: 1 of 1\nsessions: 0\n\n"

static void
health_is_that_of_a_process_that_serves(void **st)
{
	struct proxy *px = list_first(&cfg.proxies.all, struct proxy, link);
	struct listener *ln = list_first(&list_first(&px->binds, struct bind_conf, link)->listeners,
		struct listener, link);

	(void)st;
	assert_string_equal(rig_run(BIND_USER, "show health"),
		HEALTH("healthy: 1 of 1 frontends accept connections", "serving", "1 of 1"));
	assert_string_equal(rig_command("show health json"),
		"{\"healthy\":true,\"why\":\"1 of 1 frontends accept connections\","
		"\"state\":\"serving\",\"frontends\":{\"accepting\":1,\"all\":1},"
		"\"listeners\":{\"accepting\":1,\"all\":1},"
		"\"workers\":{\"answering\":1,\"all\":1},\"sessions\":0}\n\n");
	assert_string_equal(rig_command("show health csv"),
		"'show health' expects 'json' or nothing.\n\n");
	/* `disable frontend` does not concern sockets of the rig's kind. */
	ln->state = LISTENER_SUSPENDED;
	assert_string_equal(rig_command("show health"),
		HEALTH("unhealthy: no frontend accepts connections", "serving", "0 of 1"));
	ln->state = LISTENER_FULL;
	rig_check_start(rig_command("show health"), "healthy: ");
	ln->state = LISTENER_READY;
}

static void
health_ends_with_the_signal_that_stops(void **st)
{
	(void)st;
	cfg.global.grace_ms = 3600000;
	process_on_signal(&proc, SIGUSR1, 0);
	assert_string_equal(rig_command("show health"),
		HEALTH("unhealthy: it stops, and still accepts", "grace",
			"1 of 1"));
	process_on_signal(&proc, SIGUSR1, 0);
	assert_string_equal(rig_command("show health"),
		HEALTH("unhealthy: it stops, 0 sessions are left", "draining", "0 of 1"));
	process_on_signal(&proc, SIGTERM, 0);
	rig_check_start(rig_command("show health json"), "{\"healthy\":false,");
	assert_non_null(strstr(rig_command("show health"), "state: closing\n"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE_SETUP(the_environment_is_that_of_the_configuration),
		RIG_CASE_SETUP(sockets_are_listed_with_their_level),
		RIG_CASE_SETUP(libraries_have_addresses),
		RIG_CASE_SETUP(messages_of_the_start_are_kept),
		RIG_CASE_SETUP(each_thread_is_shown),
		RIG_CASE_SETUP(tasks_are_counted),
		RIG_CASE_SETUP(health_is_that_of_a_process_that_serves),
		RIG_CASE_SETUP(health_ends_with_the_signal_that_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
