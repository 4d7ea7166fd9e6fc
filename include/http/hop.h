/*
 * Fields that concern one connection only (RFC 9110, 7.6.1). A proxy forwards none of them: it
 * writes to each side those for that side's connection. No I/O.
 */
#ifndef TACIT_HTTP_HOP_H
#define TACIT_HTTP_HOP_H

#include "http/head.h"

/* Facts of a head, as bits. */
enum http_hop {
	/* Connection lists upgrade, and this is no request of HTTP/1.0 (RFC 9110, 7.8). */
	HTTP_HOP_SWITCH = 1,
	/* Upgrade names a protocol, too: it is left in the head. */
	HTTP_HOP_UPGRADE = 2,
	/* A rule has put close into Connection. */
	HTTP_HOP_CLOSE = 4,
	/* Upgrade has named HTTP/2, or something that is no protocol: it is taken out. */
	HTTP_HOP_REFUSED = 8,
};

/*
 * Drops the fields about the sender's connection; returns bits of enum http_hop. To be called
 * after the rules, which see what arrived. Other fields stay, also those that Connection names: a
 * sender must not be able to remove what a proxy in front of this one has added. Keep-Alive and
 * Proxy-Connection stay if a rule has set them, the latter always if keeps_proxy is set. TE of a
 * request keeps "trailers", Upgrade keeps protocols other than HTTP/2 (h2, h2c), and
 * HTTP2-Settings is dropped: a server that switched to HTTP/2 would be sent requests that no rule
 * has seen.
 */
unsigned int http_strip_hop(struct http_head *h, int keeps_proxy);

/*
 * True if this head, already stripped, asks for a websocket or agrees to one, and lacks the field
 * that a handshake cannot do without: a key of 16 bytes in base64, or the server's answer to it
 * (RFC 6455, 4.1 and 4.2.2).
 */
int http_lacks_websocket(const struct http_head *h);

#endif
