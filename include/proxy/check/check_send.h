/*
 * The bytes that a health check sends (manual 4.2: http-check send, tcp-check send). Pure: no
 * descriptor, no clock.
 */
#ifndef TACIT_PROXY_CHECK_CHECK_SEND_H
#define TACIT_PROXY_CHECK_CHECK_SEND_H

#include "base/compiler.h"
#include "base/sbuf.h"
#include "base/str.h"
#include "proxy/model/check_conf.h"

struct sample_ctx;

/*
 * Appends the bytes of a rule to out. state_header: the value of X-Haproxy-Server-State (http-check
 * send-state), or empty. is_h2: it becomes one of HTTP/2, and is of HTTP/1.0, which
 * needs no Host. 0; -ERR_RANGE: they do not fit; -ERR_SYNTAX: a format has not made
 * hexadecimal digits.
 */
int check_send_build(const struct check_send *s, struct sample_ctx *cx, struct str state_header,
	int is_h2, struct sbuf *out) must_check;

/* The value of the request's field Host, p NULL: none; it may lie in the arena. 0 or -ERR_RANGE. */
int check_send_host(const struct check_send *s, struct sample_ctx *cx, struct str *out) must_check;

/*
 * Replaces the hexadecimal digits of b from offset `from` on by the bytes that they mean. 0 or
 * -ERR_SYNTAX.
 */
int check_unhex(struct sbuf *b, size_t from) must_check;

#endif
