/* Log formats (configuration manual, 8.2): a string compiled to a list of nodes, written out per
 * session. */
#ifndef TACIT_PROXY_LOG_FORMAT_H
#define TACIT_PROXY_LOG_FORMAT_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/sbuf.h"
#include "base/wall.h"

#define LOG_FORMAT_NODES_MAX 1024 /* of one format: a line has at most so many parts */
#define LOG_FORMAT_ERR_MAX 160

/* `option tcplog` (manual 8.2.2) */
#define LOG_FORMAT_TCP "%ci:%cp [%t] %ft %b/%s %Tw/%Tc/%Tt %B %ts %ac/%fc/%bc/%sc/%rc %sq/%bq"

/* From when on everything a format asks for is known; it is written then. */
enum log_stage { LOG_STAGE_ACCEPT, LOG_STAGE_CONNECT, LOG_STAGE_END };

struct log_format;
struct log_ident;
struct session;
struct sys;

struct log_format_err {
	size_t at; /* offset of what is wrong */
	char text[LOG_FORMAT_ERR_MAX];
};

/* What a line needs besides its session. */
struct log_context {
	struct sys *sys; /* for addresses nobody has asked for yet; NULL: written as "-" */
	const struct log_ident *id;  /* %H, %pid */
	struct wall *wall;
	uint64_t now_ms;             /* the loop's clock: the end of Tt */
	int asap;                    /* option logasap: totals are marked with + */
	uint64_t count;              /* lines of this frontend before it: %lc */
};

/* 0, or a negative reason with why filled in. */
int log_format_compile(
	const char *text, struct log_format **out, struct log_format_err *why) must_check;
void log_format_free(struct log_format **f);
enum log_stage log_format_stage(const struct log_format *f);
/* Appends the line of s. */
void log_format_render(const struct log_format *f, const struct session *s,
	const struct log_context *cx, struct sbuf *out);
/* The format of frontends that ask for none: "Connect from ..." (manual 8.2.1). Known at accept. */
void
log_format_render_default(const struct session *s, const struct log_context *cx, struct sbuf *out);

#endif
