/* Heads as they are sent: which fields are removed and which are added. */
#include "unit/proxy/session_rig.h"

#include "http/h1_parse.h"

#define ANSWERED .to_client = OK2 "\r\nok", .terms = "--", .served = 1
#define ASK(fields) .client = { SAY(GET fields "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } }

static const struct http_dialogue requests[] = {
	{ .name = "plain", .cfg = { HTTP_WORLD }, ASK("X-A: b\r\n"), REPLY_OK,
	  .to_server = GET "X-A: b\r\nConnection: close\r\n\r\n", ANSWERED },
	{ .name = "hop-by-hop fields of a request", .cfg = { HTTP_WORLD },
	  ASK("Keep-Alive: 3\r\nConnection: X-A, keep-alive\r\nX-A: b\r\nTE: gzip\r\n"
		  "Proxy-Connection: x\r\nX-B: c\r\nUpgrade: foo\r\n"), REPLY_OK,
	  .to_server = GET "X-A: b\r\nX-B: c\r\nConnection: close\r\n\r\n", ANSWERED },
	/* CVE-2025-48865, CVE-2022-1388: a client cannot take away what a proxy has set */
	{ .name = "fields of a proxy in front", .cfg = { HTTP_WORLD },
	  ASK("Connection: X-Real-IP, x-forwarded-proto\r\nConnection: close, X-Client-Cert\r\n"
		  "X-Real-IP: 1.2.3.4\r\nX-Forwarded-Proto: https\r\n"
		  "X-Client-Cert: none\r\n"), REPLY_OK,
	  .to_server = GET "X-Real-IP: 1.2.3.4\r\nX-Forwarded-Proto: https\r\n"
		  "X-Client-Cert: none\r\nConnection: close\r\n\r\n",
	  .to_client = OK2 "Connection: close\r\n\r\nok", .terms = "--", .served = 1 },
	{ .name = "a rule that looks for a field that Connection names",
	  .cfg = { HTTP_WORLD, .rules = "http-request deny if { req.hdr(x-deny) -m found }" },
	  ASK("Connection: X-Deny\r\nX-Deny: 1\r\n"), REPLY_OK, .terms = "PR" },
	{ .name = "rules see fields of the hop",
	  .cfg = { HTTP_WORLD, .rules = "http-request set-header Saw "
		  "%[req.hdr(connection)]/%[req.hdr(te)]/%[req.hdr(keep-alive)]/"
		  "%[req.hdr(upgrade)]" },
	  ASK("Connection: close\r\nTE: a\r\nKeep-Alive: 3\r\nUpgrade: u\r\n"), REPLY_OK,
	  .to_server = GET "Saw: close/a/3/u\r\nConnection: close\r\n\r\n",
	  .to_client = OK2 "Connection: close\r\n\r\nok", .terms = "--", .served = 1 },
	{ .name = "fields of the hop that rules set", .cfg = { HTTP_WORLD, .rules =
		  "http-request set-header Keep-Alive 3\n"
		  "http-request set-header Proxy-Connection p" },
	  ASK("Proxy-Connection: x\r\n"), REPLY_OK,
	  .to_server = GET "Proxy-Connection: p\r\nKeep-Alive: 3\r\nConnection: close\r\n\r\n",
	  ANSWERED },
	{ .name = "trailers are welcome", .cfg = { HTTP_WORLD },
	  ASK("TE: gzip;q=0.5, Trailers\r\nTE: deflate\r\nConnection: TE\r\n"), REPLY_OK,
	  .to_server = GET "TE: trailers\r\nConnection: TE\r\nConnection: close\r\n\r\n",
	  ANSWERED },
	/* Behind a 101 no rule would see the requests. */
	{ .name = "HTTP/2 is not offered",
	  .cfg = { HTTP_WORLD, .rules = "http-request set-header Saw %[req.hdr(upgrade)]" },
	  ASK("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
		  "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n"), REPLY_OK,
	  .to_server = GET "Saw: h2c\r\nConnection: close\r\n\r\n", ANSWERED },
	{ .name = "other protocols are", .cfg = { HTTP_WORLD },
	  ASK("Connection: Upgrade\r\nUpgrade: H2c, x/2\r\nUpgrade: h2\r\n"), REPLY_OK,
	  .to_server = GET "Upgrade: x/2\r\nConnection: upgrade\r\n\r\n", ANSWERED },
	{ .name = "a server switches to HTTP/2",
	  .cfg = { HTTP_WORLD },
	  .client = { SAY(GET "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"), AWAIT("502 "),
		  SAY("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), EOF_CLOSE },
	  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 101 Go\r\nConnection: upgrade\r\n"
		  "Upgrade: h2c\r\n\r\nhello"), EOF_CLOSE },
	  .to_server = GET "Connection: close\r\n\r\n", .terms = "PH", .served = 1 },
	{ .name = "a server switches to HTTP/2 instead",
	  .cfg = { HTTP_WORLD },
	  .client = { SAY(GET "Connection: Upgrade\r\nUpgrade: h2c, x\r\n\r\n"),
		  AWAIT("502 "), { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 101 Go\r\nConnection: upgrade\r\n"
		  "Upgrade: h2c\r\n\r\nhello"), EOF_CLOSE },
	  .to_server = GET "Upgrade: x\r\nConnection: upgrade\r\n\r\n", .terms = "PH",
	  .served = 1 },
	{ .name = "a rule's HTTP2-Settings", .cfg = { HTTP_WORLD,
		  .rules = "http-request set-header HTTP2-Settings A\n"
			   "http-request set-header Upgrade h2c\n"
			   "http-request set-header Connection upgrade" },
	  ASK(""), REPLY_OK, .to_server = GET "Connection: close\r\n\r\n", ANSWERED },
	{ .name = "a rule closes the server's connection",
	  .cfg = { HTTP_WORLD, .persistence = HTTP_KEEP_ALIVE,
		  .rules = "http-request set-header Connection close" }, .reuses = 1,
	  ASK("Connection: keep-alive\r\n"), REPLY_OK,
	  .to_server = GET "Connection: close\r\n\r\n", ANSWERED },
	{ .name = "a client does not", .cfg = { HTTP_WORLD, .persistence = HTTP_KEEP_ALIVE },
	  .reuses = 1, ASK("Connection: close\r\n"), REPLY_OK, .to_server = GET "\r\n",
	  .to_client = OK2 "Connection: close\r\n\r\nok", .terms = "--", .served = 1 },
	{ .name = "more names than anyone needs", .cfg = { HTTP_WORLD },
	  ASK("Connection: a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,0,1,2,3,4,5,6,7\r\n"
		  "X-A: b\r\n"), REPLY_OK,
	  .to_server = GET "X-A: b\r\nConnection: close\r\n\r\n", ANSWERED },
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

#define LONG_HOST TEN(TEN(TEN("ab")))

static void
enable_forwarded(struct proxy *px)
{
	px->forward.forwarded = FORWARDED_HOST | FORWARDED_FOR;
}

static const struct http_dialogue forwarded[] = {
	{ .name = "a long host in Forwarded",
	  .cfg = { HTTP_WORLD, .prepare = enable_forwarded },
	  .client = { SAY("GET / HTTP/1.1\r\nHost: " LONG_HOST "\r\n\r\n"), AWAIT("ok"),
		  { STEP_CLOSE, 0 } },
	  REPLY_OK,
	  .to_server = "GET / HTTP/1.1\r\nHost: " LONG_HOST "\r\n"
		  "Forwarded: host=" LONG_HOST ";for=10.0.0.1\r\nConnection: close\r\n\r\n",
	  ANSWERED },
};

static void
forwarded_is_as_long_as_its_values(void **st)
{
	(void)st;
	http_play_all(forwarded, ARRAY_LEN(forwarded));
}

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

#define ADD_A "http-request add-header X-A 1\n"
#define ADD_M "http-request add-header X-M 1\n"
#define A62(x) TEN(x) TEN(x) TEN(x) TEN(x) TEN(x) TEN(x) x x

/* The head has no room for more fields: new ones take the places of those that a rule has
 * deleted. */
static const struct http_dialogue renamed[] = {
	{ .name = "another server, and a full head",
	  .cfg = { HTTP_WORLD, .maxhdr = 1, .n_servers = 2, .server = { { .absent = 1 } },
		  .retries = 3, .redispatch = 1,
		  .rules = "http-send-name-header X-Server\n" ADD_M ADD_M A62(ADD_A)
			   "http-request del-header X-M" },
	  ASK(""), REPLY_OK,
	  .to_server = GET "Connection: close\r\n" A62("X-A: 1\r\n") "X-Server: s2\r\n\r\n",
	  ANSWERED },
};

static void
a_server_is_named_after_another(void **st)
{
	(void)st;
	http_play_all(renamed, ARRAY_LEN(renamed));
}

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
		.to_client = "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 2\r\n\r\nok",
		.terms = "--", .served = 1 },
	{ .name = "rules see fields of the hop in a response",
		.cfg = { HTTP_WORLD, .rules = "http-response set-header Saw "
			"%[res.hdr(connection)]/%[res.hdr(upgrade)]/%[res.hdr(keep-alive)]\n"
			"http-response set-header Keep-Alive 7 if { res.hdr(keep-alive) 5 }" },
		.client = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"),
			SAY("HTTP/1.1 200 OK\r\nConnection: close\r\nUpgrade: u\r\n"
			    "Keep-Alive: 5\r\nContent-Length: 2\r\n\r\nok"),
			EOF_CLOSE },
		.to_client = "HTTP/1.1 200 OK\r\nKeep-Alive: 7\r\nContent-Length: 2\r\n"
			     "Saw: close/u/5\r\n\r\nok",
		.terms = "--", .served = 1 },
	{ .name = "HTTP/2 is not offered to a client",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"),
			SAY(OK2 "Upgrade: h2,h2c\r\nConnection: Upgrade\r\n\r\nok"),
			EOF_CLOSE },
		ANSWERED },
	{ .name = "HTTP/2 is left out of an offer",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"),
			SAY("HTTP/1.1 426 Up\r\nUpgrade: TLS/1.0, h2c\r\nConnection: Upgrade\r\n"
			    "Content-Length: 2\r\n\r\nok"), EOF_CLOSE },
		.to_client = "HTTP/1.1 426 Up\r\nUpgrade: TLS/1.0\r\nContent-Length: 2\r\n"
			     "Connection: upgrade\r\n\r\nok",
		.terms = "--", .served = 1 },
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

#define UPGRADES "Upgrade: sim\r\nConnection: upgrade\r\n"

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

#define WEBSOCKET "Upgrade: websocket\r\nConnection: upgrade\r\n"
#define WEBSOCKET_KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

/* As in HAProxy: neither side becomes a tunnel for what cannot be a websocket. */
static void
websockets_need_key_and_answer(void **st)
{
	static const struct http_dialogue d[] = {
		{ .name = "no key", .cfg = { HTTP_WORLD },
		  .client = { SAY(GET WEBSOCKET "\r\n"), AWAIT("400 "), EOF_CLOSE },
		  .to_server = "", .terms = "PR" },
		{ .name = "no answer to the key", .cfg = { HTTP_WORLD },
		  .client = { SAY(GET WEBSOCKET WEBSOCKET_KEY "\r\n"), AWAIT("502 "),
			  { STEP_CLOSE, 0 } },
		  .origin = { AWAIT("\r\n\r\n"),
			  SAY("HTTP/1.1 101 Go\r\n" WEBSOCKET "\r\nhello"), EOF_CLOSE },
		  .terms = "PH", .served = 1 },
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
		cmocka_unit_test(a_server_is_named_after_another),
		cmocka_unit_test(forwarded_is_as_long_as_its_values),
		cmocka_unit_test(response_heads_are_written),
		cmocka_unit_test(old_requests_do_not_upgrade),
		cmocka_unit_test(websockets_need_key_and_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
