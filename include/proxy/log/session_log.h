/*
 * The log line of a session (configuration manual, 8.2 and 8.3). The first call at which all data
 * of the format is known writes it; s->logged says that it was written.
 */
#ifndef TACIT_PROXY_LOG_SESSION_LOG_H
#define TACIT_PROXY_LOG_SESSION_LOG_H

struct session;

/*
 * For formats that need no later data, and for `option logasap`: called when the backend is known,
 * and again when the server is connected.
 */
void session_log_early(struct session *s);
/*
 * Called at the end, when the server's slot has been released, the descriptors are still open, and
 * the session is still counted in its frontend. With `option dontlognull` nothing is written for a
 * client that sent nothing.
 */
void session_log(struct session *s);

#endif
