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

/* One request for each connection at most, as in mode tcp: both averages. */
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
	text = printed(40, 20);
	assert_non_null(strstr(text, "\nsystem calls for 40 connections and 20 requests:\n"));
	accept_at =
		strstr(text, "        20          0          0       0.50       1.00  accept4\n");
	recv_at =
		strstr(text, "        43          2          1       1.07       2.15  recvfrom\n");
	assert_non_null(accept_at);
	assert_non_null(recv_at);
	assert_true(recv_at < accept_at);
	assert_null(strstr(text, "bind"));
	assert_non_null(
		strstr(text, "        63          2          1       1.57       3.15  total\n"));
	free(text);
	text = printed_from(NULL, 30, 20);
	assert_non_null(
		strstr(text, "         3          0          0       0.10       0.15  bind\n"));
	free(text);
	text = printed(0, 0);
	assert_non_null(
		strstr(text, "        63          2          1          -          -  total\n"));
	free(text);
}

/* Persistent connections: calls per connection would only say how long those stay. */
static void
per_request_alone(void **state)
{
	char *text = printed(20, 40);

	(void)state;
	assert_null(strstr(text, "per conn."));
	assert_non_null(strstr(text, "     calls    not yet     errors   per req.\n"));
	assert_non_null(strstr(text, "        20          0          0       0.50  accept4\n"));
	assert_non_null(strstr(text, "        63          2          1       1.57  total\n"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(per_connection_and_request),
		cmocka_unit_test(per_request_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
