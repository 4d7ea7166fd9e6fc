/* show fd and show pools: the numbers of the loop and the pools. */
#include "unit/app/app_rig.h"

static void
fds_are_those_of_the_loop(void **st)
{
	char line[64];
	const char *a;
	int c = bench_connect("front"), fd, seen = 0;

	(void)st;
	bench_turns();
	a = rig_command("show fd");
	rig_check_shape(a);
	assert_int_equal(rig_lines(a), loop_fds(w->loop));
	for (unsigned int i = 0; i < rig_lines(a); i++) {
		assert_int_equal(sscanf(rig_line(a, (int)i), "%d : r=", &fd), 1);
		seen += fd == rig_listener->fd;
	}
	assert_int_equal(seen, 1);
	snprintf(line, sizeof(line), "show fd %d", rig_listener->fd);
	a = rig_command(line);
	assert_int_equal(rig_lines(a), 1);
	assert_non_null(strstr(a, "r=BLOCKED w=IDLE polled=R "));
	/* The descriptor is not in the loop: the answer is empty. */
	assert_string_equal(rig_command("show fd 255"), "\n");
	close(c);
	close(accept(origin, NULL, NULL));
	bench_turns();
}

static void
fds_are_checked(void **st)
{
	static const char *const bad[] = { "-1", "256", "x", "1x", "99999999999999999999" };

	(void)st;
	/* The limit may be lower than the number of descriptors that were open at start. */
	proc.limits.fds = 4;
	assert_int_equal(rig_lines(rig_command("show fd")), loop_fds(w->loop));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char line[64];

		snprintf(line, sizeof(line), "show fd %s", bad[i]);
		assert_string_equal(rig_command(line),
			"Invalid descriptor: expects a number from 0 to 255.\n\n");
	}
}

/* The number before a text. */
static unsigned long long
number_before(const char *line, const char *text)
{
	const char *at = strstr(line, text), *from = at;

	assert_non_null(at);
	while (from > line && from[-1] >= '0' && from[-1] <= '9')
		from--;
	return strtoull(from, NULL, 10);
}

static void
pools_are_counted(void **st)
{
	unsigned long long all = 0, used = 0, size, n;
	unsigned int pools = 0;
	char want[64], *a;

	(void)st;
	rig_forward_hello();
	assert_int_equal(w->engine.stat.cum_conns, 1);
	a = strdup(rig_command("show pools"));
	rig_check_shape(a);
	rig_check_start(a, "Dumping pools usage (");
	n = rig_lines(a) - 1;
	for (unsigned int i = 1; i < n; i++) {
		const char *line = rig_line(a, (int)i);

		rig_check_start(line, "  - Pool ");
		size = number_before(line, " bytes) : ");
		assert_int_equal(number_before(line, " allocated ("),
				 size ? number_before(line, " bytes), ") / size : 0);
		all += number_before(line, " bytes), ");
		used += size * number_before(line, " used, ");
		pools++;
	}
	assert_true(pools >= 4);
	assert_int_equal(number_before(rig_line(a, (int)n), " pools, "), pools);
	assert_int_equal(number_before(rig_line(a, (int)n), " bytes allocated, "), all);
	assert_int_equal(number_before(rig_line(a, (int)n), " used."), used);
	snprintf(want, sizeof(want), "  - Pool session (%zu bytes) : ", SESSION_SIZE);
	rig_check_start(rig_line(a, 1), want);
	assert_int_equal(number_before(rig_line(a, 1), " used, "), 0);
	assert_int_equal(w->engine.pools.session.gets, 1);
	assert_int_equal(number_before(rig_line(a, 1), " gets, 0 failures"), 1);
	free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(fds_are_those_of_the_loop),
		RIG_CASE(fds_are_checked),
		RIG_CASE(pools_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
