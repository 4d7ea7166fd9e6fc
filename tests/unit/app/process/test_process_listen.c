#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static unsigned int seen;

static void
count(struct listener *ln, void *x)
{
	assert_ptr_equal(x, &proc);
	assert_non_null(ln->bind);
	seen++;
}

static void
each(void **state)
{
	(void)state;
	assert_int_equal(bench_open("stats socket unix@adm",
				 "listen off\n bind :65000-65009\n disabled\n"
				 "frontend two\n bind abns@tacit-a,abns@tacit-b"),
		0);
	seen = 0;
	process_each_listener(&proc, count, &proc);
	/* front, two of them, and the stats socket; disabled proxies do not listen */
	assert_int_equal(seen, 4);
	assert_int_equal(process_listeners(&proc), 4);
	bench_close();
}

static void
inherits(void **state)
{
	struct listener *ln;

	(void)state;
	assert_int_equal(
		bench_open("tune.maxaccept 7", " option clitcpka\n option tcp-smart-accept"), 0);
	assert_int_equal(process_bind(&proc), 0);
	assert_int_equal(proc.state, PROCESS_BOUND);
	ln = list_first(&list_first(&proxies_find(&cfg.proxies, "l", PROXY_FE)->binds,
				struct bind_conf, link)
				 ->listeners,
		struct listener, link);
	assert_true(ln->fd >= 0);
	assert_true(ln->nodelay && ln->keepalive && ln->quickack_off);
	assert_int_equal(ln->max_accept, 7);
	assert_ptr_equal(ln->worker, &w->engine);
	bench_close();
}

/* Automatic in mode http. */
static void
smart_accept(void **state)
{
	static const struct {
		const char *listen;
		int off;
	} rows[] = {
		{ "", 0 },
		{ " option tcp-smart-accept", 1 },
		{ " mode http", 1 },
		{ " mode http\n option tcp-smart-accept", 1 },
		{ " mode http\n no option tcp-smart-accept", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct bind_conf *b;

		assert_int_equal(bench_open("", rows[i].listen), 0);
		assert_int_equal(process_bind(&proc), 0);
		b = list_first(&proxies_find(&cfg.proxies, "l", PROXY_FE)->binds,
			struct bind_conf, link);
		assert_int_equal(list_first(&b->listeners, struct listener, link)->quickack_off,
			rows[i].off);
		bench_close();
	}
}

/* The reported messages; the stream moves the buffer until it is closed. */
static char *text;
static size_t text_len;

static void
bind_fails(const char *global, const char *listen)
{
	assert_int_equal(bench_open(global, listen), 0);
	fclose(report.to);
	report.to = open_memstream(&text, &text_len);
	assert_int_equal(process_bind(&proc), -ERR_SYS);
	fflush(report.to);
}

/* Every failure is reported in one run, with its place in the file. Stats sockets are not replaced
 * then: another instance may still use theirs. */
static void
failures(void **state)
{
	(void)state;
	bind_fails("stats socket /nonexistent/c",
		" bind /nonexistent/a\nlisten m\n bind /nonexistent/b");
	assert_non_null(strstr(text, "for proxy l: "));
	assert_non_null(strstr(text, "/nonexistent/a"));
	assert_non_null(strstr(text, "for proxy m: "));
	assert_non_null(strstr(text, "/nonexistent/b"));
	assert_null(strstr(text, "stats socket"));
	bench_close();
	free(text);
	bind_fails("stats socket /nonexistent/c\n stats socket /nonexistent/d", "");
	assert_non_null(strstr(text, "for stats socket: "));
	assert_non_null(strstr(text, "/nonexistent/c"));
	assert_non_null(strstr(text, "/nonexistent/d"));
	bench_close();
	free(text);
}

/* The same address on three workers, with one socket each or a shared one: reported once. */
static void
one_failure_of_all_workers(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		bind_fails("nbthread 3", i ? " bind 192.0.2.1:81 shards 1\n bind 192.0.2.1:82"
					   : " bind 192.0.2.1:81\n bind 192.0.2.1:82");
		for (int port = 81; port <= 82; port++) {
			char at[32];
			const char *first;

			snprintf(at, sizeof(at), "192.0.2.1:%d", port);
			first = strstr(text, at);
			assert_non_null(first);
			assert_null(strstr(first + 1, at));
		}
		bench_close();
		free(text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each), cmocka_unit_test(inherits),
		cmocka_unit_test(smart_accept),
					    cmocka_unit_test(failures),
					    cmocka_unit_test(one_failure_of_all_workers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
