/*
 * Log formats (configuration manual, 8.2): rule/sample/fmt.h with the data of a session.
 */
#ifndef TACIT_PROXY_LOG_LOG_FORMAT_H
#define TACIT_PROXY_LOG_LOG_FORMAT_H

#include "base/compiler.h"
#include "base/log.h"
#include "base/sbuf.h"
#include "proxy/model/log_profile.h"
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

struct stream;

/* http: the proxy is in mode http. 0, or a negative reason with why filled in. */
int log_format_compile(const struct rule_vocab *v, const char *text, int http,
	struct rule_fmt **out, struct rule_err *why) must_check;
/* The same where more is known than in every log line: SAMPLE_AT_x. */
int log_format_compile_at(const struct rule_vocab *v, const char *text, unsigned int at,
	struct rule_fmt **out, struct rule_err *why) must_check;
enum log_stage log_format_stage(const struct rule_fmt *f);
/* Appends the line of s. where: of the format, for messages; NULL: unknown. */
void log_format_render(const struct rule_fmt *f, const struct cfg_where *where, struct stream *s,
	const struct log_context *cx, struct sbuf *out);

/* --- the line of a session, of its proxy's formats --- */

/* Maximum length of structured data; longer data is omitted. */
#define LOG_FORMAT_SD_MAX 4096

/* A line that is being written. */
struct log_entry {
	struct stream *s;
	enum log_step step;
	enum log_level level;
	struct log_context cx;
};

/* The formats of its proxy have a text for it at this step. */
int log_format_has_line(const struct stream *s, enum log_step step);
/* Writes that text to out, which is empty; JSON takes at most `room` bytes. 1: it is JSON. */
int log_format_line(const struct log_entry *e, size_t room, struct sbuf *out);
/* Writes structured data to out, which is empty. f NULL: none. Its text; NULL: none, or it is too
 * long. */
const char *log_format_sd(const struct log_entry *e, const struct rule_fmt *f,
	const struct cfg_where *where, struct sbuf *out);

#endif
