/* Heads as they are sent: which fields are removed and which are added. */
#include "unit/proxy/http_rig.h"

#include "http/h1_parse.h"

#define ANSWERED .to_client = OK2 "\r\nok", .terms = "--", .served = 1
#define ASK(fields) .client = { SAY(GET fields "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } }

static const struct http_dialogue requests[] = {
	{ .name = "plain", .cfg = { HTTP_WORLD }, ASK("X-A: b\r\n"), REPLY_OK,
	  .to_server = GET "X-A: b\r\nConnection: close\r\n\r\n", ANSWERED },
	{ .name = "hop-by-hop fields of a request", .cfg = { HTTP_WORLD },
	  ASK("Keep-Alive: 3\r\nConnection: X-A, keep-alive\r\nX-A: b\r\nTE: gzip\r\n"
		  "Proxy-Connection: x\r\nX-B: c\r\nUpgrade: h2c\r\n"), REPLY_OK,
	  .to_server = GET "X-B: c\r\nConnection: close\r\n\r\n", ANSWERED },
	/* CVE-2025-48865: Connection cannot remove fields that servers rely on */
	{ .name = "fields that Connection cannot name", .cfg = { HTTP_WORLD },
	  ASK("Connection: X-Forwarded-For, Authorization, Host, Cookie, Forwarded\r\n"
		  "X-Forwarded-For: 1.2.3.4\r\nAuthorization: x\r\nCookie: a=b\r\n"), REPLY_OK,
	  .to_server = GET "X-Forwarded-For: 1.2.3.4\r\nAuthorization: x\r\nCookie: a=b\r\n"
		  "Connection: close\r\n\r\n", ANSWERED },
	{ .name = "a request with a body", .cfg = { HTTP_WORLD },
	  .client = { SAY("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"),
		  AWAIT("ok"), { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("abc"), SAY(OK2 "\r\nok"), EOF_CLOSE },
	  .to_server = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
		  "Connection: close\r\n\r\nabc", ANSWERED },
	{ .name = "an upgrade", .cfg = { HTTP_WORLD },
	  ASK("Connection: upgrade, X-A\r\nUpgrade: x\r\n"), REPLY_OK,
	  .to_server = GET "Upgrade: x\r\nConnection: upgrade\r\n\r\n", ANSWERED },
};

#define SEND_NAME { HTTP_WORLD, .rules = "http-send-name-header X-Server" }

static const struct http_dialogue named[] = {
	{ .name = "the name of the server", .cfg = SEND_NAME,
	  ASK("x-server: a\r\nX-A: b\r\nX-SERVER: c\r\n"), REPLY_OK,
	  .to_server = GET "X-A: b\r\nConnection: close\r\nX-Server: s1\r\n\r\n", ANSWERED },
	{ .name = "instead of Host", .cfg = { HTTP_WORLD, .rules = "http-send-name-header Host" },
	  ASK("X-A: b\r\n"), REPLY_OK,
	  .to_server = "GET / HTTP/1.1\r\nX-A: b\r\nConnection: close\r\nHost: s1\r\n\r\n",
	  ANSWERED },
	{ .name = "rules do not override it",
	  .cfg = { HTTP_WORLD, .rules = "http-send-name-header X-Server\n"
		  "http-request set-header X-Server forged" },
	  ASK(""), REPLY_OK,
	  .to_server = GET "Connection: close\r\nX-Server: s1\r\n\r\n", ANSWERED },
	{ .name = "with a body", .cfg = SEND_NAME,
	  .client = { SAY("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"),
		  AWAIT("ok"), { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("abc"), SAY(OK2 "\r\nok"), EOF_CLOSE },
	  .to_server = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
		  "Connection: close\r\nX-Server: s1\r\n\r\nabc", ANSWERED },
};

static void
servers_are_named(void **st)
{
	(void)st;
	http_play_all(named, ARRAY_LEN(named));
}

static void
request_heads_are_written(void **st)
{
	(void)st;
	http_play_all(requests, ARRAY_LEN(requests));
}

#define CONNECT "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"

static const struct http_dialogue responses[] = {
	{ .name = "hop-by-hop fields of a response",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"),
			SAY("HTTP/1.1 200 OK\r\nConnection: close, X-A\r\nX-A: b\r\n"
			    "Keep-Alive: 5\r\nContent-Length: 2\r\n\r\nok"),
			EOF_CLOSE },
		ANSWERED },
	{ .name = "an HTTP/1.0 server",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"),
			SAY("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"), EOF_CLOSE },
		ANSWERED },
	{ .name = "an HTTP/1.0 server with hop-by-hop fields",
		.cfg = { HTTP_WORLD, .rules = "http-response set-header A %[res.ver]" },
		.client = { SAY(GET "\r\n"), AWAIT("no"), { STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"),
			SAY("HTTP/1.0 404 No\r\nContent-Length: 2\r\n\r\nno"), EOF_CLOSE },
		.to_client = "HTTP/1.1 404 No\r\nContent-Length: 2\r\nA: 1.0\r\n\r\nno",
		.terms = "--",
		.served = 1 },
	{ .name = "HTTP/1.0 on both sides",
		.cfg = { HTTP_WORLD },
		.client = { SAY("GET / HTTP/1.0\r\n\r\n"), EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"),
			SAY("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"), EOF_CLOSE },
		.to_client = OK2 "Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "a tunnel with a length",
		.cfg = { HTTP_WORLD },
		.client = { SAY(CONNECT), AWAIT("\r\n\r\n"), SAY("hello"), AWAIT("world"),
			{ STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"),
			SAY("HTTP/1.0 200 OK\r\nContent-Length: 2\r\nA: b\r\n\r\n"),
			AWAIT("hello"), SAY("world"), EOF_CLOSE },
		.to_client = "HTTP/1.1 200 OK\r\nA: b\r\n\r\nworld",
		.terms = "--",
		.served = 1 },
	{ .name = "a tunnel in chunks",
		.cfg = { HTTP_WORLD },
		.client = { SAY(CONNECT), AWAIT("\r\n\r\n"), SAY("hello"), AWAIT("world"),
			{ STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"),
			SAY("HTTP/1.1 201 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
			AWAIT("hello"), SAY("world"), EOF_CLOSE },
		.to_client = "HTTP/1.1 201 OK\r\n\r\nworld",
		.terms = "--",
		.served = 1 },
	{ .name = "no tunnel",
		.cfg = { HTTP_WORLD },
		.client = { SAY(CONNECT), AWAIT("no"), { STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"),
			SAY("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno"), EOF_CLOSE },
		.to_client = "HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno",
		.terms = "--",
		.served = 1 },
	{ .name = "an HTTP/1.0 client with keep-alive",
		.cfg = { HTTP_WORLD },
		.client = { SAY("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), AWAIT("ok"),
			{ STEP_CLOSE, 0 } },
		REPLY_OK,
		.to_client = OK2 "Connection: keep-alive\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "an HTTP/1.0 client",
		.cfg = { HTTP_WORLD },
		.client = { SAY("GET / HTTP/1.0\r\n\r\n"), EOF_CLOSE },
		REPLY_OK,
		.to_client = OK2 "Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "option httpclose",
		.cfg = { HTTP_WORLD, .persistence = HTTP_CLOSE },
		.client = { SAY(GET "\r\n"), EOF_CLOSE },
		REPLY_OK,
		.to_client = OK2 "Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
};

static void
response_heads_are_written(void **st)
{
	(void)st;
	http_play_all(responses, ARRAY_LEN(responses));
}

#define NAMES31 "x-a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,b,c,d,e,f,g,h"
#define UPGRADES "Upgrade: sim\r\nConnection: upgrade\r\n"

/* Each name is searched among all fields, so their number is limited. */
static void
the_number_of_names_is_limited(void **st)
{
	static const struct http_dialogue d[] = {
		{ .name = "the maximum number of names", .cfg = { HTTP_WORLD },
		  .client = { SAY(GET "Connection: " NAMES31 ", close\r\nX-A: b\r\n\r\n"),
			  EOF_CLOSE },
		  .origin = { AWAIT("\r\n\r\n"), SAY(OK2 "Connection: " NAMES31 ", z\r\nZ: z\r\n"
			  "X-A: c\r\n\r\nok"), EOF_CLOSE },
		  .to_server = GET "Connection: close\r\n\r\n",
		  .to_client = OK2 "Connection: close\r\n\r\nok", .terms = "--", .served = 1 },
		{ .name = "one name too many", .cfg = { HTTP_WORLD },
		  .client = { SAY(GET "Connection: " NAMES31 "\r\nConnection: y, z\r\n\r\n"),
			  EOF_CLOSE },
		  .origin = { EOF_CLOSE }, .terms = "PR" },
		{ .name = "one name too many in a response", .cfg = { HTTP_WORLD },
		  .client = { SAY(GET "\r\n"), AWAIT("502 "), { STEP_CLOSE, 0 } },
		  .origin = { AWAIT("\r\n\r\n"), SAY(OK2 "Connection: " NAMES31 ", y, z\r\n\r\nok"),
			  EOF_CLOSE },
		  .terms = "PH", .served = 1 },
	};

	(void)st;
	http_play_all(d, ARRAY_LEN(d));
}

/* A request of HTTP/1.0 does not ask for an upgrade; a 101 response to it is invalid. */
static void
old_requests_do_not_upgrade(void **st)
{
	static const struct http_dialogue d[] = {
		{ .name = "Upgrade of HTTP/1.0", .cfg = { HTTP_WORLD },
		  .client = { SAY("GET / HTTP/1.0\r\n" UPGRADES "\r\n"), EOF_CLOSE },
		  .origin = { AWAIT("\r\n\r\n"), SAY(OK2 UPGRADES "\r\nok"), EOF_CLOSE },
		  .to_server = "GET / HTTP/1.0\r\n\r\n",
		  .to_client = OK2 "Connection: close\r\n\r\nok", .terms = "--", .served = 1 },
		{ .name = "101 to a request of HTTP/1.0", .cfg = { HTTP_WORLD },
		  .client = { SAY("GET / HTTP/1.0\r\n" UPGRADES "\r\n"), AWAIT("502 "),
			  { STEP_CLOSE, 0 } },
		  .origin = { AWAIT("\r\n\r\n"),
			  SAY("HTTP/1.1 101 Go\r\n" UPGRADES "\r\nhello"), EOF_CLOSE },
		  .to_server = "GET / HTTP/1.0\r\n\r\n", .terms = "PH", .served = 1 },
		/* A client of HTTP/1.1 gets the server's offer of protocols. */
		{ .name = "Upgrade in a response", .cfg = { HTTP_WORLD },
		  .client = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } },
		  .origin = { AWAIT("\r\n\r\n"), SAY(OK2 UPGRADES "\r\nok"), EOF_CLOSE },
		  .to_client = OK2 "Upgrade: sim\r\nConnection: upgrade\r\n\r\nok",
		  .terms = "--", .served = 1 },
	};

	(void)st;
	http_play_all(d, ARRAY_LEN(d));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_heads_are_written),
		cmocka_unit_test(servers_are_named),
		cmocka_unit_test(response_heads_are_written),
		cmocka_unit_test(the_number_of_names_is_limited),
		cmocka_unit_test(old_requests_do_not_upgrade),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
