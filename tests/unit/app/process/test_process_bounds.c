#include <stdio.h>
#include <string.h>

/* The unit itself, instead of the library's. */
#include "app/process/process_listen.c"
#include "unit/app/app_rig.h"
#include "unit/test.h"

/* The reported messages; the stream moves the buffer until it is closed. */
static char *text;
static size_t text_len;

static void
listen_to_reports(void)
{
	fclose(report.to);
	report.to = open_memstream(&text, &text_len);
}

/* The sizes are set on both sides: on accepted sockets and on those to servers. */
static void
socket_buffers(void **state)
{
	struct listener *ln;

	(void)state;
	assert_int_equal(bench_open("tune.rcvbuf.client 5000\n tune.sndbuf.server 6000", ""), 0);
	listen_to_reports();
	assert_int_equal(process_bind(&proc), 0);
	assert_int_equal(process_start(&proc), 0);
	ln = list_first(&list_first(&proxies_find(&cfg.proxies, "l", PROXY_FE)->binds,
				struct bind_conf, link)
				 ->listeners,
		struct listener, link);
	assert_int_equal(ln->sockbuf->rcv, 5000);
	assert_int_equal(w->engine.server_buf->snd, 6000);
	fflush(report.to);
	assert_string_equal(text, "");
	bench_close();
	free(text);
}

/* The kernel would reduce them without an error. */
static void
buffers_beyond_the_kernels_limit(void **state)
{
	(void)state;
	assert_int_equal(bench_open("tune.rcvbuf.client 1g\n tune.sndbuf.server 1g", ""), 0);
	listen_to_reports();
	process_check_sockbufs(&proc);
	fflush(report.to);
	assert_non_null(strstr(text, "tune.rcvbuf.client is 1073741824, but the kernel allows"));
	assert_non_null(strstr(text, "net.core.rmem_max"));
	assert_non_null(strstr(text, "tune.sndbuf.server is 1073741824, but the kernel allows"));
	assert_null(strstr(text, "tune.sndbuf.client"));
	bench_close();
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(socket_buffers),
					    cmocka_unit_test(buffers_beyond_the_kernels_limit) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
