/*
 * Log formats (configuration manual, 8.2): rule/sample/fmt.h with the data of a session.
 */
#ifndef TACIT_PROXY_LOG_LOG_FORMAT_H
#define TACIT_PROXY_LOG_LOG_FORMAT_H

#include "base/compiler.h"
#include "base/sbuf.h"
#include "proxy/sample/eval.h"
#include "rule/sample/fmt.h"

/* `option tcplog` (manual 8.2.2) */
#define LOG_FORMAT_TCP "%ci:%cp [%t] %ft %b/%s %Tw/%Tc/%Tt %B %ts %ac/%fc/%bc/%sc/%rc %sq/%bq"
/* `option httplog` (8.2.3) and `option httplog clf` */
#define LOG_FORMAT_HTTP                                                                        \
	"%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc "                     \
	"%ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r"
/* `option httpslog` (8.2.4) */
#define LOG_FORMAT_HTTPS                                                                       \
	LOG_FORMAT_HTTP " %[fc_err]/%[ssl_fc_err,hex]/%[ssl_c_err]/%[ssl_c_ca_err]/"           \
			"%[ssl_fc_is_resumed] %[ssl_fc_sni]/%sslv/%sslc"
#define LOG_FORMAT_CLF                                                                         \
	"%{+Q}o %{-Q}ci - - [%trg] %r %ST %B \"\" \"\" %cp %ms %ft %b %s %TR %Tw %Tc %Tr %Ta " \
	"%tsc %ac %fc %bc %sc %rc %sq %bq %CC %CS %hrl %hsl"

/* The point from which on all data of a format is known, when the line is written. */
enum log_stage { LOG_STAGE_ACCEPT, LOG_STAGE_CONNECT, LOG_STAGE_END };

struct session;

/* http: the proxy is in mode http. 0, or a negative reason with why filled in. */
int log_format_compile(const struct rule_vocab *v, const char *text, int http,
	struct rule_fmt **out, struct rule_err *why) must_check;
enum log_stage log_format_stage(const struct rule_fmt *f);
/* Appends the line of s. */
void log_format_render(const struct rule_fmt *f, struct session *s, const struct log_context *cx,
	struct sbuf *out);
/* The default format of frontends: "Connect from ..." (manual 8.2.1). Known at accept. */
void
log_format_render_default(struct session *s, const struct log_context *cx, struct sbuf *out);
/* The line of a session without a valid PROXY header (manual 8.2.5). */
void
log_format_render_refused(struct session *s, const struct log_context *cx, struct sbuf *out);

#endif
