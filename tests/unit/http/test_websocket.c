/* Keys of WebSocket: the example of RFC 6455, 1.3, and bytes at the ends of the digits. */

#include <string.h>

#include "http/websocket.h"
#include "unit/test.h"

static void
the_rfc_is_right(void **st)
{
	char key[WEBSOCKET_KEY_LEN], accept[WEBSOCKET_ACCEPT_LEN];

	(void)st;
	websocket_key((const uint8_t *)"the sample nonce", key);
	assert_memory_equal(key, "dGhlIHNhbXBsZSBub25jZQ==", sizeof(key));
	websocket_accept(key, accept);
	assert_memory_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", sizeof(accept));
}

static void
digits_are_right(void **st)
{
	uint8_t nonce[WEBSOCKET_NONCE_LEN];
	char key[WEBSOCKET_KEY_LEN];

	(void)st;
	memset(nonce, 0xff, sizeof(nonce));
	websocket_key(nonce, key);
	assert_memory_equal(key, "/////////////////////w==", sizeof(key));
	memset(nonce, 0, sizeof(nonce));
	websocket_key(nonce, key);
	assert_memory_equal(key, "AAAAAAAAAAAAAAAAAAAAAA==", sizeof(key));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rfc_is_right),
		cmocka_unit_test(digits_are_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
