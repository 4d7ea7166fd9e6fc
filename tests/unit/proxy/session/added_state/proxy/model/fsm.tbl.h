/* The machine's table with one state more, HOLD: a session in RELAY pauses until its deadline. For
 * test_added_state.c alone, which is compiled with this folder before include/. */
#include "../../../../../../../include/proxy/model/fsm.tbl.h"

#ifdef STREAM_STATE
STREAM_STATE(HOLD, 1, linger_io, NULL, TIMEOUT, derive_linger, NULL, "pauses")
#endif

#ifdef STREAM_ROW
STREAM_ROW(RELAY, TARPIT,      HOLD,   none,         0)
STREAM_ROW(HOLD,  TIMEOUT,     RELAY,  none,         0)
STREAM_ROW(HOLD,  CLIENT_GONE, CLOSED, close_killed, 0)
STREAM_ROW(HOLD,  KILL,        CLOSED, close_killed, 0)
#endif
