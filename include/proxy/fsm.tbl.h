/*
 * The two machines. These rows make the dispatch tables, the names, the trace text, the picture
 * (make fsm.svg) and the property tests. A pair that is not listed is a bug: counted, traced, and it
 * ends that session. Ignoring an event is a row like any other (next state the same, action none).
 *
 * SESSION_STATE(name, resting, what)      resting: the session may wait here between turns
 * SESSION_EVENT(name, what)
 * SESSION_ROW(state, event, next, action, follow)   follow: events the action may return
 * HALF_STATE / HALF_EVENT / HALF_ROW likewise; their actions return nothing.
 */
#ifdef SESSION_STATE
SESSION_STATE(INIT,    0, "allocated, owns the client's fd")
SESSION_STATE(ASSIGN,  0, "a server is being chosen")
SESSION_STATE(QUEUE,   1, "waits for a slot on a server")
SESSION_STATE(CONNECT, 1, "connect() is on its way")
SESSION_STATE(RETRY,   1, "waits to connect again")
SESSION_STATE(RELAY,   1, "both sides are up, the halves do the work")
SESSION_STATE(LINGER,  1, "one side was reset: the other gets the rest first, then a reset")
SESSION_STATE(CLOSED,  0, "over; freed at the end of the turn")
#endif

#ifdef SESSION_EVENT
SESSION_EVENT(NONE,          "nothing follows")
SESSION_EVENT(ACCEPTED,      "a listener handed the client over")
SESSION_EVENT(ASSIGNED,      "a server with a free slot was found")
SESSION_EVENT(FULL,          "servers are usable, none has a slot: it is in a queue")
SESSION_EVENT(NO_SERVER,     "no server is usable")
SESSION_EVENT(SLOT,          "a slot was freed and is now ours")
SESSION_EVENT(UP,            "the server's side is connected")
SESSION_EVENT(REFUSED,       "connect() failed")
SESSION_EVENT(GIVE_UP,       "no retry is left")
SESSION_EVENT(CLIENT_GONE,   "the client reset, or closed before there was a server")
SESSION_EVENT(TIMEOUT,       "the deadline of this state has passed")
SESSION_EVENT(HALVES_CLOSED, "both directions ended")
SESSION_EVENT(RESET,         "both directions ended, one of them broken")
SESSION_EVENT(DELIVERED,     "nothing is left that a reset could destroy")
SESSION_EVENT(KILL,          "the operator or a hard stop ends it")
#endif

#ifdef SESSION_ROW
#define F(ev) (1u << SESSION_EV_##ev)
SESSION_ROW(INIT,    ACCEPTED,      ASSIGN,  assign,         F(ASSIGNED) | F(FULL) | F(NO_SERVER))
SESSION_ROW(INIT,    KILL,          CLOSED,  killed,         0)
SESSION_ROW(ASSIGN,  ASSIGNED,      CONNECT, connect,        F(UP) | F(REFUSED))
SESSION_ROW(ASSIGN,  FULL,          QUEUE,   none,           0)
SESSION_ROW(ASSIGN,  NO_SERVER,     CLOSED,  no_server,      0)
SESSION_ROW(ASSIGN,  KILL,          CLOSED,  killed,         0)
SESSION_ROW(QUEUE,   SLOT,          CONNECT, connect,        F(UP) | F(REFUSED))
SESSION_ROW(QUEUE,   TIMEOUT,       CLOSED,  queue_timeout,  0)
SESSION_ROW(QUEUE,   CLIENT_GONE,   CLOSED,  queue_abort,    0)
SESSION_ROW(QUEUE,   KILL,          CLOSED,  killed,         0)
SESSION_ROW(CONNECT, UP,            RELAY,   established,    0)
SESSION_ROW(CONNECT, REFUSED,       RETRY,   retry,          F(GIVE_UP))
SESSION_ROW(CONNECT, TIMEOUT,       RETRY,   retry_timeout,  F(GIVE_UP))
SESSION_ROW(CONNECT, CLIENT_GONE,   CLOSED,  connect_abort,  0)
SESSION_ROW(CONNECT, KILL,          CLOSED,  killed,         0)
SESSION_ROW(RETRY,   TIMEOUT,       ASSIGN,  reassign,       F(ASSIGNED) | F(FULL) | F(NO_SERVER))
SESSION_ROW(RETRY,   GIVE_UP,       CLOSED,  give_up,        0)
SESSION_ROW(RETRY,   CLIENT_GONE,   CLOSED,  connect_abort,  0)
SESSION_ROW(RETRY,   KILL,          CLOSED,  killed,         0)
SESSION_ROW(RELAY,   HALVES_CLOSED, CLOSED,  finish,         0)
SESSION_ROW(RELAY,   RESET,         LINGER,  linger,         F(DELIVERED))
SESSION_ROW(RELAY,   TIMEOUT,       CLOSED,  relay_timeout,  0)
SESSION_ROW(RELAY,   CLIENT_GONE,   RELAY,   none,           0) /* the halves have been told */
SESSION_ROW(RELAY,   KILL,          CLOSED,  killed,         0)
SESSION_ROW(LINGER,  TIMEOUT,       LINGER,  linger,         F(DELIVERED))
SESSION_ROW(LINGER,  DELIVERED,     CLOSED,  finish,         0)
SESSION_ROW(LINGER,  CLIENT_GONE,   CLOSED,  finish,         0)
SESSION_ROW(LINGER,  KILL,          CLOSED,  killed,         0)
#undef F
#endif

#ifdef HALF_STATE
HALF_STATE(OPEN,   "reads and forwards")
HALF_STATE(DRAIN,  "the source has ended; the rest is flushed, then the sink is shut")
HALF_STATE(CLOSED, "over")
#endif

#ifdef HALF_EVENT
HALF_EVENT(SRC_EOF,  "the source sent FIN")
HALF_EVENT(SRC_ERR,  "the source was reset or failed")
HALF_EVENT(EMPTY,    "nothing is pending any more")
HALF_EVENT(SINK_ERR, "the sink takes nothing any more")
HALF_EVENT(ABORT,    "the session ends it")
#endif

#ifdef HALF_ROW
HALF_ROW(OPEN,   SRC_EOF,  DRAIN,  none)
HALF_ROW(OPEN,   SRC_ERR,  DRAIN,  mark_broken)
HALF_ROW(OPEN,   EMPTY,    OPEN,   none)
HALF_ROW(OPEN,   SINK_ERR, CLOSED, drop)
HALF_ROW(OPEN,   ABORT,    CLOSED, drop)
HALF_ROW(DRAIN,  SRC_EOF,  DRAIN,  none)
HALF_ROW(DRAIN,  SRC_ERR,  DRAIN,  mark_broken)
HALF_ROW(DRAIN,  EMPTY,    CLOSED, shut_sink)
HALF_ROW(DRAIN,  SINK_ERR, CLOSED, drop)
HALF_ROW(DRAIN,  ABORT,    CLOSED, drop)
HALF_ROW(CLOSED, SRC_EOF,  CLOSED, none)
HALF_ROW(CLOSED, SRC_ERR,  CLOSED, none)
HALF_ROW(CLOSED, EMPTY,    CLOSED, none)
HALF_ROW(CLOSED, SINK_ERR, CLOSED, none)
HALF_ROW(CLOSED, ABORT,    CLOSED, none)
#endif
