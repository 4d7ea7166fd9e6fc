/*
 * Field blocks and heads (RFC 9113, 8): a block becomes a head as data (http/head.h) and the
 * reverse. The meaning of a head does not depend on the version that it came in:
 *
 * - target is absolute, "https://host/path", if there is an :authority, the path otherwise; Host
 *   comes first and is the :authority; the default port of the scheme is left out of both.
 * - Cookie is one field, the last one.
 * - A request of extended CONNECT (RFC 8441) is a GET with Upgrade and Connection. Its 2xx is 101;
 *   websocket is the only protocol that is asked of a server.
 * - framing is CHUNKED where only END_STREAM ends the body. It is TUNNEL for a request of either
 *   CONNECT, and for the response that agrees to it.
 *
 * Pure; memory is the caller's, but for the tables of HPACK.
 */
#ifndef TACIT_H2_H2_HEAD_H
#define TACIT_H2_H2_HEAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "h2/h2_hpack.h"
#include "http/head.h"

/* The reason of a malformed message: h2/h2_bad.tbl.h. H2_BAD_NONE is 0. */
enum h2_bad {
	H2_BAD_NONE,
#define H2_BAD_ROW(id, section, text) H2_BAD_##id,
#include "h2/h2_bad.tbl.h"
#undef H2_BAD_ROW
	H2_BADS
};

const char *h2_bad_section(enum h2_bad bad);
const char *h2_bad_text(enum h2_bad bad);

/* Flags of both directions. */
#define H2_HEAD_ENDED 0x1u    /* END_STREAM: no body follows */
/* Extended CONNECT: a client may use it; a response answers it; a request is sent as one. */
#define H2_HEAD_EXTENDED 0x2u
/* A request is sent over TLS: its :scheme if the target names none. */
#define H2_HEAD_TLS 0x4u

/* A place for a head's texts. In it the head can also be written as HTTP/1: its size there is at
 * most `used`. */
struct h2_texts {
	char *p;
	size_t cap;
	size_t used;
	uint8_t extended; /* it was a request of extended CONNECT */
	uint8_t bad;      /* enum h2_bad, after -ERR_INVAL */
};

/*
 * Decodes a block into a head, which has been initialized with its kind; that of a response with
 * the method of its request, too. The block is read to its end in any case, since the table
 * depends on it. 0; -ERR_INVAL: malformed; -ERR_RANGE: too long, or too many fields; -ERR_SYNTAX
 * or -ERR_NOMEM: the connection has to be ended.
 */
int h2_head_decode(struct h2_hpack *hp, const uint8_t *block, size_t len, unsigned int flags,
	struct http_head *h, struct h2_texts *to) must_check;
/* Decodes a block for its table only: 0, -ERR_SYNTAX or -ERR_NOMEM. */
int h2_head_skip(struct h2_hpack *hp, const uint8_t *block, size_t len) must_check;

/*
 * Encodes a head of any kind. Fields of a connection are left out, Host becomes :authority. The
 * length of the block. -ERR_INVAL: it has an invalid text or no authority; -ERR_RANGE: it does not
 * fit into cap, or a name is too long; both leave the table as it was. -ERR_NOMEM: no other block
 * can be encoded.
 */
long h2_head_encode(struct h2_hpack *hp, const struct http_head *h, unsigned int flags,
	uint8_t *out, size_t cap) must_check;

#endif
