/* The schemes in a challenge that authenticate a connection. */

#include "base/compiler.h"
#include "http/auth.h"
#include "unit/test.h"

static const struct {
	unsigned int status;
	const char *name[2], *value[2];
	int binds;
} row[] = {
	{ 401, { "WWW-Authenticate" }, { "NTLM" }, 1 },
	{ 401, { "WWW-Authenticate" }, { "ntlm TlRMTVNTUAACAAAA" }, 1 },
	{ 401, { "www-authenticate" }, { "nEgotiate" }, 1 },
	{ 401, { "WWW-Authenticate" }, { "Negotiate\toRswGQ==" }, 1 },
	{ 407, { "Proxy-Authenticate" }, { "Negotiate" }, 1 },
	{ 401, { "WWW-Authenticate", "WWW-Authenticate" }, { "Basic realm=\"a\"", "NTLM" }, 1 },
	{ 401, { "WWW-Authenticate" }, { "Digest realm=\"a, b\", nonce=c, Negotiate" }, 1 },
	{ 401, { "WWW-Authenticate" }, { "Basic realm=\"a, NTLM\"" }, 0 },
	{ 401, { "WWW-Authenticate" }, { "Basic NTLM" }, 0 },
	{ 401, { "WWW-Authenticate" }, { "Basic a=b, ntlm=c" }, 0 },
	{ 401, { "WWW-Authenticate" }, { "NTLMish" }, 0 },
	{ 401, { "WWW-Authenticate" }, { "" }, 0 },
	{ 401, { "Server" }, { "NTLM" }, 0 },
	/* Each status code has its own header field. */
	{ 401, { "Proxy-Authenticate" }, { "NTLM" }, 0 },
	{ 407, { "WWW-Authenticate" }, { "NTLM" }, 0 },
	{ 200, { "WWW-Authenticate" }, { "Negotiate oRswGQ==" }, 0 },
};

static void
schemes_of_connections_are_found(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct http_field place[2];
		struct http_head h;

		http_head_init(&h, HTTP_RESPONSE, place, ARRAY_LEN(place));
		h.status = row[i].status;
		for (size_t f = 0; f < 2 && row[i].name[f]; f++)
			assert_int_equal(http_add(&h, str_of(row[i].name[f]),
						 str_of(row[i].value[f])),
				0);
		if (http_auth_binds_connection(&h) != row[i].binds)
			fail_msg("%u %s", row[i].status, row[i].value[0]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schemes_of_connections_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
