/* The scenarios of filters (sim/filters.h): rows of scenarios.c, behind those of mode http. */

#define FILTERED(mode_, what, ...)                                                        \
	.cfg = { .mode = INTEREST_##mode_, TO, NEAR, .texts = 1, .filters = (what), \
		 __VA_ARGS__ }
#define FILTERED_WEB(mode_, what, ...) WEB(mode_, .filters = (what), __VA_ARGS__)
#define FILTERED_POST POST_LINE "Transfer-Encoding: chunked\r\n\r\n"
#define CHUNKED_HEAD "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

	{ .name = "filter_doubles_tcp", FILTERED(EDGE, 1u << FILTER_DOUBLES), .golden = 1,
	  .client = { SAY("ping"), EOF_CLOSE },
	  .origin = { AWAIT("ppiinngg"), SAY("po"), { STEP_PAUSE, 10 }, SAY("ng"), END },
	  .terms = "--", .to_server = 8, .to_client = 8 },
	{ .name = "filter_drops_tcp", FILTERED(MERGED, 1u << FILTER_DROPS), .golden = 1,
	  .client = { SAY("--pi--ng"), AWAIT("pong"), SAY("----"), { STEP_PAUSE, 10 }, END },
	  .origin = { AWAIT("ping"), SAY("----"), { STEP_PAUSE, 10 }, SAY("p-o-n-g-"),
		  { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = 4, .to_client = 4 },
	/* what is left of the filter's bytes goes with the FIN */
	{ .name = "filter_holds_tcp", FILTERED(EDGE, 1u << FILTER_HOLDS), .golden = 1,
	  .client = { SAY("ping"), { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { AWAIT("ping"), SAY("0123456789"), { STEP_PAUSE, 10 }, END },
	  .terms = "--", .to_server = 4, .to_client = 10 },
	/* three bytes every 100 ms, in both directions; the client's FIN waits for them */
	{ .name = "filter_delays_tcp", FILTERED(EDGE, 1u << FILTER_DRIPS), .golden = 1,
	  .client = { SAY("12345678"), { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { AWAIT("12345678"), SAY("abcdefg"), END },
	  .terms = "--", .to_server = 8, .to_client = 7 },
	/* a timeout begins again with each of them */
	{ .name = "filter_delays_and_timeouts", .cfg = { .mode = INTEREST_EDGE, NEAR, .texts = 1,
		  .filters = 1u << FILTER_DRIPS, .to = { .connect = 50, .client = 120, .server = 120 } },
	  .client = { SAY("1234567"), EOF_CLOSE },
	  .origin = { AWAIT("1234567"), SAY("abcdefg"), END },
	  .terms = "--", .to_server = 7, .to_client = 7 },
	{ .name = "filter_delays_client_leaves", FILTERED(EDGE, 1u << FILTER_DRIPS), .golden = 1,
	  .client = { SAY("1234567"), AWAIT("abc"), { STEP_RESET, 0 } },
	  .origin = { AWAIT("123"), SAY("abcdefg"), { STEP_WAIT_EOF, 0 } },
	  .terms = "CD", .to_server = 7, .to_client = 3 },
	{ .name = "filter_all_tcp", FILTERED(MERGED, FILTERS_NEUTRAL, .bufsize = 1024, .sndbuf = 600, .rcvbuf = 300),
	  .client = { SAY(LONG_BODY), { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT_EOF, 0 }, SAY(LONG_BODY), END },
	  .terms = "--", .to_server = LEN(LONG_BODY), .to_client = LEN(LONG_BODY) },
	/* they wait for the rules of the content, in both directions */
	{ .name = "filter_after_inspection", FILTERED(EDGE, 1u << FILTER_DOUBLES, .rules = WAITS_FOR("4", "5s")
		  HOLDS_FOR("4", "5s")), .golden = 1,
	  .client = { SAY("pi"), { STEP_PAUSE, 10 }, SAY("ng"), EOF_CLOSE },
	  .origin = { AWAIT("ppiinngg"), SAY("po"), { STEP_PAUSE, 10 }, SAY("ng"), END },
	  .terms = "--", .to_server = 8, .to_client = 8 },

	/* a body with a length, and one in chunks, become chunks of other bytes */
	{ .name = "filter_doubles_http", FILTERED_WEB(EDGE, 1u << FILTER_DOUBLES), .golden = 1,
	  .client = { SAY(GET "\r\n"), AWAIT("hheelllloo"), AWAIT(LAST), SAY(POST "abcdef"),
		  AWAIT("hheelllloo"), AWAIT(LAST), END },
	  .origin = { AWAIT_HEAD, SAY(OK), AWAIT("aabbccddeeff"), AWAIT(LAST), SAY(CHUNKED LAST),
		  { STEP_WAIT_EOF, 0 } },
	  .terms = "-- --", .to_server = LEN(GET "\r\n" FILTERED_POST "c\r\naabbccddeeff\r\n" LAST),
	  .to_client = 2 * LEN(CHUNKED_HEAD "a\r\nhheelllloo\r\n" LAST) },
	/* pieces, trailers, and a request behind the first one */
	{ .name = "filter_pieces_and_trailers", FILTERED_WEB(MERGED, 1u << FILTER_DOUBLES), .golden = 1,
	  .client = { SAY(FILTERED_POST "1\r\na\r\n2"), { STEP_PAUSE, 10 }, SAY("\r\nbc\r\n0\r\nX-T"),
		  { STEP_PAUSE, 10 }, SAY(": v\r\n\r\n" GET "\r\n"), AWAIT("X-U: w\r\n\r\n"), AWAIT(LAST), END },
	  .origin = { AWAIT("aa"), AWAIT("bbcc"), AWAIT("0\r\nX-T: v\r\n\r\n"),
		  SAY(CHUNKED "0\r\nX-U: w\r\n\r\n"), AWAIT_HEAD, SAY(OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- --",
	  .to_server = LEN(FILTERED_POST "2\r\naa\r\n4\r\nbbcc\r\n0\r\nX-T: v\r\n\r\n" GET "\r\n"),
	  .to_client = LEN(CHUNKED_HEAD "a\r\nhheelllloo\r\n0\r\nX-U: w\r\n\r\n" CHUNKED_HEAD
		  "a\r\nhheelllloo\r\n" LAST) },
	/* nothing is left of a body: it has an end all the same */
	{ .name = "filter_drops_all", FILTERED_WEB(EDGE, 1u << FILTER_DROPS), .golden = 1,
	  .client = { SAY(POST_LINE "Content-Length: 3\r\n\r\n---"), AWAIT(LAST), END },
	  .origin = { AWAIT(LAST), SAY("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n-----"),
		  { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(FILTERED_POST LAST), .to_client = LEN(CHUNKED_HEAD LAST) },
	{ .name = "filter_holds_http", FILTERED_WEB(EDGE, 1u << FILTER_HOLDS), .golden = 1,
	  .client = { SAY(POST "abcdef"), AWAIT("5\r\nhello\r\n" LAST), END },
	  .origin = { AWAIT("abcdef"), AWAIT(LAST), SAY(OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(FILTERED_POST "6\r\nabcdef\r\n" LAST),
	  .to_client = LEN(CHUNKED_HEAD "5\r\nhello\r\n" LAST) },
	/* a client that knows no chunks, and a server that ends its body by closing */
	{ .name = "filter_old_client", FILTERED_WEB(EDGE, 1u << FILTER_DOUBLES), .golden = 1,
	  .client = { SAY("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), EOF_CLOSE },
	  .origin = { AWAIT_HEAD, SAY(CHUNKED), { STEP_PAUSE, 10 }, SAY("0\r\nX-U: w\r\n\r\n"),
		  { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
	  .to_client = LEN("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhheelllloo") },
	{ .name = "filter_old_client_posts", FILTERED_WEB(EDGE, 1u << FILTER_DOUBLES),
	  .client = { SAY("POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc"), EOF_CLOSE },
	  .origin = { AWAIT("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"), AWAIT("6\r\naabbcc\r\n" LAST),
		  SAY(OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n6\r\naabbcc\r\n" LAST),
	  .to_client = LEN("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhheelllloo") },
	{ .name = "filter_server_closes", FILTERED_WEB(EDGE, 1u << FILTER_HOLDS), .golden = 1,
	  .client = { SAY(GET "\r\n"), EOF_CLOSE },
	  .origin = { AWAIT_HEAD, SAY("HTTP/1.1 200 OK\r\n\r\n0123456789"), { STEP_PAUSE, 10 }, END },
	  .terms = "--", .to_server = LEN(GET "\r\n"),
	  .to_client = LEN(CHUNKED_HEAD "Connection: close\r\n2\r\n01\r\n8\r\n23456789\r\n" LAST) },
	/* a truncated message gets no end */
	{ .name = "filter_cut", FILTERED_WEB(EDGE, 1u << FILTER_HOLDS), .golden = 1,
	  .client = { SAY(GET "\r\n"), EOF_CLOSE },
	  .origin = { AWAIT_HEAD, SAY("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n0123456789"),
		  { STEP_PAUSE, 10 }, END },
	  .terms = "SD", .to_server = LEN(GET "\r\n"), .to_client = LEN(CHUNKED_HEAD "2\r\n01\r\n") },
	{ .name = "filter_cut_in_chunks", FILTERED_WEB(MERGED, 1u << FILTER_DOUBLES), .golden = 1,
	  .client = { SAY(GET "\r\n"), EOF_CLOSE },
	  .origin = { AWAIT_HEAD, SAY(CHUNKED "0\r\nX-U"), { STEP_PAUSE, 10 }, END },
	  .terms = "SD", .to_server = LEN(GET "\r\n"),
	  .to_client = LEN(CHUNKED_HEAD "a\r\nhheelllloo\r\n0\r\nX-U") },
	{ .name = "filter_bad_chunk", FILTERED_WEB(EDGE, 1u << FILTER_DOUBLES), .golden = 1,
	  .client = { SAY(GET "\r\n"), EOF_CLOSE },
	  .origin = { AWAIT_HEAD, SAY(CHUNKED), { STEP_PAUSE, 10 }, SAY("2\r\nhi!"),
		  { STEP_WAIT_EOF, 0 } },
	  .terms = "PD", .to_server = LEN(GET "\r\n"),
	  .to_client = LEN(CHUNKED_HEAD "a\r\nhheelllloo\r\n4\r\nhhii\r\n") },
	/* nothing to filter: the messages pass as they are */
	{ .name = "filter_without_body", FILTERED_WEB(EDGE, 1u << FILTER_DOUBLES),
	  .client = { SAY("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), AWAIT_HEAD, SAY(GET "\r\n"), AWAIT_HEAD, END },
	  .origin = { AWAIT_HEAD, SAY("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), AWAIT_HEAD,
		  SAY("HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n"), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- --", .to_server = LEN("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" GET "\r\n"),
	  .to_client = 2 * LEN("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n") },
	/* bodies keep their framing where bytes only wait */
	{ .name = "filter_delays_http", FILTERED_WEB(EDGE, 1u << FILTER_DRIPS), .golden = 1,
	  .client = { SAY(POST "abcdef"), AWAIT("hello"), AWAIT(LAST), END },
	  .origin = { AWAIT("abcdef"), SAY(CHUNKED LAST), { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(POST "abcdef"), .to_client = LEN(CHUNKED LAST) },
	{ .name = "filter_tunnel", FILTERED_WEB(EDGE, 1u << FILTER_DOUBLES), .golden = 1,
	  .client = { SAY(UPGRADES "ping"), AWAIT_HEAD, AWAIT("ppoonngg"), { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { AWAIT_HEAD, SAY(SWITCHES), AWAIT("ppiinngg"), SAY("pong"), { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(UPGRADES "ppiinngg"), .to_client = LEN(SWITCHES "ppoonngg") },
	/* more than a buffer, to a slow client and from a slow server */
	{ .name = "filter_long_bodies", FILTERED_WEB(EDGE, FILTERS_NEUTRAL, .bufsize = 1024, .sndbuf = 600, .rcvbuf = 300),
	  .client = { SAY(LONG_POST LONG_BODY LONG_POST LONG_BODY), AWAIT(LAST), AWAIT(LAST), END },
	  .origin = { AWAIT(LAST), SAY(LONG_OK LONG_BODY), AWAIT(LAST), SAY(LONG_OK LONG_BODY),
		  { STEP_WAIT_EOF, 0 } },
	  .terms = "-- --", .to_server = 4644, .to_client = 4612 },
	{ .name = "filter_waits_for_memory", FILTERED_WEB(EDGE, FILTERS_NEUTRAL, .bufsize = 1024, .sndbuf = 600,
		  .rcvbuf = 300, .memory = 40000), .n_clients = 3, .uneven = 1, .no_torture = 1,
	  .client = { SAY(LONG_POST LONG_BODY), AWAIT(LAST), END },
	  .origin = { AWAIT(LAST), SAY(LONG_OK LONG_BODY), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- -- --", .to_client = 2306 },
	{ .name = "filter_h2", WEB(EDGE, .h2 = 1, .filters = 1u << FILTER_DOUBLES), .golden = 1,
	  .client = { SAY(POST "abcdef"), AWAIT("hheelllloo"), AWAIT(LAST), END },
	  .origin = { AWAIT("aabbccddeeff"), AWAIT(LAST), SAY(OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(FILTERED_POST "c\r\naabbccddeeff\r\n" LAST), .to_client = 34 },

	/* an order for each direction: the response is halved and then doubled, the request as it was */
#define TWICE_AND_HALF (1u << FILTER_DOUBLES | 1u << FILTER_HALVES)
#define SEQUENCE(...) .rules = "filter-sequence response " __VA_ARGS__ "\n"
	{ .name = "sequence_of_responses", FILTERED_WEB(EDGE, TWICE_AND_HALF, SEQUENCE("halves,doubles")),
	  .golden = 1,
	  .client = { SAY(POST "abcdef"), AWAIT("hhlloo"), AWAIT(LAST), END },
	  .origin = { AWAIT("abcdef"), AWAIT(LAST), SAY(OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(FILTERED_POST "6\r\nabcdef\r\n" LAST),
	  .to_client = LEN(CHUNKED_HEAD "6\r\nhhlloo\r\n" LAST) },
	{ .name = "sequence_of_tcp", FILTERED(MERGED, TWICE_AND_HALF, SEQUENCE("halves,doubles")), .golden = 1,
	  .client = { SAY("ping"), EOF_CLOSE },
	  .origin = { AWAIT("ping"), SAY("po"), { STEP_PAUSE, 10 }, SAY("ng"), END },
	  .terms = "--", .to_server = 4, .to_client = 4 },
	/* one is left out; the message keeps its framing if no other changes it */
	{ .name = "sequence_leaves_out", FILTERED_WEB(EDGE, TWICE_AND_HALF, SEQUENCE("halves")), .golden = 1,
	  .client = { SAY(POST "abcdef"), AWAIT("hlo"), AWAIT(LAST), END },
	  .origin = { AWAIT("abcdef"), AWAIT(LAST), SAY(OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(FILTERED_POST "6\r\nabcdef\r\n" LAST),
	  .to_client = LEN(CHUNKED_HEAD "3\r\nhlo\r\n" LAST) },
	{ .name = "sequence_leaves_all_but_a_delay", FILTERED_WEB(EDGE, 1u << FILTER_DOUBLES | 1u << FILTER_DRIPS,
		  .rules = "filter-sequence request drips\nfilter-sequence response drips\n"), .golden = 1,
	  .client = { SAY(POST "abcdef"), AWAIT("hello"), END },
	  .origin = { AWAIT("abcdef"), SAY(OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(POST "abcdef"), .to_client = LEN(OK) },

	/* limits of bandwidth: a million bytes at 100,000 in a second take 10 s, 2 % at most off */
#define EACH(dir) "filter bwlim-" dir " x default-limit 100000 default-period 1s\n"
#define EACH2 "filter bwlim-out y default-limit 1 default-period 1s\n"
#define SHARED(dir)                                                                       \
	"stick-table type integer size 10 store conn_cur,bytes_" dir "_rate(1s)\n"         \
	"filter bwlim-" dir " x limit 100000 key int(7)\n"
#define SETS(list, ...) list " set-bandwidth-limit x" __VA_ARGS__ "\n"
#define LIMITED(text) RULES(EDGE, text), .no_torture = 1, .min_ms = 9800, .max_ms = 10200
#define LIMITED_WEB(text)                                                                 \
	WEB(EDGE, .rules = text), .no_torture = 1, .min_ms = 9800, .max_ms = 10200
#define MILLION_OK "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
#define MILLION_POST "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
#define SENDS_MILLION { { STEP_SEND, 1000000 }, EOF_CLOSE }
	{ .name = "bwlim_out_tcp", LIMITED(EACH("out") SETS("tcp-request content")),
	  ASKS, WHOLE(1000000) },
	{ .name = "bwlim_out_tcp_by_response", LIMITED(EACH("out") SETS("tcp-response content")),
	  ASKS, WHOLE(1000000) },
	{ .name = "bwlim_in_tcp", LIMITED(EACH("in") SETS("tcp-request content")),
	  .client = SENDS_MILLION,
	  .origin = { { STEP_WAIT, 1000000 }, { STEP_SEND, 50 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 1000000, .to_client = 50 },
	{ .name = "bwlim_min_size", LIMITED(EACH("out") SETS("tcp-request content",
		  " limit 50000 period 500ms")), ASKS, WHOLE(1000000) },
	{ .name = "bwlim_out_http", LIMITED_WEB(EACH("out") SETS("http-request")),
	  .client = { SAY(GET "\r\n"), { STEP_WAIT, LEN(MILLION_OK) + 1000000 }, END },
	  .origin = { AWAIT_HEAD, SAY(MILLION_OK), { STEP_SEND, 1000000 }, { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(GET "\r\n"), .to_client = LEN(MILLION_OK) + 1000000 },
	{ .name = "bwlim_out_http_by_expression", LIMITED_WEB("filter bwlim-out x default-limit 1 "
		  "default-period 1s\n" SETS("http-response", " limit res.hdr(content-length),div(10)")),
	  .client = { SAY(GET "\r\n"), { STEP_WAIT, LEN(MILLION_OK) + 1000000 }, END },
	  .origin = { AWAIT_HEAD, SAY(MILLION_OK), { STEP_SEND, 1000000 }, { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(GET "\r\n"), .to_client = LEN(MILLION_OK) + 1000000 },
	/* the server closes, or shuts its side, long before the last bytes may pass */
	{ .name = "bwlim_out_http_until_close", LIMITED_WEB(EACH("out") SETS("http-request")),
	  .client = { SAY(GET "\r\n"), EOF_CLOSE },
	  .origin = { AWAIT_HEAD, SAY("HTTP/1.1 200 OK\r\n\r\n"), { STEP_SEND, 1000000 }, END },
	  .terms = "--", .to_server = LEN(GET "\r\n"),
	  .to_client = LEN("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n") + 1000000 },
	{ .name = "bwlim_out_both_shut", LIMITED(EACH("out") SETS("tcp-request content")),
	  .client = { { STEP_SEND, 4 }, { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT_EOF, 0 }, { STEP_SEND, 1000000 }, { STEP_SHUT, 0 }, { STEP_PAUSE, 20000 }, END },
	  .terms = "--", .to_server = 4, .to_client = 1000000 },
	{ .name = "bwlim_in_http", LIMITED_WEB(EACH("in") SETS("http-request")),
	  .client = { SAY(MILLION_POST), { STEP_SEND, 1000000 }, AWAIT("hello"), END },
	  .origin = { { STEP_WAIT, LEN(MILLION_POST) + 1000000 }, SAY(OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(MILLION_POST) + 1000000, .to_client = LEN(OK) },
	/* four streams share it, one alone has all of it */
	{ .name = "bwlim_out_shared", LIMITED(SHARED("out") SETS("tcp-request content")),
	  .n_clients = 4, ASKS, SENDS(250000), .terms = "-- -- -- --", .to_client = 250000 },
	{ .name = "bwlim_out_shared_alone", LIMITED(SHARED("out") SETS("tcp-request content")),
	  ASKS, WHOLE(1000000) },
	{ .name = "bwlim_in_shared_http", LIMITED_WEB(SHARED("in") SETS("http-request")),
	  .client = { SAY(MILLION_POST), { STEP_SEND, 1000000 }, AWAIT("hello"), END },
	  .origin = { { STEP_WAIT, LEN(MILLION_POST) + 1000000 }, SAY(OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(MILLION_POST) + 1000000, .to_client = LEN(OK) },
	/* a rule cannot enable what a sequence leaves out: nothing is slowed */
	{ .name = "bwlim_left_out", RULES(EDGE, EACH("out") SETS("tcp-request content") EACH2
		  "filter-sequence response y\n"), ASKS, WHOLE(1000000), .max_ms = 200 },
	{ .name = "bwlim_shared_left_out", RULES(EDGE, SHARED("out") SETS("tcp-request content") EACH2
		  "filter-sequence response y\n"), ASKS, WHOLE(1000000), .max_ms = 200 },
	/* without the rule nothing is slowed: the bytes are spliced as before */
	{ .name = "bwlim_not_enabled", PIPES(EDGE, AUTO, 1, FOUR, .rules = EACH("out")
		  SETS("tcp-request content", " if FALSE")), ASKS, WHOLE(1000000), .max_ms = 200 },
	{ .name = "bwlim_short", RULES(EDGE, EACH("out") SETS("tcp-request content")),
	  .golden = 1, ASKS, WHOLE(10000), .min_ms = 50, .max_ms = 100 },
	{ .name = "bwlim_short_shared", RULES(EDGE, SHARED("out") SETS("tcp-request content")),
	  .golden = 1, ASKS, WHOLE(110000), .min_ms = 1000, .max_ms = 1200, .no_torture = 1 },

	/* trailers are dropped, in pieces and at once; the requests behind them are found */
#define TRAILERS(mode_, ...) WEB(mode_, .rules = "option http-drop-request-trailers\n"    \
				"option http-drop-response-trailers", __VA_ARGS__)
#define CHUNKED_POST FILTERED_POST "2\r\nab\r\n"
	{ .name = "trailers_dropped", TRAILERS(EDGE), .golden = 1,
	  .client = { SAY(CHUNKED_POST "0\r\nX-T: v\r\n\r\n"), AWAIT(LAST), SAY(CHUNKED_POST "0\r\nX-T"),
		  { STEP_PAUSE, 10 }, SAY(": v\r\nX-U: w\r\n\r"), { STEP_PAUSE, 10 }, SAY("\n" GET "\r\n"),
		  AWAIT(LAST), AWAIT("hello"), END },
	  .origin = { AWAIT(LAST), SAY(CHUNKED "0\r\nX-V: x\r\n\r\n"), AWAIT(LAST), SAY(CHUNKED "0\r\nX-V"),
		  { STEP_PAUSE, 10 }, SAY(": x\r\n"), { STEP_PAUSE, 10 }, SAY("\r\n"), AWAIT_HEAD, SAY(OK),
		  { STEP_WAIT_EOF, 0 } },
	  .terms = "-- -- --", .to_server = LEN(CHUNKED_POST LAST CHUNKED_POST LAST GET "\r\n"),
	  .to_client = LEN(CHUNKED LAST CHUNKED LAST OK) },
	/* without trailers, and with a length: as they are */
	{ .name = "trailers_none", TRAILERS(MERGED),
	  .client = { SAY(CHUNKED_POST LAST), AWAIT("hello"), SAY(POST "abcdef"), AWAIT(LAST), END },
	  .origin = { AWAIT(LAST), SAY(OK), AWAIT("abcdef"), SAY(CHUNKED LAST), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- --", .to_server = LEN(CHUNKED_POST LAST POST "abcdef"), .to_client = LEN(OK CHUNKED LAST) },
	/* a message that is cut in its trailers gets no end */
	{ .name = "trailers_cut", TRAILERS(EDGE), .golden = 1,
	  .client = { SAY(GET "\r\n"), EOF_CLOSE },
	  .origin = { AWAIT_HEAD, SAY(CHUNKED "0\r\nX-U"), { STEP_PAUSE, 10 }, END },
	  .terms = "SD", .to_server = LEN(GET "\r\n"), .to_client = LEN(CHUNKED "0\r\n") },
	{ .name = "trailers_h2", TRAILERS(EDGE, .h2 = 1), .golden = 1,
	  .client = { SAY(CHUNKED_POST "0\r\nX-T: v\r\n\r\n"), AWAIT(LAST), END },
	  .origin = { AWAIT(LAST), SAY(CHUNKED "0\r\nX-V: x\r\n\r\n"), { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(CHUNKED_POST LAST), .to_client = 29 },

	/* --- caches --- */
#define CACHE_RULES CACHE_RULES_FOR("", "")
#define CACHE_RULES_FOR(lines, options)                                                   \
	lines "http-request cache-use c\nhttp-response cache-store c\n"                    \
	"cache c\n total-max-size 1\n max-object-size 5000\n" options
#define CACHES(mode_, ...) WEB(mode_, .rules = CACHE_RULES, __VA_ARGS__)
#define FRESH "Cache-Control: max-age=60\r\n"
#define FRESH_OK "HTTP/1.1 200 OK\r\n" FRESH "Content-Length: 5\r\n\r\nhello"
#define STORED_OK "HTTP/1.1 200 OK\r\n" FRESH "Content-Length: 5\r\nAge: 0\r\n\r\nhello"
#define OLD_OK "HTTP/1.1 200 OK\r\nCache-Control: max-age=9000000\r\nContent-Length: 5\r\nAge: 5000000\r\n\r\nhello"
#define FRESH_LONG "HTTP/1.1 200 OK\r\n" FRESH "Content-Length: 2200\r\n\r\n" LONG_BODY
#define STORED_LONG "HTTP/1.1 200 OK\r\n" FRESH "Content-Length: 2200\r\nAge: 0\r\n\r\n" LONG_BODY
#define FRESH_CHUNKS "HTTP/1.1 200 OK\r\n" FRESH "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
#define DOUBLED_OK "HTTP/1.1 200 OK\r\n" FRESH "Transfer-Encoding: chunked\r\n\r\na\r\nhheelllloo\r\n" LAST
#define NOT_MODIFIED "HTTP/1.1 304 Not Modified\r\n" FRESH "Age: 0\r\n\r\n"
#define ASKS_HEAD "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
#define HEADS_X4 ASKS_HEAD ASKS_HEAD ASKS_HEAD ASKS_HEAD
#define CONDITIONAL GET "If-None-Match: *\r\n\r\n"

	/* the second request, the head alone, and a client that has it: no server is asked */
	{ .name = "cache_hit", CACHES(EDGE), .golden = 1,
	  .client = { SAY(GET "\r\n"), AWAIT("hello"), SAY(GET "\r\n"), AWAIT("Age: 0"), AWAIT("hello"),
		  SAY("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), AWAIT_HEAD, SAY(CONDITIONAL), AWAIT_HEAD, END },
	  .origin = { AWAIT_HEAD, SAY(FRESH_OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- LR LR LR", .to_server = LEN(GET "\r\n"),
	  .to_client = LEN(FRESH_OK STORED_OK STORED_OK NOT_MODIFIED) - LEN("hello") },
	/* older than the machine's uptime */
	{ .name = "cache_old", CACHES(EDGE), .golden = 1,
	  .client = { SAY(GET "\r\n"), AWAIT("hello"), SAY(GET "\r\n"), AWAIT("Age: 5000000"), AWAIT("hello"), END },
	  .origin = { AWAIT_HEAD, SAY(OLD_OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- LR", .to_server = LEN(GET "\r\n"), .to_client = LEN(OLD_OK OLD_OK) },
	/* chunks are stored without them; requests behind each other */
	{ .name = "cache_chunks", CACHES(MERGED), .golden = 1,
	  .client = { SAY(GET "\r\n"), AWAIT(LAST), SAY(GET "\r\n" GET "\r\n"), AWAIT("Age: 0"),
		  AWAIT("hello"), AWAIT("Age: 0"), AWAIT("hello"), END },
	  .origin = { AWAIT_HEAD, SAY(FRESH_CHUNKS LAST), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- LR LR", .to_server = LEN(GET "\r\n"),
	  .to_client = LEN(FRESH_CHUNKS LAST STORED_OK STORED_OK) },
	/* more than a buffer, to a slow client: out of the cache's memory */
	{ .name = "cache_long", CACHES(EDGE, .bufsize = 1024, .sndbuf = 600, .rcvbuf = 300), .golden = 1,
	  .client = { SAY(GET "\r\n"), { STEP_WAIT, LEN(FRESH_LONG) }, SAY(GET "\r\n"),
		  { STEP_WAIT, LEN(STORED_LONG) }, END },
	  .origin = { AWAIT_HEAD, SAY(FRESH_LONG), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- LR", .to_server = LEN(GET "\r\n"), .to_client = LEN(FRESH_LONG STORED_LONG) },
	{ .name = "cache_client_leaves", CACHES(EDGE, .bufsize = 1024, .sndbuf = 600, .rcvbuf = 300),
	  .client = { SAY(GET "\r\n"), { STEP_WAIT, LEN(FRESH_LONG) }, SAY(GET "\r\n"),
		  AWAIT("Age: 0"), { STEP_RESET, 0 } },
	  .origin = { AWAIT_HEAD, SAY(FRESH_LONG), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- LR", .to_server = LEN(GET "\r\n"), .to_client = LEN(FRESH_LONG) + 600 },
	/* filters see a stored response, in pieces and as a new message */
	{ .name = "cache_filtered", CACHES(EDGE, .filters = 1u << FILTER_DOUBLES), .golden = 1,
	  .client = { SAY(GET "\r\n"), AWAIT(LAST), SAY(GET "\r\n"), AWAIT("Age: 0"), AWAIT("hheelllloo"),
		  AWAIT(LAST), SAY("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), AWAIT_HEAD, SAY(CONDITIONAL),
		  AWAIT_HEAD, END },
	  .origin = { AWAIT_HEAD, SAY(FRESH_OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- LR LR LR", .to_server = LEN(GET "\r\n"),
	  .to_client = LEN(DOUBLED_OK DOUBLED_OK "Age: 0\r\n" STORED_OK NOT_MODIFIED) - LEN("hello") },
	{ .name = "cache_filtered_long", CACHES(EDGE, .bufsize = 1024, .sndbuf = 600, .rcvbuf = 300,
		  .filters = FILTERS_NEUTRAL), .golden = 1,
	  .client = { SAY(GET "\r\n"), AWAIT(LAST), SAY(GET "\r\n"), AWAIT("Age: 0"), AWAIT(LAST), END },
	  .origin = { AWAIT_HEAD, SAY(FRESH_LONG), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- LR", .to_server = LEN(GET "\r\n"), .to_client = 4655 },
	{ .name = "cache_filtered_leaves", CACHES(EDGE, .bufsize = 1024, .sndbuf = 600, .rcvbuf = 300,
		  .filters = 1u << FILTER_DOUBLES),
	  .client = { SAY(GET "\r\n"), AWAIT(LAST), SAY(GET "\r\n"), AWAIT("Age: 0"), { STEP_RESET, 0 } },
	  .origin = { AWAIT_HEAD, SAY(FRESH_LONG), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- LR", .to_server = LEN(GET "\r\n"), .to_client = 5135 },
	/* a filter delays it for longer than timeout client, which begins again */
	{ .name = "cache_delayed", .golden = 1,
	  .cfg = { .mode = INTEREST_EDGE, NEAR, .http = 1, .rules = CACHE_RULES, .filters = 1u << FILTER_DRIPS,
		  .to = { .connect = 50, .client = 80, .server = 500 } },
	  .client = { SAY(GET "\r\n"), AWAIT("hello"), SAY(GET "\r\n"), AWAIT("Age: 0"), AWAIT("hello"), END },
	  .origin = { AWAIT_HEAD, SAY(FRESH_OK), { STEP_WAIT_EOF, 0 } }, .min_ms = 200, .max_ms = 240,
	  .terms = "-- LR", .to_server = LEN(GET "\r\n"), .to_client = LEN(FRESH_OK STORED_OK) },
	/* a filter lets no byte pass behind a head that the socket of a client that does not read refuses:
	 * timeout client applies, and the filter's time, which is over, causes no turns. No torture: a
	 * send that is refused earlier ends it earlier */
#define LIMITED_HEAD                                                                      \
	.cfg = { .mode = INTEREST_EDGE, NEAR, .http = 1, .sndbuf = 600, .rcvbuf = 300,     \
		 .rules = "stick-table type integer size 10 store conn_cur,bytes_out_rate(200ms)\n" \
			  "filter bwlim-out x limit 5 key int(7)\n" SETS("http-request") CACHE_RULES, \
		 .to = { .connect = 50, .client = 500, .server = 500 } },                  \
	.origin = { AWAIT_HEAD, SAY(FRESH_OK), { STEP_WAIT_EOF, 0 } },                     \
	.terms = "-- LR LR LR LR LR LR LR LR LR LR LR LR LR", .to_server = LEN(GET "\r\n")
#define ASKS_STALLED(ms)                                                                  \
	SAY(GET "\r\n"), AWAIT("hello"), { STEP_STALL, 0 }, SAY(HEADS_X4 HEADS_X4 HEADS_X4 GET "\r\n"), \
		{ STEP_PAUSE, ms }
	{ .name = "cache_limited_behind_head", LIMITED_HEAD, .golden = 1, .min_ms = 500, .max_ms = 510,
	  .no_torture = 1, .client = { ASKS_STALLED(1000), EOF_CLOSE }, .to_client = LEN(FRESH_OK) + 300 },
	/* it reads on in time: the head leaves, and the body when the filter lets it pass */
	{ .name = "cache_limited_head_is_read", LIMITED_HEAD, .golden = 1, .min_ms = 350, .max_ms = 400,
	  .client = { ASKS_STALLED(100), AWAIT("hello"), END },
	  .to_client = LEN(FRESH_OK) + 13 * LEN(STORED_OK) - 12 * LEN("hello") },
	/* a sequence leaves the cache out of responses: nothing is stored, and no request waits for another */
#define LEFT_OUT                                                                          \
	WEB(EDGE, .filters = 1u << FILTER_DRIPS,                                           \
		.rules = CACHE_RULES_FOR("filter-sequence response drips\n", " collapse 5000\n"))
#define FRESH_EMPTY "HTTP/1.1 200 OK\r\n" FRESH "Content-Length: 0\r\n\r\n"
	{ .name = "cache_left_out", LEFT_OUT, .golden = 1,
	  .client = { SAY(GET "\r\n"), AWAIT_HEAD, SAY(GET "\r\n"), AWAIT("hello"), SAY(GET "\r\n"), AWAIT("hello"),
		  END },
	  .origin = { AWAIT_HEAD, SAY(FRESH_EMPTY), AWAIT_HEAD, SAY(FRESH_OK), AWAIT_HEAD, SAY(FRESH_OK),
		  { STEP_WAIT_EOF, 0 } },
	  .terms = "-- -- --", .to_server = LEN(GET "\r\n" GET "\r\n" GET "\r\n"),
	  .to_client = LEN(FRESH_EMPTY FRESH_OK FRESH_OK) },
	{ .name = "collapse_left_out", LEFT_OUT, .n_clients = 2, .golden = 1, .max_ms = 1000,
	  .client = { SAY(GET "\r\n"), AWAIT("hello"), END },
	  .origin = { AWAIT_HEAD, SAY(FRESH_OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- --", .to_server = LEN(GET "\r\n"), .to_client = LEN(FRESH_OK) },
	/* a response that is cut is not stored */
	{ .name = "cache_cut", CACHES(EDGE), .n_clients = 2, .golden = 1,
	  .client = { SAY(GET "\r\n"), EOF_CLOSE },
	  .origin = { AWAIT_HEAD, SAY("HTTP/1.1 200 OK\r\n" FRESH "Content-Length: 9\r\n\r\nhell"),
		  { STEP_PAUSE, 10 }, END },
	  .terms = "SD SD", .to_server = LEN(GET "\r\n"),
	  .to_client = LEN("HTTP/1.1 200 OK\r\n" FRESH "Content-Length: 9\r\n\r\nhell") },

	/* --- one request at a time for an object --- */
#define COLLAPSED(mode_, ...)                                                             \
	WEB(mode_, .rules = "http-request cache-use c\nhttp-response cache-store c\n"      \
			    "cache c\n total-max-size 1\n max-object-size 5000\n collapse 100\n", __VA_ARGS__)
#define BARE_OK "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

	/* the others wait, and are served */
	{ .name = "collapse_hit", COLLAPSED(EDGE), .n_clients = 3, .any_order = 1, .golden = 1,
	  .client = { SAY(GET "\r\n"), AWAIT("hello"), END },
	  .origin = { AWAIT_HEAD, { STEP_PAUSE, 50 }, SAY(STORED_OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- LR LR", .to_server = LEN(GET "\r\n"), .to_client = LEN(STORED_OK) },
	/* so long at most */
	{ .name = "collapse_late", COLLAPSED(MERGED), .n_clients = 3, .golden = 1, .min_ms = 300, .max_ms = 410,
	  .client = { SAY(GET "\r\n"), AWAIT("hello"), END },
	  .origin = { AWAIT_HEAD, { STEP_PAUSE, 300 }, SAY(FRESH_OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- -- --", .to_server = LEN(GET "\r\n"), .to_client = LEN(FRESH_OK) },
	/* a response that is cut: the next one asks */
	{ .name = "collapse_cut", COLLAPSED(EDGE), .n_clients = 3, .golden = 1,
	  .client = { SAY(GET "\r\n"), EOF_CLOSE },
	  .origin = { AWAIT_HEAD, SAY("HTTP/1.1 200 OK\r\n" FRESH "Content-Length: 9\r\n\r\nhell"),
		  { STEP_PAUSE, 10 }, END },
	  .terms = "SD SD SD", .to_server = LEN(GET "\r\n"),
	  .to_client = LEN("HTTP/1.1 200 OK\r\n" FRESH "Content-Length: 9\r\n\r\nhell") },
	/* one that is not stored: all others ask at once */
	{ .name = "collapse_refused", COLLAPSED(EDGE), .n_clients = 3, .golden = 1, .max_ms = 130,
	  .client = { SAY(GET "\r\n"), AWAIT("hello"), END },
	  .origin = { AWAIT_HEAD, { STEP_PAUSE, 60 }, SAY(BARE_OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- -- --", .to_server = LEN(GET "\r\n"), .to_client = LEN(BARE_OK) },
	/* clients that leave meanwhile */
	{ .name = "collapse_left", COLLAPSED(EDGE), .n_clients = 3, .any_order = 1, .golden = 1,
	  .client = { SAY(GET "\r\n"), { STEP_PAUSE, 20 }, { STEP_RESET, 0 } },
	  .origin = { AWAIT_HEAD, { STEP_PAUSE, 60 }, SAY(FRESH_OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "CD LR LR", .to_server = LEN(GET "\r\n"), .to_client = 0 },
