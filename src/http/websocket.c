/* Keys of WebSocket: base64 and SHA-1, which protect nothing here. Pure. */
#include "http/websocket.h"

#include <string.h>

#define SHA_BLOCK 64
#define SHA_WORDS 5

static uint32_t
rotate_left(uint32_t x, unsigned int n)
{
	return x << n | x >> (32 - n);
}

/* The function and the constant of a round (FIPS 180-4, 4.1.1 and 4.2.1). */
static uint32_t
round_term(unsigned int i, const uint32_t *v)
{
	if (i < 20)
		return ((v[1] & v[2]) | (~v[1] & v[3])) + 0x5a827999u;
	if (i < 40)
		return (v[1] ^ v[2] ^ v[3]) + 0x6ed9eba1u;
	if (i < 60)
		return ((v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3])) + 0x8f1bbcdcu;
	return (v[1] ^ v[2] ^ v[3]) + 0xca62c1d6u;
}

static void
add_sha_block(uint32_t *sum, const uint8_t *p)
{
	uint32_t w[80], v[SHA_WORDS], t;

	for (unsigned int i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
			(uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
	for (unsigned int i = 16; i < 80; i++)
		w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(v, sum, sizeof(v));
	for (unsigned int i = 0; i < 80; i++) {
		t = rotate_left(v[0], 5) + round_term(i, v) + v[4] + w[i];
		v[4] = v[3];
		v[3] = v[2];
		v[2] = rotate_left(v[1], 30);
		v[1] = v[0];
		v[0] = t;
	}
	for (unsigned int i = 0; i < SHA_WORDS; i++)
		sum[i] += v[i];
}

/* Writes n bytes as base64 with padding. */
static void
put_base64(const uint8_t *p, size_t n, char *to)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t x = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
			(i + 2 < n ? p[i + 2] : 0);

		*to++ = digit[x >> 18];
		*to++ = digit[x >> 12 & 63];
		*to++ = i + 1 < n ? digit[x >> 6 & 63] : '=';
		*to++ = i + 2 < n ? digit[x & 63] : '=';
	}
}

int
websocket_is_named(const struct http_head *h)
{
	return http_lists(h, HTTP_F_UPGRADE, STR("websocket"));
}

int
websocket_is_wanted(const struct http_head *req)
{
	int at = http_find_id(req, HTTP_F_UPGRADE, 0);

	return at >= 0 && req->method == HTTP_GET && req->framing == HTTP_BODY_NONE &&
		str_is_nocase(req->field[at].value, STR("websocket")) &&
		http_lists(req, HTTP_F_CONNECTION, STR("upgrade"));
}

void
websocket_key(const uint8_t nonce[WEBSOCKET_NONCE_LEN], char to[WEBSOCKET_KEY_LEN])
{
	put_base64(nonce, WEBSOCKET_NONCE_LEN, to);
}

void
websocket_accept(const char key[WEBSOCKET_KEY_LEN], char to[WEBSOCKET_ACCEPT_LEN])
{
	static const char suffix[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	enum { TEXT_LEN = WEBSOCKET_KEY_LEN + sizeof(suffix) - 1 };
	uint32_t sum[SHA_WORDS] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	uint8_t block[2 * SHA_BLOCK] = { 0 }, digest[4 * SHA_WORDS];

	memcpy(block, key, WEBSOCKET_KEY_LEN);
	memcpy(block + WEBSOCKET_KEY_LEN, suffix, sizeof(suffix) - 1);
	block[TEXT_LEN] = 0x80;
	block[sizeof(block) - 2] = (uint8_t)(TEXT_LEN * 8 >> 8);
	block[sizeof(block) - 1] = (uint8_t)(TEXT_LEN * 8 & 0xff);
	add_sha_block(sum, block);
	add_sha_block(sum, block + SHA_BLOCK);
	for (unsigned int i = 0; i < sizeof(digest); i++)
		digest[i] = (uint8_t)(sum[i / 4] >> (24 - 8 * (i % 4)));
	put_base64(digest, sizeof(digest), to);
}
