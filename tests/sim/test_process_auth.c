/*
 * Random worlds of a whole process whose requests wait for an authority (auth-request): authorities
 * that permit, deny, are late, give half of an answer, or something else; that are far, full, leave
 * and die; clients of HTTP/1 and HTTP/2 that leave at any time; system calls and allocations that
 * fail. The server never gets a request that no complete answer with 2xx has permitted; in kind
 * worlds it gets all others. SEED=n plays one world (SHOW=1 with its trace), SEEDS=n so many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/dice.h"
#include "sim/faults.h"
#include "sim/process_world.h"
#include "unit/test.h"

#define SEEDS 500
#define REPORTS_MAX 5
#define AUTHORITIES 4
#define APP 2000           /* its port; authorities have those behind it */
#define CLIENTS_MAX 12
#define TIMEOUT_MS 1000    /* timeout server of authorities */
#define LAST_MS 20000

/* Authorities that permit come first. */
static const struct behaviour {
	const char *answer; /* as it stands in a script; "": none */
	int permits, hangs_up;
} behaviours[] = {
	{ "HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n", 1, 0 },
	{ "HTTP/1.1 204 No\\r\\n\\r\\n", 1, 0 },
	{ "HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\n\\r\\nfine", 1, 1 },
	{ "HTTP/1.1 201 x\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"
		"2\\r\\nok\\r\\n0\\r\\n\\r\\n", 1, 0 },
	{ "HTTP/1.1 401 No\\r\\nContent-Length: 0\\r\\n\\r\\n", 0, 0 },
	{ "HTTP/1.1 403 No\\r\\nContent-Length: 4\\r\\n\\r\\nwhat", 0, 1 },
	{ "HTTP/1.1 302 No\\r\\nLocation: /in\\r\\nContent-Length: 0\\r\\n\\r\\n", 0, 0 },
	{ "HTTP/1.1 500 Oh\\r\\nContent-Length: 0\\r\\n\\r\\n", 0, 0 },
	{ "HTTP/1.1 304 x\\r\\n\\r\\n", 0, 0 },
	{ "HTTP/1.1 200 OK\\r\\nContent-Length: 9\\r\\n\\r\\nhalf", 0, 1 },
	{ "HTTP/1.1 200 OK\\r\\nContent-Length: 9\\r\\n\\r\\nhalf", 0, 0 },
	{ "HTTP/1.1 200 OK\\r\\nContent-Le", 0, 1 },
	{ "HTTP/1.1 200", 0, 0 },
	{ "HTTP/1.1 200 x\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n9\\r\\nhalf", 0, 1 },
	{ "HTTP/1.1 200 x\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n4\\r\\nhalf\\r\\n", 0, 1 },
	{ "HTTP/1.1 200 x\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\nzz\\r\\n", 0, 0 },
	{ "HTTP/1.1 200 x\\r\\nContent-Length: -1\\r\\n\\r\\n", 0, 0 },
	{ "HTTP/1.1 200 x\\r\\nContent-Length: 1\\r\\nContent-Length: 2\\r\\n\\r\\nab", 0, 0 },
	{ "HTTP/1.1 100 x\\r\\n\\r\\nHTTP/1.1 103 x\\r\\n\\r\\n", 0, 1 },
	{ "HTTP/1.1 999999 x\\r\\n\\r\\n", 0, 0 },
	{ "SSH-2.0-none\\r\\n\\r\\n", 0, 0 },
	{ "", 0, 0 },
};

struct tally {
	unsigned int requests, passed, permitted, faults;
};

static struct process_world w;
static char config[8192], script[16384];
static int permits[AUTHORITIES];
static unsigned int asked[AUTHORITIES][2 * CLIENTS_MAX], n_asked[AUTHORITIES];

static void put(char *to, size_t size, const char *fmt, ...) fmt_printf(3, 4);

static void
put(char *to, size_t size, const char *fmt, ...)
{
	size_t at = strlen(to);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(to + at, size - at, fmt, ap);
	va_end(ap);
}

static void
write_config(struct dice *d, int kind)
{
	config[0] = '\0';
	put(config, sizeof(config),
		"global\n nbthread %u\ndefaults\n mode http\n timeout connect 2s\n"
		" timeout client 60s\n timeout server 60s\nfrontend f\n bind 127.0.0.1:1000\n",
		1 + dice(d, 2));
	for (unsigned int i = 0; i < AUTHORITIES; i++)
		put(config, sizeof(config),
			" http-request auth-request a%u /check %s%sif { path_beg /%u/ }\n", i,
			dice_is(d, 2) ? "on-error 503 " : "", dice_is(d, 3) ? "copy X-User " : "",
			i);
	put(config, sizeof(config),
		" default_backend app\nbackend app\n server s 127.0.0.1:%u\n", APP);
	for (unsigned int i = 0; i < AUTHORITIES; i++) {
		put(config, sizeof(config),
			"backend a%u\n timeout server %ums\n timeout queue 500ms\n"
			" retries %u\n server a 127.0.0.1:%u", i, TIMEOUT_MS, dice(d, 3),
			APP + 1 + i);
		put(config, sizeof(config), "%s\n", !kind && dice_is(d, 3) ? " maxconn 1" : "");
	}
}

/* An authority is late, or early enough on any path. */
static void
plan_authority(struct dice *d, int kind, unsigned int i)
{
	static const unsigned int after_ms[] = { 0, 0, 1, 500, 1100, 3000 };
	const struct behaviour *b = &behaviours[dice_is(d, 2) ? dice(d, 4)
							      : dice(d, ARRAY_LEN(behaviours))];
	unsigned int after = after_ms[dice(d, ARRAY_LEN(after_ms))], port = APP + 1 + i;

	permits[i] = b->permits && after < TIMEOUT_MS;
	if (dice_is(d, 3))
		put(script, sizeof(script), "path %u far %ums\n", port, 1 + dice(d, 40));
	put(script, sizeof(script), "server %u", port);
	if (b->answer[0])
		put(script, sizeof(script), " answers \"%s\" after %ums", b->answer, after);
	put(script, sizeof(script), "%s quiet\n", b->hangs_up ? " hangs-up" : "");
	if (!kind && dice_is(d, 5))
		put(script, sizeof(script), "%ums server %u %s\n", 1000 + dice(d, LAST_MS - 2000),
			port, dice_is(d, 2) ? "leaves" : "dies");
}

static void
plan_request(struct dice *d, unsigned int client, unsigned int number, unsigned int at)
{
	unsigned int i = dice(d, AUTHORITIES);

	put(script, sizeof(script),
		"%ums c%u sends \"GET /%u/%u HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n\"\n", at,
		client, i, number);
	asked[i][n_asked[i]++] = number;
}

static void
plan_client(struct dice *d, int kind, unsigned int client)
{
	static const char *const leave[] = { "shuts", "closes", "resets" };
	unsigned int at = 1000 + dice(d, LAST_MS - 12000);
	int is_h2 = dice_is(d, 4);

	put(script, sizeof(script), "%ums c%u connects 1000%s\n", at, client, is_h2 ? " h2" : "");
	plan_request(d, client, 2 * client, at);
	if (!is_h2 && dice_is(d, 2))
		plan_request(d, client, 2 * client + 1, at + 7000);
	if (!kind && dice_is(d, 3))
		put(script, sizeof(script), "%ums c%u %s\n", at + dice(d, 2500), client,
			leave[dice(d, ARRAY_LEN(leave))]);
}

static unsigned int
write_script(struct dice *d, int kind)
{
	unsigned int n = 1 + dice(d, CLIENTS_MAX);

	script[0] = '\0';
	memset(n_asked, 0, sizeof(n_asked));
	put(script, sizeof(script), "server %u answers \"HTTP/1.1 200 OK\\r\\nContent-Length: 3"
		"\\r\\n\\r\\napp\"\n", APP);
	for (unsigned int i = 0; i < AUTHORITIES; i++)
		plan_authority(d, kind, i);
	for (unsigned int i = 0; i < n; i++)
		plan_client(d, kind, i);
	put(script, sizeof(script), "until %ums\n", LAST_MS + 5000);
	return n;
}

/* True if the server has got this request. */
static int
has_passed(unsigned int authority, unsigned int number)
{
	char text[64];

	snprintf(text, sizeof(text), " gets \"GET /%u/%u HTTP/1.1", authority, number);
	for (const char *p = w.trace.p; p && (p = strstr(p, text)); p++) {
		const char *line = p;

		while (line > w.trace.p && line[-1] != '\n')
			line--;
		if (strstr(line, " 2000#") && strstr(line, " 2000#") < p)
			return 1;
	}
	return 0;
}

static void
judge(int must_pass, struct tally *t)
{
	for (unsigned int i = 0; i < AUTHORITIES; i++)
		for (unsigned int j = 0; j < n_asked[i]; j++) {
			int passed = has_passed(i, asked[i][j]);

			t->requests++;
			t->passed += (unsigned int)passed;
			t->permitted += (unsigned int)permits[i];
			if (passed && !permits[i])
				process_world_error(&w, "/%u/%u has passed", i, asked[i][j]);
			if (!passed && permits[i] && must_pass)
				process_world_error(&w, "/%u/%u has not passed", i, asked[i][j]);
		}
}

/* A call or an allocation fails, and perhaps the next ones of its kind. */
static void
break_something(struct dice *d)
{
	unsigned int n = 1 + dice(d, 250);

	if (dice_is(d, 2))
		fake_torture(w.k, fake_calls(w.k) + n, dice(d, 2));
	else
		faults_set(1 + n % 60);
	fake_fail_again(w.k, dice(d, 3));
	faults_set_again(dice(d, 3));
}

static int
play(uint64_t seed, struct tally *t)
{
	struct dice d = dice_seed(seed);
	int kind = dice_is(&d, 3), breaks = !kind && dice_is(&d, 2);
	struct process_script *s;

	write_config(&d, kind);
	(void)write_script(&d, kind);
	process_world_open(&w);
	s = process_script_read(&w, script);
	if (!s)
		fail_msg("%s\n%s", w.why, script);
	faults_set(0);
	w.mem_faults = 1;
	if (process_world_start(&w, config) == 0) {
		if (breaks)
			break_something(&d);
		process_world_run(&w);
	}
	t->faults += fake_failed_call(w.k) != SYS_CALLS || faults_hit();
	fake_fail(w.k, FAKE_ANY_CALL, 0, 0);
	judge(kind, t);
	if (getenv("SHOW"))
		print_message("%s--- script\n%s--- trace\n%s", config, script,
			w.trace.p ? w.trace.p : "");
	(void)!process_world_close(&w);
	process_script_free(&s);
	return w.why[0] ? -1 : 0;
}

static uint64_t
number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void
test_only_what_is_permitted_passes(void **state)
{
	uint64_t one = number("SEED", 0), n = one ? one : number("SEEDS", SEEDS);
	struct tally t = { 0 };
	unsigned int bad = 0;

	(void)state;
	for (uint64_t seed = one ? one : 1; seed <= n && bad < REPORTS_MAX; seed++)
		if (play(seed, &t) < 0) {
			bad++;
			print_message("SEED=%llu: %s\n", (unsigned long long)seed, w.why);
		}
	print_message("%u requests, %u were permitted, %u have passed, %u worlds with a failure\n",
		t.requests, t.permitted, t.passed, t.faults);
	assert_int_equal(bad, 0);
	assert_true(one || n < SEEDS || (t.passed > n && t.requests - t.permitted > n &&
		t.faults > n / 8));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_is_permitted_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
