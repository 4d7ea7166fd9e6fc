/*
 * The three machines: sessions, streams and directions. These rows make the dispatch tables, the names, the trace text, the picture
 * (make fsm.svg) and the property tests. A pair that is not listed is a bug: counted, traced, and it
 * ends that session. Ignoring an event is a row like any other (next state the same, action none).
 *
 * ASSIGN has no KILL: it ends within its own action. RELAY has no CLIENT_GONE: its directions are notified.
 *
 * SESSION_STATE(name, resting, io, task, late, derive, what)
 * SESSION_EVENT(name, what)
 * SESSION_ROW(state, event, next, action, follow)
 * STREAM_STATE(name, resting, io, task, late, derive, outcome, what)
 *      resting: it may wait here between turns
 *      io, task: what happens when a descriptor or the stream's task is due; they return an event
 *      late: the event of its deadline; derive: what it waits for; outcome: an event that follows
 *      from what the directions have come to. NULL: nothing (session/handlers.h declares them)
 * STREAM_EVENT(name, what)
 * STREAM_ROW(state, event, next, action, follow)   follow: events the action may return
 * DIRECTION_STATE / DIRECTION_EVENT / DIRECTION_ROW likewise; their actions return nothing.
 */
#ifdef SESSION_STATE
SESSION_STATE(INIT,         0, NULL,            NULL,                NONE,      NULL,
	"accepted, owns the client's fd")
SESSION_STATE(PROXY_HEADER, 1, header_io,       proxy_protocol_read, LAST_LOOK, derive_header,
	"waits for the PROXY header")
SESSION_STATE(CLIENT_HANDSHAKE, 1, client_handshake_io, client_handshake, LAST_LOOK, derive_client_handshake,
	"the client's handshake (TLS)")
SESSION_STATE(SERVING,      1, NULL,            NULL,                NONE,      NULL,
	"its stream runs")
SESSION_STATE(MULTIPLEX,    1, multiplex_io,    multiplex_task,      LAST_LOOK, derive_multiplex,
	"its connection carries streams (HTTP/2)")
SESSION_STATE(CLOSED,       0, NULL,            NULL,                NONE,      NULL,
	"its stream is closed; freed at the end of the turn")
#endif

#ifdef SESSION_EVENT
SESSION_EVENT(NONE,               "nothing follows")
SESSION_EVENT(AWAIT_PROXY_HEADER, "a client was accepted that has to send a PROXY header")
SESSION_EVENT(AWAIT_CLIENT_HANDSHAKE, "the client's transport has a handshake")
SESSION_EVENT(ADMITTED,           "rules admit the client, whose PROXY header and handshake are complete")
SESSION_EVENT(MULTIPLEX,          "the same, and the client speaks HTTP/2")
SESSION_EVENT(DENIED,             "a rule, a bad header or a shortage ends it")
SESSION_EVENT(CLIENT_GONE,        "the client reset or closed, or its handshake failed")
SESSION_EVENT(LAST_LOOK,          "the deadline has passed; earlier bytes may be unread")
SESSION_EVENT(TIMEOUT,            "the deadline of this state has passed")
SESSION_EVENT(ENDED,              "its stream is closed, or all that it carries are")
SESSION_EVENT(KILL,               "the operator or a hard stop ends it")
#endif

#ifdef SESSION_ROW
#define F(ev) (1u << SESSION_EV_##ev)
SESSION_ROW(INIT,         AWAIT_PROXY_HEADER, PROXY_HEADER, await_client, 0)
SESSION_ROW(INIT,         AWAIT_CLIENT_HANDSHAKE, CLIENT_HANDSHAKE, await_client, 0)
SESSION_ROW(INIT,         ADMITTED,           SERVING,      none,         0)
SESSION_ROW(INIT,         MULTIPLEX,          MULTIPLEX,    multiplex,    F(DENIED))
SESSION_ROW(INIT,         KILL,               CLOSED,       none,         0)
SESSION_ROW(PROXY_HEADER, AWAIT_CLIENT_HANDSHAKE, CLIENT_HANDSHAKE, await_client, 0)
SESSION_ROW(PROXY_HEADER, ADMITTED,           SERVING,      none,         0)
SESSION_ROW(PROXY_HEADER, MULTIPLEX,          MULTIPLEX,    multiplex,    F(DENIED))
SESSION_ROW(PROXY_HEADER, DENIED,             CLOSED,       none,         0)
SESSION_ROW(PROXY_HEADER, LAST_LOOK,          PROXY_HEADER, header_last_look, F(TIMEOUT) | F(ADMITTED) | F(MULTIPLEX) | F(AWAIT_CLIENT_HANDSHAKE) | F(DENIED) | F(CLIENT_GONE))
SESSION_ROW(PROXY_HEADER, TIMEOUT,            CLOSED,       proxy_header_timeout, 0)
SESSION_ROW(PROXY_HEADER, CLIENT_GONE,        CLOSED,       proxy_header_abort, 0)
SESSION_ROW(PROXY_HEADER, KILL,               CLOSED,       none,         0)
SESSION_ROW(CLIENT_HANDSHAKE, ADMITTED,       SERVING,      none,         0)
SESSION_ROW(CLIENT_HANDSHAKE, MULTIPLEX,      MULTIPLEX,    multiplex,    F(DENIED))
SESSION_ROW(CLIENT_HANDSHAKE, DENIED,         CLOSED,       none,         0)
SESSION_ROW(CLIENT_HANDSHAKE, LAST_LOOK,      CLIENT_HANDSHAKE, client_handshake_last_look, F(TIMEOUT) | F(ADMITTED) | F(MULTIPLEX) | F(DENIED) | F(CLIENT_GONE))
SESSION_ROW(CLIENT_HANDSHAKE, TIMEOUT,        CLOSED,       client_handshake_timeout, 0)
SESSION_ROW(CLIENT_HANDSHAKE, CLIENT_GONE,    CLOSED,       client_handshake_abort, 0)
SESSION_ROW(CLIENT_HANDSHAKE, KILL,           CLOSED,       none,         0)
SESSION_ROW(SERVING,      ENDED,              CLOSED,       none,         0)
/* without TLS: the first bytes are those of HTTP/2 */
SESSION_ROW(SERVING,      MULTIPLEX,          MULTIPLEX,    multiplex,    F(DENIED))
SESSION_ROW(MULTIPLEX,    DENIED,             CLOSED,       none,         0)
SESSION_ROW(MULTIPLEX,    LAST_LOOK,          MULTIPLEX,    multiplex_last_look, F(TIMEOUT) | F(ENDED))
SESSION_ROW(MULTIPLEX,    TIMEOUT,            MULTIPLEX,    multiplex_timeout, F(ENDED))
SESSION_ROW(MULTIPLEX,    ENDED,              CLOSED,       none,         0)
/* its streams end first */
SESSION_ROW(MULTIPLEX,    KILL,               MULTIPLEX,    multiplex_kill, F(ENDED))
#undef F
#endif

#ifdef STREAM_STATE
STREAM_STATE(NEW,          0, NULL,            NULL,                NONE,      derive_nothing,      NULL,
	"its session is not served yet: what it waits for is the session's")
STREAM_STATE(READ,         1, http_read_io,    http_read,           LAST_LOOK, derive_read,         NULL,
	"waits for a request's head (mode http)")
STREAM_STATE(TARPIT,       1, http_tarpit_io,  NULL,                TIMEOUT,   derive_tarpit,       NULL,
	"a rejected request is delayed before its reply")
STREAM_STATE(INSPECT,      1, inspect_io,      tcp_content_read,    LAST_LOOK, derive_inspect,      NULL,
	"rules inspect the client's data (mode tcp)")
STREAM_STATE(ASSIGN,       0, NULL,            NULL,                NONE,      derive_early,        NULL,
	"a server is being chosen")
STREAM_STATE(QUEUE,        1, early_io,        NULL,                TIMEOUT,   derive_queue,        NULL,
	"waits for a slot on a server")
STREAM_STATE(CONNECT,      1, connect_io,      first_io,            LAST_LOOK, derive_connect,      NULL,
	"connect() is in progress")
STREAM_STATE(HANDSHAKE,    1, handshake_io,    NULL,                LAST_LOOK, derive_handshake,    NULL,
	"the SOCKS4 proxy of the server is asked to connect, then the server's handshake (TLS)")
STREAM_STATE(RETRY,        1, early_io,        NULL,                TIMEOUT,   derive_retry,        NULL,
	"waits to connect again")
STREAM_STATE(RELAY,        1, relay_io,        relay_task,          LAST_LOOK, derive_relay,        relay_outcome,
	"both sides are connected, the directions forward")
STREAM_STATE(REPLY,        1, http_reply_io,   http_reply_task,     TIMEOUT,   derive_reply,        http_reply_outcome,
	"a local reply is sent, or the rest of a request is discarded")
STREAM_STATE(LINGER,       1, linger_io,       NULL,                TIMEOUT,   derive_linger,       NULL,
	"one side was reset: the other gets the rest first, then a reset")
STREAM_STATE(CLOSED,       0, NULL,            NULL,                NONE,      derive_nothing,      NULL,
	"closed; freed at the end of the turn")
#endif

#ifdef STREAM_EVENT
STREAM_EVENT(NONE,               "nothing follows")
STREAM_EVENT(ACCEPTED,           "the client is admitted: a server is to be chosen")
STREAM_EVENT(AWAIT_REQUEST,      "the same in mode http: a request has to come first")
STREAM_EVENT(INSPECT,            "rules inspect the client's data")
STREAM_EVENT(PASSED,             "the rules accept the session")
STREAM_EVENT(DENIED,             "a rule ends the session without a reply")
STREAM_EVENT(MULTIPLEX,          "the client's first bytes are those of HTTP/2")
STREAM_EVENT(REQUEST,            "a request's head is complete")
STREAM_EVENT(ANSWER,             "a local reply is to be sent")
STREAM_EVENT(TARPIT,             "a local reply is to be sent after a delay")
STREAM_EVENT(CLOSE,              "the client's connection is to be closed")
STREAM_EVENT(ASSIGNED,           "a server with a free slot was found")
STREAM_EVENT(FULL,               "no usable server has a free slot: the session is in a queue")
STREAM_EVENT(NO_SERVER,          "no server is usable")
STREAM_EVENT(SLOT,               "the session got a slot")
STREAM_EVENT(AWAIT_HANDSHAKE,    "the server, or its SOCKS4 proxy, is connected, and there is a handshake")
STREAM_EVENT(UP,                 "the server's side is connected")
STREAM_EVENT(REFUSED,            "connect() failed")
STREAM_EVENT(GIVE_UP,            "no retry is left")
STREAM_EVENT(CLIENT_GONE,        "the client reset, or closed before there was a server")
STREAM_EVENT(CLIENT_EOF,          "the client has sent FIN")
STREAM_EVENT(LAST_LOOK,           "the deadline has passed; earlier bytes may be unread")
STREAM_EVENT(TIMEOUT,            "the deadline of this state has passed")
STREAM_EVENT(BOTH_CLOSED,        "both directions ended")
STREAM_EVENT(RESET,              "both directions ended, one of them broken")
STREAM_EVENT(EXCHANGED,          "request and response are complete")
STREAM_EVENT(DRAIN_REQUEST,      "the response is complete, but the request is not, or the connection's end has to wait")
STREAM_EVENT(L7_RETRY,           "the request is to be retried")
STREAM_EVENT(ANSWERED,           "the local reply is sent")
STREAM_EVENT(DELIVERED,          "no undelivered data is left")
STREAM_EVENT(KILL,               "the operator or a hard stop ends it")
#endif

#ifdef STREAM_ROW
#define F(ev) (1u << STREAM_EV_##ev)
STREAM_ROW(NEW,         ACCEPTED,           ASSIGN,      assign,               F(ASSIGNED) | F(FULL) | F(NO_SERVER) | F(INSPECT) | F(AWAIT_REQUEST))
STREAM_ROW(NEW,         INSPECT,            INSPECT,     await_data,           0)
STREAM_ROW(NEW,         AWAIT_REQUEST,      READ,        await_data,           0)
STREAM_ROW(NEW,         CLOSE,              CLOSED,      close,                0)
STREAM_ROW(NEW,         KILL,               CLOSED,      close_killed,         0)
STREAM_ROW(READ,        REQUEST,            ASSIGN,      assign,               F(ASSIGNED) | F(FULL) | F(NO_SERVER))
STREAM_ROW(READ,        MULTIPLEX,          NEW,         leave_request,        0)
STREAM_ROW(READ,        ANSWER,             REPLY,       answer,               0)
STREAM_ROW(READ,         LAST_LOOK,           READ,         read_last_look,        F(TIMEOUT) | F(MULTIPLEX) | F(REQUEST) | F(ANSWER) | F(TARPIT) | F(CLOSE) | F(CLIENT_GONE))
STREAM_ROW(READ,        TIMEOUT,            READ,        read_timeout,         F(ANSWER) | F(CLOSE))
STREAM_ROW(READ,        CLIENT_GONE,        READ,        read_abort,           F(ANSWER) | F(CLOSE))
STREAM_ROW(READ,        CLOSE,              CLOSED,      close_http,           0)
STREAM_ROW(READ,        DRAIN_REQUEST,      REPLY,       drain_request,        0)
STREAM_ROW(READ,        KILL,               CLOSED,      close_killed,         0)
STREAM_ROW(READ,        TARPIT,             TARPIT,      tarpit,               0)
STREAM_ROW(TARPIT,      TIMEOUT,            REPLY,       tarpit_end,           0)
STREAM_ROW(TARPIT,       CLIENT_EOF,          REPLY,       tarpit_end,           0)
STREAM_ROW(TARPIT,      CLIENT_GONE,        CLOSED,      close_http,           0)
STREAM_ROW(TARPIT,      KILL,               CLOSED,      close_killed,         0)
STREAM_ROW(INSPECT,     PASSED,             ASSIGN,      assign,               F(ASSIGNED) | F(FULL) | F(NO_SERVER) | F(INSPECT) | F(AWAIT_REQUEST))
STREAM_ROW(INSPECT,     DENIED,             CLOSED,      close_denied,         0)
STREAM_ROW(INSPECT,      LAST_LOOK,           INSPECT,      inspect_last_look,     F(TIMEOUT) | F(PASSED) | F(DENIED) | F(CLIENT_GONE))
STREAM_ROW(INSPECT,     TIMEOUT,            INSPECT,     inspect_timeout,      F(PASSED) | F(DENIED) | F(CLIENT_GONE))
STREAM_ROW(INSPECT,     CLIENT_GONE,        CLOSED,      inspect_abort,        0)
STREAM_ROW(INSPECT,     KILL,               CLOSED,      close_killed,         0)
/* the backend may have rules too */
STREAM_ROW(ASSIGN,      INSPECT,            INSPECT,     await_data,           0)
/* the backend is in mode http */
STREAM_ROW(ASSIGN,      AWAIT_REQUEST,      READ,        await_data,           0)
STREAM_ROW(ASSIGN,      ASSIGNED,           CONNECT,     connect,              F(UP) | F(AWAIT_HANDSHAKE) | F(REFUSED) | F(ANSWER))
STREAM_ROW(ASSIGN,      FULL,               QUEUE,       none,                 0)
STREAM_ROW(ASSIGN,      NO_SERVER,          ASSIGN,      no_server,            F(CLOSE) | F(ANSWER))
STREAM_ROW(ASSIGN,      CLOSE,              CLOSED,      close,                0)
STREAM_ROW(ASSIGN,      ANSWER,             REPLY,       answer,               0)
STREAM_ROW(QUEUE,       SLOT,               CONNECT,     connect,              F(UP) | F(AWAIT_HANDSHAKE) | F(REFUSED) | F(ANSWER))
STREAM_ROW(QUEUE,       TIMEOUT,            QUEUE,       queue_timeout,        F(CLOSE) | F(ANSWER))
STREAM_ROW(QUEUE,       CLOSE,              CLOSED,      close,                0)
STREAM_ROW(QUEUE,       ANSWER,             REPLY,       answer,               0)
STREAM_ROW(QUEUE,       CLIENT_GONE,        CLOSED,      queue_abort,          0)
STREAM_ROW(QUEUE,       KILL,               CLOSED,      close_killed,         0)
/* it has waited for the connection of another stream, which it may share (connect_reuse()) */
STREAM_ROW(CONNECT,     ASSIGNED,           CONNECT,     connect,              F(UP) | F(AWAIT_HANDSHAKE) | F(REFUSED) | F(ANSWER))
STREAM_ROW(CONNECT,     UP,                 RELAY,       established,          F(L7_RETRY) | F(ANSWER) | F(CLOSE) | F(DENIED))
STREAM_ROW(CONNECT,     REFUSED,            RETRY,       retry,                F(GIVE_UP))
STREAM_ROW(CONNECT,     LAST_LOOK,          CONNECT,     connect_last_look,    F(TIMEOUT) | F(UP) | F(AWAIT_HANDSHAKE) | F(REFUSED))
STREAM_ROW(CONNECT,     TIMEOUT,            RETRY,       retry_timeout,        F(GIVE_UP))
STREAM_ROW(CONNECT,     ANSWER,             REPLY,       answer,               0)
STREAM_ROW(CONNECT,     CLIENT_GONE,        CLOSED,      connect_abort,        0)
STREAM_ROW(CONNECT,     KILL,               CLOSED,      close_killed,         0)
STREAM_ROW(CONNECT,     AWAIT_HANDSHAKE,    HANDSHAKE,   handshake,            F(UP) | F(REFUSED))
STREAM_ROW(HANDSHAKE,   UP,                 RELAY,       established,          F(L7_RETRY) | F(ANSWER) | F(CLOSE) | F(DENIED))
STREAM_ROW(HANDSHAKE,   REFUSED,            RETRY,       retry,                F(GIVE_UP))
STREAM_ROW(HANDSHAKE,   LAST_LOOK,          HANDSHAKE,   connect_last_look,    F(TIMEOUT) | F(UP) | F(REFUSED))
STREAM_ROW(HANDSHAKE,   TIMEOUT,            RETRY,       retry_timeout,        F(GIVE_UP))
STREAM_ROW(HANDSHAKE,   CLIENT_GONE,        CLOSED,      connect_abort,        0)
STREAM_ROW(HANDSHAKE,   KILL,               CLOSED,      close_killed,         0)
STREAM_ROW(RETRY,       TIMEOUT,            ASSIGN,      reassign,             F(ASSIGNED) | F(FULL) | F(NO_SERVER))
STREAM_ROW(RETRY,       GIVE_UP,            RETRY,       give_up,              F(CLOSE) | F(ANSWER))
STREAM_ROW(RETRY,       CLOSE,              CLOSED,      close,                0)
STREAM_ROW(RETRY,       ANSWER,             REPLY,       answer,               0)
STREAM_ROW(RETRY,       CLIENT_GONE,        CLOSED,      connect_abort,        0)
STREAM_ROW(RETRY,       KILL,               CLOSED,      close_killed,         0)
STREAM_ROW(RELAY,       BOTH_CLOSED,        CLOSED,      close_tcp,            0)
STREAM_ROW(RELAY,       EXCHANGED,          READ,        next_request,         F(CLOSE) | F(DRAIN_REQUEST))
STREAM_ROW(RELAY,       DRAIN_REQUEST,      REPLY,       drain_request,        0)
STREAM_ROW(RELAY,       L7_RETRY,           RETRY,       l7_retry,             0)
STREAM_ROW(RELAY,       ANSWER,             REPLY,       answer,               0)
STREAM_ROW(RELAY,       RESET,              LINGER,      linger,               F(DELIVERED))
STREAM_ROW(RELAY,        LAST_LOOK,           RELAY,        relay_last_look,       F(TIMEOUT) | F(L7_RETRY) | F(ANSWER) | F(CLOSE) | F(DENIED))
STREAM_ROW(RELAY,       TIMEOUT,            RELAY,       relay_timeout,        F(CLOSE) | F(ANSWER) | F(L7_RETRY) | F(DENIED))
STREAM_ROW(RELAY,       DENIED,             CLOSED,      close_denied,         0)
STREAM_ROW(RELAY,       CLOSE,              CLOSED,      close,                0)
STREAM_ROW(RELAY,       KILL,               CLOSED,      close_killed,         0)
STREAM_ROW(REPLY,       ANSWERED,           READ,        next_request,         F(CLOSE) | F(DRAIN_REQUEST))
STREAM_ROW(REPLY,       TIMEOUT,            REPLY,       reply_timeout,        F(CLOSE))
STREAM_ROW(REPLY,       CLOSE,              CLOSED,      close_http,           0)
STREAM_ROW(REPLY,       CLIENT_GONE,        CLOSED,      close_http,           0)
STREAM_ROW(REPLY,       KILL,               CLOSED,      close_killed,         0)
STREAM_ROW(LINGER,      TIMEOUT,            LINGER,      linger,               F(DELIVERED))
STREAM_ROW(LINGER,      DELIVERED,          CLOSED,      close_tcp,            0)
STREAM_ROW(LINGER,      CLIENT_GONE,        CLOSED,      close_tcp,            0)
STREAM_ROW(LINGER,      KILL,               CLOSED,      close_killed,         0)
#undef F
#endif

#ifdef DIRECTION_STATE
DIRECTION_STATE(OPEN,   "reads and forwards")
DIRECTION_STATE(TAIL,   "the message has ended; the rest is flushed, the sink stays open")
DIRECTION_STATE(DRAIN,  "the source has closed; the rest is flushed, then the sink is shut")
DIRECTION_STATE(DONE,   "the message has ended and is flushed; another one may follow")
DIRECTION_STATE(CLOSED, "closed")
#endif

#ifdef DIRECTION_EVENT
DIRECTION_EVENT(SRC_EOF,  "the source sent FIN")
DIRECTION_EVENT(SRC_ERR,  "the source was reset or failed")
DIRECTION_EVENT(MSG_END,  "the last byte of the message was read (mode http)")
DIRECTION_EVENT(EMPTY,    "nothing is pending any more")
DIRECTION_EVENT(SINK_ERR, "the sink accepts no more data")
DIRECTION_EVENT(ABORT,    "the session ends the direction")
DIRECTION_EVENT(RESET,    "the next message begins")
#endif

#ifdef DIRECTION_ROW
DIRECTION_ROW(OPEN,   SRC_EOF,  DRAIN,  none)
DIRECTION_ROW(OPEN,   SRC_ERR,  DRAIN,  mark_broken)
DIRECTION_ROW(OPEN,   MSG_END,  TAIL,   none)
DIRECTION_ROW(OPEN,   EMPTY,    OPEN,   none)
DIRECTION_ROW(OPEN,   SINK_ERR, CLOSED, drop)
DIRECTION_ROW(OPEN,   ABORT,    CLOSED, drop)
DIRECTION_ROW(OPEN,   RESET,    OPEN,   bug)
DIRECTION_ROW(TAIL,   SRC_EOF,  TAIL,   none)
DIRECTION_ROW(TAIL,   SRC_ERR,  TAIL,   none)
DIRECTION_ROW(TAIL,   MSG_END,  TAIL,   bug)
DIRECTION_ROW(TAIL,   EMPTY,    DONE,   none)
DIRECTION_ROW(TAIL,   SINK_ERR, CLOSED, drop)
DIRECTION_ROW(TAIL,   ABORT,    CLOSED, drop)
DIRECTION_ROW(TAIL,   RESET,    TAIL,   bug)
DIRECTION_ROW(DRAIN,  SRC_EOF,  DRAIN,  none)
DIRECTION_ROW(DRAIN,  SRC_ERR,  DRAIN,  mark_broken)
DIRECTION_ROW(DRAIN,  MSG_END,  DRAIN,  bug)
DIRECTION_ROW(DRAIN,  EMPTY,    CLOSED, shut_sink)
DIRECTION_ROW(DRAIN,  SINK_ERR, CLOSED, drop)
DIRECTION_ROW(DRAIN,  ABORT,    CLOSED, drop)
DIRECTION_ROW(DRAIN,  RESET,    OPEN,   none) /* http_upgrade(): the client's FIN of mode tcp is
					       * detected again */
DIRECTION_ROW(DONE,   SRC_EOF,  DONE,   none)
DIRECTION_ROW(DONE,   SRC_ERR,  DONE,   none)
DIRECTION_ROW(DONE,   MSG_END,  DONE,   bug)
DIRECTION_ROW(DONE,   EMPTY,    DONE,   none)
DIRECTION_ROW(DONE,   SINK_ERR, DONE,   none) /* the sink has received everything */
DIRECTION_ROW(DONE,   ABORT,    CLOSED, none)
DIRECTION_ROW(DONE,   RESET,    OPEN,   none)
DIRECTION_ROW(CLOSED, SRC_EOF,  CLOSED, none)
DIRECTION_ROW(CLOSED, SRC_ERR,  CLOSED, none)
DIRECTION_ROW(CLOSED, MSG_END,  CLOSED, bug)
DIRECTION_ROW(CLOSED, EMPTY,    CLOSED, none)
DIRECTION_ROW(CLOSED, SINK_ERR, CLOSED, none)
DIRECTION_ROW(CLOSED, ABORT,    CLOSED, none)
DIRECTION_ROW(CLOSED, RESET,    CLOSED, bug)
#endif
