#include "unit/rule/expr_rig.h"

#include "unit/net/net_rig.h"

static struct expr_rig rig;

#define IS(text, result) assert_string_equal(rig_eval(&rig, text), result)

static int
setup(void **state)
{
	(void)state;
	rig_init(&rig);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rig_fini(&rig);
	return 0;
}

static void
hellos(void **state)
{
	const struct hello_parts parts = { .extensions = STR(HELLO_SNI_A HELLO_ALPN HELLO_GROUPS) };
	const struct hello_parts bare = { .no_extensions = 1, .version = "\3\1" };
	const struct hello_parts servers = { .type = 2 };

	(void)state;
	rig.cx.req_bytes = hello_make(&parts);
	IS("req.ssl_hello_type", "1");
	IS("req_ssl_hello_type", "1");
	IS("req.ssl_ver", "196611");
	IS("req.ssl_sni", "a");
	IS("req_ssl_sni,upper", "A");
	IS("req.ssl_alpn", "h2");
	IS("req.ssl_ec_ext", "1");
	IS("req.ssl_st_ext", "0");
	IS("res.ssl_hello_type", "(none)");
	rig.cx.req_bytes.len--;
	assert_string_equal(rig_state(&rig, "req.ssl_sni"), "0+");
	assert_string_equal(rig_state(&rig, "req.ssl_ver"), "0+");
	rig.cx.req_ended = 1;
	assert_string_equal(rig_state(&rig, "req.ssl_sni"), "0");
	rig.cx.req_ended = 0;
	rig.cx.req_bytes = hello_make(&bare);
	IS("req_ssl_ver", "196609");
	IS("req.ssl_sni", "(none)");
	IS("req.ssl_alpn", "(none)");
	IS("req.ssl_ec_ext", "(none)");
	IS("req.ssl_st_ext", "0");
	assert_string_equal(rig_state(&rig, "req.ssl_sni"), "0");
	rig.cx.req_bytes = STR("GET");
	assert_string_equal(rig_state(&rig, "req.ssl_hello_type"), "0");
	rig.cx.res_bytes = hello_make(&servers);
	IS("res.ssl_hello_type", "2");
	IS("rep_ssl_hello_type", "2");
}

/* The hello of a client that cuts it into two records, behind an alert. */
static void
hello_in_pieces(void **state)
{
	static char to[1024] = "\25\3\1\0\2\1\0\26\3\1\0\62";
	const struct hello_parts parts = { .extensions = STR(HELLO_SNI_A HELLO_ALPN HELLO_GROUPS) };
	struct str whole = hello_make(&parts);
	size_t left = whole.len - 5 - 50;

	(void)state;
	memcpy(to + 12, whole.p + 5, 50);
	memcpy(to + 62, "\26\3\1", 3);
	to[65] = (char)(left >> 8);
	to[66] = (char)left;
	memcpy(to + 67, whole.p + 55, left);
	rig.cx.req_bytes = (struct str){ to, 67 + left };
	IS("req.ssl_hello_type", "1");
	IS("req.ssl_ver", "196611");
	IS("req.ssl_sni", "a");
	IS("req.ssl_alpn", "h2");
	IS("req.ssl_ec_ext", "1");
	IS("req.ssl_st_ext", "0");
	rig.cx.req_bytes.len--;
	assert_string_equal(rig_state(&rig, "req.ssl_sni"), "0+");
	rig.cx.req_bytes.len = 7;
	assert_string_equal(rig_state(&rig, "req.ssl_sni"), "0+");
	rig.cx.req_bytes = STR("\x80\x0b\1\3\1\0\3\0\0\0\20ab");
	IS("req.ssl_ver", "196609");
	IS("req.ssl_sni", "(none)");
	rig.cx.req_bytes.len--;
	assert_string_equal(rig_state(&rig, "req.ssl_ver"), "0+");
}

#define RDP "\3\0\0\52\45\340\0\0\0\0\0"

/* The results of HAProxy 2.6, which requires neither version 3 nor a connection request before the
 * cookie. */
static void
rdp_cookies(void **state)
{
	static const struct {
		struct str bytes;
		const char *any, *named, *count; /* the first cookie, the one named msts, count */
	} t[] = {
		{ STR(RDP "Cookie: mstshash=User\r\n\1\0\10\0"), "User", "(none)", "1" },
		{ STR(RDP "Cookie: msts=3640205228.15629.0000\r\n"), "3640205228.15629.0000",
			"3640205228.15629.0000", "1" },
		{ STR(RDP "cookie:MSTS=U\r\nCookie: x=1\r\n"), "U", "U", "1" },
		{ STR(RDP "Cookie: mstshash=Us er\r\n"), "Us er", "(none)", "1" },
		{ STR(RDP "Cookie: msts=\r\n"), "", "", "1" },
		{ STR(RDP "Cookie: mstshash\r\nx=y\r\n"), "(none)", "(none)", "(none)" },
		{ STR(RDP "Cookie: msts=a\rb\r\n"), "(none)", "(none)", "(none)" },
		{ STR("\2\0\0\52\45\340\0\0\0\0\0Cookie: a=b\r\n"), "(none)", "(none)", "(none)" },
		{ STR("\3\0\0\52\45\320\0\0\0\0\0Cookie: a=b\r\n"), "(none)", "(none)", "(none)" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		rig.cx.req_bytes = t[i].bytes;
		IS("req.rdp_cookie", t[i].any);
		IS("rdp_cookie(msts)", t[i].named);
		IS("req.rdp_cookie_cnt", t[i].count);
	}
	rig.cx.req_bytes = t[1].bytes;
	IS("rdp_cookie_cnt(MSTS)", "1");
	IS("rdp_cookie_cnt(mst)", "0");
	/* The complete cookie is waited for, but only where more data may arrive. */
	while (rig.cx.req_bytes.len-- > 0)
		assert_string_equal(rig_state(&rig, "req.rdp_cookie"), "0+");
	rig.cx.req_bytes = STR("\3\0\0\52\45\340\0\0\0\0\0X");
	assert_string_equal(rig_state(&rig, "req.rdp_cookie"), "0");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(hellos),
		CASE(hello_in_pieces),
		CASE(rdp_cookies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
