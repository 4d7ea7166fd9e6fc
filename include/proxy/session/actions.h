/* Actions of the machines of sessions and streams: rows of model/fsm.tbl.h call them. They never
 * assign a state. */
#ifndef TACIT_PROXY_SESSION_ACTIONS_H
#define TACIT_PROXY_SESSION_ACTIONS_H

#include "proxy/model/session.h"

/* Actions of sessions: session_actions.c */
enum session_event session_do_none(struct session *sess);
enum session_event session_do_multiplex(struct session *sess);
enum session_event session_do_multiplex_last_look(struct session *sess);
enum session_event session_do_multiplex_timeout(struct session *sess);
enum session_event session_do_multiplex_kill(struct session *sess);
enum session_event session_do_await_client(struct session *sess);
enum session_event session_do_client_handshake_timeout(struct session *sess);
enum session_event session_do_client_handshake_abort(struct session *sess);
enum session_event session_do_proxy_header_timeout(struct session *sess);
enum session_event session_do_proxy_header_abort(struct session *sess);
enum session_event session_do_header_last_look(struct session *sess);
enum session_event session_do_client_handshake_last_look(struct session *sess);
/* actions.c */
enum stream_event stream_do_none(struct stream *s);
enum stream_event stream_do_assign(struct stream *s);
enum stream_event stream_do_reassign(struct stream *s);
enum stream_event stream_do_no_server(struct stream *s);
enum stream_event stream_do_queue_timeout(struct stream *s);
enum stream_event stream_do_queue_abort(struct stream *s);
enum stream_event stream_do_relay_timeout(struct stream *s);
enum stream_event stream_do_linger(struct stream *s);
enum stream_event stream_do_close_tcp(struct stream *s);
enum stream_event stream_do_close_killed(struct stream *s);
enum stream_event stream_do_close(struct stream *s);
enum stream_event stream_do_close_denied(struct stream *s);
enum stream_event stream_do_connect(struct stream *s);
enum stream_event stream_do_connect_abort(struct stream *s);
enum stream_event stream_do_retry(struct stream *s);
enum stream_event stream_do_retry_timeout(struct stream *s);
enum stream_event stream_do_give_up(struct stream *s);
enum stream_event stream_do_established(struct stream *s);
/* early_actions.c */
enum stream_event stream_do_inspect_abort(struct stream *s);
enum stream_event stream_do_inspect_timeout(struct stream *s);
/* last_look_actions.c */
enum stream_event stream_do_read_last_look(struct stream *s);
enum stream_event stream_do_inspect_last_look(struct stream *s);
enum stream_event stream_do_connect_last_look(struct stream *s);
enum stream_event stream_do_relay_last_look(struct stream *s);
/* http_actions.c */
enum stream_event stream_do_await_data(struct stream *s);
enum stream_event stream_do_leave_request(struct stream *s);
enum stream_event stream_do_read_timeout(struct stream *s);
enum stream_event stream_do_read_abort(struct stream *s);
enum stream_event stream_do_answer(struct stream *s);
enum stream_event stream_do_tarpit(struct stream *s);
enum stream_event stream_do_tarpit_end(struct stream *s);
enum stream_event stream_do_drain_request(struct stream *s);
enum stream_event stream_do_l7_retry(struct stream *s);
enum stream_event stream_do_next_request(struct stream *s);
enum stream_event stream_do_close_http(struct stream *s);
enum stream_event stream_do_reply_timeout(struct stream *s);

/* --- shared by actions.c and http_actions.c --- */

/* True if retry number n uses another server. */
int stream_redispatches(const struct stream *s, int n);
/* Ends its use of the server, counts it, and logs it if `logs`. */
void stream_end_exchange(struct stream *s, int logs);

#endif
