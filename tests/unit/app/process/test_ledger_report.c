#include <stdio.h>
#include <string.h>

#include <stdlib.h>

#include "app/process/totals.h"
#include "unit/test.h"

static struct ledger now, start;

static char *
printed_from(const struct ledger *from, uint64_t conns, uint64_t requests)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	ledger_report(to, &now, from, conns, requests);
	fclose(to);
	return text;
}

static char *
printed(uint64_t conns, uint64_t requests)
{
	return printed_from(&start, conns, requests);
}

static void
per_connection_and_request(void **state)
{
	char *text, *accept_at, *recv_at;

	(void)state;
	start.n[SYS_CALL_bind][SYS_OK] = now.n[SYS_CALL_bind][SYS_OK] = 3;
	start.n[SYS_CALL_recvfrom][SYS_OK] = 5;
	now.n[SYS_CALL_recvfrom][SYS_OK] = 45;
	now.n[SYS_CALL_recvfrom][SYS_AGAIN] = 2;
	now.n[SYS_CALL_recvfrom][SYS_ERROR] = 1;
	now.n[SYS_CALL_accept4][SYS_OK] = 20;
	now.n[SYS_CALL_clock_gettime][SYS_OK] = 1000;
	text = printed(20, 40);
	assert_non_null(strstr(text, "\nsystem calls for 20 connections and 40 requests:\n"));
	accept_at =
		strstr(text, "        20          0          0       1.00       0.50  accept4\n");
	recv_at =
		strstr(text, "        43          2          1       2.15       1.07  recvfrom\n");
	assert_non_null(accept_at);
	assert_non_null(recv_at);
	assert_true(recv_at < accept_at);
	assert_null(strstr(text, "bind"));
	assert_non_null(
		strstr(text, "        63          2          1       3.15       1.57  total\n"));
	free(text);
	text = printed_from(NULL, 20, 30);
	assert_non_null(
		strstr(text, "         3          0          0       0.15       0.10  bind\n"));
	free(text);
	text = printed(0, 0);
	assert_non_null(
		strstr(text, "        63          2          1          -          -  total\n"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(per_connection_and_request) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
