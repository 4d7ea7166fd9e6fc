/* Actions of the two machines, declared from their tables. They never assign a state. */
#ifndef TACIT_PROXY_ACTIONS_H
#define TACIT_PROXY_ACTIONS_H

#include "proxy/session.h"

enum session_event session_do_none(struct session *s);
enum session_event session_do_assign(struct session *s);
enum session_event session_do_reassign(struct session *s);
enum session_event session_do_no_server(struct session *s);
enum session_event session_do_queue_timeout(struct session *s);
enum session_event session_do_queue_abort(struct session *s);
enum session_event session_do_connect(struct session *s);
enum session_event session_do_connect_abort(struct session *s);
enum session_event session_do_retry(struct session *s);
enum session_event session_do_retry_timeout(struct session *s);
enum session_event session_do_give_up(struct session *s);
enum session_event session_do_established(struct session *s);
enum session_event session_do_relay_timeout(struct session *s);
enum session_event session_do_linger(struct session *s);
enum session_event session_do_finish(struct session *s);
enum session_event session_do_killed(struct session *s);

void half_do_none(struct session *s, int side);
void half_do_mark_broken(struct session *s, int side);
void half_do_drop(struct session *s, int side);
void half_do_shut_sink(struct session *s, int side);

#endif
