/* Actions of the session machine: rows of model/fsm.tbl.h call them. They never assign a state. */
#ifndef TACIT_PROXY_SESSION_ACTIONS_H
#define TACIT_PROXY_SESSION_ACTIONS_H

#include "proxy/model/session.h"

enum session_event session_do_none(struct session *s);
enum session_event session_do_assign(struct session *s);
enum session_event session_do_reassign(struct session *s);
enum session_event session_do_no_server(struct session *s);
enum session_event session_do_queue_timeout(struct session *s);
enum session_event session_do_queue_abort(struct session *s);
enum session_event session_do_relay_timeout(struct session *s);
enum session_event session_do_linger(struct session *s);
enum session_event session_do_close_tcp(struct session *s);
enum session_event session_do_close_killed(struct session *s);
enum session_event session_do_close(struct session *s);
enum session_event session_do_close_denied(struct session *s);
/* connect_actions.c */
enum session_event session_do_connect(struct session *s);
enum session_event session_do_connect_abort(struct session *s);
enum session_event session_do_retry(struct session *s);
enum session_event session_do_retry_timeout(struct session *s);
enum session_event session_do_give_up(struct session *s);
enum session_event session_do_established(struct session *s);
/* early_actions.c */
enum session_event session_do_client_handshake_timeout(struct session *s);
enum session_event session_do_client_handshake_abort(struct session *s);
enum session_event session_do_proxy_header_timeout(struct session *s);
enum session_event session_do_proxy_header_abort(struct session *s);
enum session_event session_do_inspect_abort(struct session *s);
enum session_event session_do_inspect_timeout(struct session *s);
/* last_look_actions.c */
enum session_event session_do_header_last_look(struct session *s);
enum session_event session_do_client_handshake_last_look(struct session *s);
enum session_event session_do_read_last_look(struct session *s);
enum session_event session_do_inspect_last_look(struct session *s);
enum session_event session_do_relay_last_look(struct session *s);
/* http_actions.c */
enum session_event session_do_await_data(struct session *s);
enum session_event session_do_read_timeout(struct session *s);
enum session_event session_do_read_abort(struct session *s);
enum session_event session_do_answer(struct session *s);
enum session_event session_do_tarpit(struct session *s);
enum session_event session_do_tarpit_end(struct session *s);
enum session_event session_do_drain_request(struct session *s);
enum session_event session_do_l7_retry(struct session *s);
enum session_event session_do_next_request(struct session *s);
enum session_event session_do_close_http(struct session *s);
enum session_event session_do_reply_timeout(struct session *s);

/* --- shared by actions.c, connect_actions.c and http_actions.c --- */

/* The session has failed: returns the event that ends it, or in mode http the one that sends a
 * local reply with this status. */
enum session_event session_failure_event(struct session *s, unsigned int status);
/* True if retry number n uses another server. */
int session_redispatches(const struct session *s, int n);
/* Marks the session so that it is not taken for a complete exchange. */
void session_reset_sides(struct session *s);
/* Ends its use of the server; counts and logs it. */
void session_end_exchange(struct session *s);

#endif
