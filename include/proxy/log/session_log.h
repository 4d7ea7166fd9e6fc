/*
 * The one line a session leaves in the logs of its frontend (configuration manual, 8.2 and 8.3).
 * Whichever call comes first and knows enough writes it; s->logged says that it was written.
 */
#ifndef TACIT_PROXY_LOG_SESSION_LOG_H
#define TACIT_PROXY_LOG_SESSION_LOG_H

struct session;

/*
 * For formats that ask for nothing a session learns later, and for `option logasap`: call it once
 * the backend is known, and again when the server is connected.
 */
void session_log_early(struct session *s);
/*
 * At the end: its server's slot has been given back, its descriptors are still open, and it still
 * counts as open in its frontend. Under `option dontlognull` nothing is written for a client that
 * sent nothing.
 */
void session_log(struct session *s);

#endif
