/*
 * The handshake of WebSocket in HTTP/1 (RFC 6455, 4). HTTP/2 has no keys (RFC 8441, 5): where the
 * two meet, the translating code makes the key for a server, or the answer for a client. Pure.
 */
#ifndef TACIT_HTTP_WEBSOCKET_H
#define TACIT_HTTP_WEBSOCKET_H

#include "http/head.h"

#define WEBSOCKET_NONCE_LEN 16
#define WEBSOCKET_KEY_LEN 24
#define WEBSOCKET_ACCEPT_LEN 28

#define WEBSOCKET_KEY STR("sec-websocket-key")
#define WEBSOCKET_ACCEPT STR("sec-websocket-accept")

/* True if a head asks for a websocket, or agrees to one. */
int websocket_is_named(const struct http_head *h);
/* True if a request asks for a websocket: no other protocol is asked of a server. One with a body
 * is a request like others (RFC 6455, 4.1). */
int websocket_is_wanted(const struct http_head *req);
/* Writes the value of Sec-WebSocket-Key for these random bytes. */
void websocket_key(const uint8_t nonce[WEBSOCKET_NONCE_LEN], char to[WEBSOCKET_KEY_LEN]);
/* Writes the value of Sec-WebSocket-Accept for a key. */
void websocket_accept(const char key[WEBSOCKET_KEY_LEN], char to[WEBSOCKET_ACCEPT_LEN]);

#endif
