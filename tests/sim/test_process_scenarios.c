/*
 * A process in virtual time: each text of tests/sim/process (sim/process_script.h) is played, and
 * its trace must be the one in the file. UPDATE_GOLDEN=1 writes those anew, to be looked at;
 * SCENARIO=NAME plays one.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "sim/process_ends.h"
#include "sim/process_script.h"
#include "unit/test.h"

#define FOLDER "tests/sim/process"
#define TEXT_MAX 262144
#define SCENARIOS 256
#define SCRIPT "--- script\n"
#define TRACE "--- trace\n"

struct scenario {
	char path[300];
	char text[TEXT_MAX]; /* of the file */
	char copy[TEXT_MAX];
	char *config, *script, *trace; /* its parts, in the copy */
};

static char names[SCENARIOS][64];

/* The clock that OpenSSL reads is that of the world. */
static struct fake *clock_of;

/* The C library's functions, for all libraries of this program. */
int
gettimeofday(struct timeval *tv, void *zone)
{
	struct timespec ts;

	(void)zone;
	if (clock_of)
		(void)sys_fake.clock_gettime(clock_of, CLOCK_REALTIME, &ts);
	else
		(void)clock_gettime(CLOCK_REALTIME, &ts);
	*tv = (struct timeval){ ts.tv_sec, ts.tv_nsec / 1000 };
	return 0;
}

time_t
time(time_t *out)
{
	struct timeval tv;

	(void)gettimeofday(&tv, NULL);
	if (out)
		*out = tv.tv_sec;
	return tv.tv_sec;
}

static void
read_scenario(struct scenario *sc, const char *name)
{
	FILE *f;
	size_t n;

	snprintf(sc->path, sizeof(sc->path), "%s/%s.txt", FOLDER, name);
	f = fopen(sc->path, "r");
	if (!f)
		fail_msg("%s: %s", sc->path, strerror(errno));
	n = fread(sc->text, 1, TEXT_MAX - 1, f);
	fclose(f);
	sc->text[n] = '\0';
	memcpy(sc->copy, sc->text, n + 1);
	sc->config = sc->copy;
	sc->script = strstr(sc->copy, SCRIPT);
	if (!sc->script)
		fail_msg("%s: there is no line '%.10s'", sc->path, SCRIPT);
	*sc->script = '\0';
	sc->script += strlen(SCRIPT);
	sc->trace = strstr(sc->script, TRACE);
	if (sc->trace) {
		*sc->trace = '\0';
		sc->trace += strlen(TRACE);
	}
}

static void
write_trace(const struct scenario *sc, const char *trace)
{
	const char *end = strstr(sc->text, TRACE);
	size_t n = end ? (size_t)(end - sc->text) : strlen(sc->text);
	FILE *f = fopen(sc->path, "w");

	assert_non_null(f);
	fprintf(f, "%.*s%s%s", (int)n, sc->text, TRACE, trace);
	fclose(f);
}

static void
compare_trace(struct process_world *w, const struct scenario *sc, const char *got)
{
	const char *want = sc->trace ? sc->trace : "";
	unsigned int line = 1;
	size_t begin = 0, at = 0;

	if (strcmp(got, want) == 0)
		return;
	for (; want[at] && want[at] == got[at]; at++)
		if (want[at] == '\n') {
			line++;
			begin = at + 1;
		}
	process_world_error(w, "line %u of the trace\n was: %.*s\n  is: %.*s", line,
		(int)strcspn(want + begin, "\n"), want + begin, (int)strcspn(got + begin, "\n"),
		got + begin);
}

static void
test_scenario(void **state)
{
	static struct process_world w;
	static struct scenario sc;
	struct process_script *script;
	char why[sizeof(w.why)];

	read_scenario(&sc, *state);
	process_world_open(&w);
	clock_of = w.k;
	script = process_script_read(&w, sc.script);
	if (script && process_world_start(&w, sc.config) == 0) {
		process_world_run(&w);
		if (getenv("UPDATE_GOLDEN"))
			write_trace(&sc, w.trace.p ? w.trace.p : "");
		else
			compare_trace(&w, &sc, w.trace.p ? w.trace.p : "");
		if (w.why[0])
			print_message("%s\n", w.trace.p);
	}
	memcpy(why, w.why, sizeof(why));
	(void)!process_world_close(&w);
	clock_of = NULL;
	process_script_free(&script);
	if (w.why[0])
		fail_msg("%s: %s", sc.path, w.why);
}

static int
name_order(const void *a, const void *b)
{
	return strcmp(a, b);
}

static unsigned int
find_scenarios(void)
{
	const char *only = getenv("SCENARIO");
	DIR *d = opendir(FOLDER);
	struct dirent *e;
	unsigned int n = 0;

	while (d && (e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (len < 5 || len >= sizeof(names[0]) || strcmp(e->d_name + len - 4, ".txt") != 0)
			continue;
		memcpy(names[n], e->d_name, len - 4);
		if ((!only || strcmp(names[n], only) == 0) && n < SCENARIOS - 1)
			n++;
		else
			memset(names[n], 0, sizeof(names[n]));
	}
	if (d)
		closedir(d);
	qsort(names, n, sizeof(names[0]), name_order);
	return n;
}

static void
test_there_are_scenarios(void **state)
{
	(void)state;
	assert_true(names[0][0]);
}

int
main(void)
{
	static struct CMUnitTest tests[SCENARIOS + 1] = {
		cmocka_unit_test(test_there_are_scenarios),
	};
	unsigned int n = find_scenarios();

	for (unsigned int i = 0; i < n; i++) {
		tests[i + 1] = (struct CMUnitTest)cmocka_unit_test(test_scenario);
		tests[i + 1].name = names[i];
		tests[i + 1].initial_state = names[i];
	}
	return _cmocka_run_group_tests("process scenarios", tests, n + 1, NULL, NULL);
}
