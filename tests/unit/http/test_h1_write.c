#include <string.h>

#include "base/compiler.h"
#include "http/h1_write.h"
#include "unit/http/http_rig.h"
#include "unit/test.h"

static void
test_write(void **state)
{
	struct http_head h = request_head();

	(void)state;
	assert_written(&h, "GET / HTTP/1.1\r\n\r\n");
	h.version = HTTP_1_0;
	h.method_text = STR("BREW");
	h.target = STR("coffee://pot");
	add(&h, "A", "");
	add(&h, "host", "x");
	add(&h, "B", "y z");
	http_drop(&h, 1);
	assert_written(&h, "BREW coffee://pot HTTP/1.0\r\nA: \r\nB: y z\r\n\r\n");
	http_head_init(&h, HTTP_RESPONSE, places, PLACES);
	h.status = 205;
	assert_written(&h, "HTTP/1.1 205 \r\n\r\n");
	h.reason = STR("Reset Content");
	add(&h, "Via", "1.1 a");
	assert_written(&h, "HTTP/1.1 205 Reset Content\r\nVia: 1.1 a\r\n\r\n");
	h.version = HTTP_1_0;
	h.status = 999;
	assert_written(&h, "HTTP/1.0 999 Reset Content\r\nVia: 1.1 a\r\n\r\n");
	http_head_init(&h, HTTP_TRAILERS, places, PLACES);
	assert_written(&h, "\r\n");
	add(&h, "A", "b");
	assert_written(&h, "A: b\r\n\r\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
