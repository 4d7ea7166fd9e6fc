/* Converters that make message digests (manual 7.3.1). The one file here that knows OpenSSL. */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <xxhash.h>

#include "base/hash.h"
#include "rule/sample/conv.h"

/* Replaces the text of an argument or variable by its decoded base64. 0: invalid. */
static int
decode_key(struct str text, unsigned char *out, size_t cap, size_t *len)
{
	size_t pad = 0;
	int n;

	if (text.len % 4 || text.len / 4 * 3 > cap)
		return 0;
	while (pad < 2 && pad < text.len && text.p[text.len - 1 - pad] == '=')
		pad++;
	n = EVP_DecodeBlock(out, (const unsigned char *)text.p, (int)text.len);
	if (n < 0)
		return 0;
	*len = (size_t)n - pad;
	return 1;
}

#define KEY_MAX 1024

static int
init_sha2(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	int64_t bits = a->arg[0].type == ARG_INT ? a->arg[0].num : 256;
	const EVP_MD *md = bits == 224 ? EVP_sha224()
		: bits == 256          ? EVP_sha256()
		: bits == 384          ? EVP_sha384()
		: bits == 512          ? EVP_sha512()
				       : NULL;

	a->arg[0].ref = (void *)(uintptr_t)md;
	*why = "SHA-2 has 224, 256, 384 or 512 bits";
	return md ? 0 : -1;
}

static int
init_sha1(struct rule_args *a, const struct rule_vocab *v unused, const char **why unused)
{
	a->arg[0].ref = (void *)(uintptr_t)EVP_sha1();
	return 0;
}

static int
init_digest(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	unsigned char key[KEY_MAX];
	size_t len;

	a->arg[0].ref = (void *)(uintptr_t)EVP_get_digestbyname(a->arg[0].text.p);
	*why = "no such digest";
	if (!a->arg[0].ref)
		return -1;
	a->bad = 1;
	*why = "the key is base64 (768 bytes at most), or a variable";
	return a->arg[1].type == ARG_STR && !decode_key(a->arg[1].text, key, sizeof(key), &len)
		? -1
		: 0;
}

static int
conv_digest(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	char *p = arena_get(cx->arena, EVP_MAX_MD_SIZE);
	unsigned int n = 0;

	if (!p || !EVP_Digest(s->u.str.p, s->u.str.len, (unsigned char *)p, &n, a->arg[0].ref,
			  NULL))
		return 0;
	return conv_bytes(cx, s, p, n);
}

static int
conv_hmac(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	unsigned char key[KEY_MAX];
	struct str text = a->arg[1].text;
	struct sample v;
	unsigned int n = 0;
	size_t len;
	char *p;

	if (a->arg[1].type == ARG_VAR) {
		if (!var_find(cx, a->arg[1].u.var, &v) || sample_cast(&v, SAMPLE_STR, cx->arena))
			return 0;
		text = v.u.str;
	}
	p = arena_get(cx->arena, EVP_MAX_MD_SIZE);
	if (!p || !decode_key(text, key, sizeof(key), &len))
		return 0;
	if (!HMAC(a->arg[0].ref, key, (int)len, (const unsigned char *)s->u.str.p, s->u.str.len,
		    (unsigned char *)p, &n))
		return 0;
	return conv_bytes(cx, s, p, n);
}

/* --- AES-GCM --- */

#define GCM_TAG_MIN 12
#define GCM_TAG_MAX 16
#define GCM_NONCE_MAX 128

static const EVP_CIPHER *
gcm_of_bits(int64_t bits)
{
	return bits == 128 ? EVP_aes_128_gcm()
		: bits == 192 ? EVP_aes_192_gcm()
		: bits == 256 ? EVP_aes_256_gcm()
			      : NULL;
}

/* The decoded bytes of an argument, or of the variable that it names: 1, or 0: there are none. */
static int
decode_argument(const struct rule_arg *a, struct sample_ctx *cx, unsigned char out[KEY_MAX],
	size_t *len)
{
	struct str text = a->text;
	struct sample v;

	if (a->type == ARG_VAR) {
		if (!var_find(cx, a->u.var, &v) || sample_cast(&v, SAMPLE_STR, cx->arena))
			return 0;
		text = v.u.str;
	}
	return decode_key(text, out, KEY_MAX, len);
}

/* The nonce, key and tag of a rule that has them as constants are of the right lengths. */
static int
init_gcm(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	static const char *const bad[] = { "the number of bits is 128, 192 or 256",
		"the nonce is base64, or a variable",
		"the key is base64 of as many bits, or a variable",
		"the tag is base64 of 12 to 16 bytes, or a variable" };
	unsigned char bytes[KEY_MAX];

	a->bad = 0;
	*why = bad[0];
	if (!gcm_of_bits(a->arg[0].num))
		return -1;
	for (int i = 1; i <= 3; i++) {
		size_t len, key = (size_t)a->arg[0].num / 8;
		size_t least = i == 1 ? 1 : i == 2 ? key : GCM_TAG_MIN;
		size_t most = i == 1 ? GCM_NONCE_MAX : i == 2 ? key : GCM_TAG_MAX;

		a->bad = i;
		*why = bad[i];
		if (a->arg[i].type != ARG_STR)
			continue;
		if (!decode_key(a->arg[i].text, bytes, sizeof(bytes), &len) || len < least ||
			len > most)
			return -1;
	}
	return 0;
}

struct gcm {
	unsigned char nonce[KEY_MAX], key[KEY_MAX], tag[KEY_MAX];
	size_t n_nonce, n_key, n_tag;
};

/* True if the n bytes are decrypted to `out`, and are those that the tag is of. */
static int
open_gcm(const EVP_CIPHER *cipher, struct gcm *g, const unsigned char *in, int n,
	unsigned char *out)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int got = 0, end = 0;
	int ok = c && EVP_DecryptInit_ex(c, cipher, NULL, NULL, NULL) == 1 &&
		EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_IVLEN, (int)g->n_nonce, NULL) == 1 &&
		EVP_DecryptInit_ex(c, NULL, NULL, g->key, g->nonce) == 1 &&
		EVP_DecryptUpdate(c, out, &got, in, n) == 1 &&
		EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, (int)g->n_tag, g->tag) == 1 &&
		EVP_DecryptFinal_ex(c, out + got, &end) == 1;

	EVP_CIPHER_CTX_free(c);
	return ok && got + end == n;
}

/* Leaves no bytes behind that fail to decrypt. */
static int
conv_aes_gcm_dec(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct gcm g;
	size_t n = s->u.str.len;
	char *p = arena_get(cx->arena, MAX(n, (size_t)1));
	int ok = p && n <= INT32_MAX && decode_argument(&a->arg[1], cx, g.nonce, &g.n_nonce) &&
		decode_argument(&a->arg[2], cx, g.key, &g.n_key) &&
		decode_argument(&a->arg[3], cx, g.tag, &g.n_tag) && g.n_nonce &&
		g.n_nonce <= GCM_NONCE_MAX && g.n_key == (size_t)a->arg[0].num / 8 &&
		g.n_tag >= GCM_TAG_MIN && g.n_tag <= GCM_TAG_MAX &&
		open_gcm(gcm_of_bits(a->arg[0].num), &g, (const unsigned char *)s->u.str.p, (int)n,
			(unsigned char *)p);

	OPENSSL_cleanse(&g, sizeof(g));
	if (!ok && p)
		memset(p, 0, n);
	return ok && conv_bytes(cx, s, p, n);
}

#define BYTES .in = SAMPLE_BIN, .out = SAMPLE_BIN

const struct rule_conv rule_digest_convs[] = {
	{ .name = "aes_gcm_dec",
		.example = "var(txn.sealed),b64dec,aes_gcm_dec(128,txn.nonce,txn.key,txn.tag)",
		BYTES,
		.arg = { ARG_INT, ARG_STRVAR, ARG_STRVAR, ARG_STRVAR },
		.min = 4,
		.conv = conv_aes_gcm_dec,
		.init = init_gcm,
		.syntax = "<bits>,<nonce>,<key>,<tag>",
		.doc = "Decrypts by AES-GCM with a key of 128, 192 or 256 bits. Nonce, key and the "
		       "tag, of 12 to 16 bytes, are in base64, or variables that have them so. No "
		       "value if the tag is not that of these bytes." },
	{ .name = "digest",
		.example = "str(a),digest(md5),hex gives 0CC175B9C0F1B6A831C399E269772661",
		BYTES,
		.arg = { ARG_ENUM },
		.min = 1,
		.conv = conv_digest,
		.init = init_digest,
		.syntax = "<algorithm>",
		.doc = "A message digest, by its OpenSSL name." },
	{ .name = "hmac",
		BYTES,
		.arg = { ARG_ENUM, ARG_STRVAR },
		.min = 2,
		.conv = conv_hmac,
		.init = init_digest,
		.syntax = "<algorithm>,<key>|<variable>",
		.doc = "A message authentication code; the key is in base64." },
	{ .name = "sha1",
		BYTES,
		.conv = conv_digest,
		.init = init_sha1,
		.doc = "The SHA-1 digest.",
		.example = "str(a),sha1,hex gives 86F7E437FAA5A7FCE15D1DDCB9EAEAEA377667B8" },
	{ .name = "sha2",
		BYTES,
		.arg = { ARG_INT },
		.conv = conv_digest,
		.init = init_sha2,
		.syntax = "[224|256|384|512]",
		.doc = "The SHA-2 digest of this many bits (256)." },
	{ .name = NULL },
};

/* --- hashes ---------------------------------------------------------------------------------- */

/* Converters that hash (manual 7.3.1). Not for secrets. */

enum hash32 { HASH32_CRC32, HASH32_CRC32C, HASH32_DJB2, HASH32_SDBM };

static int
conv_hash32(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	struct str t = s->u.str;
	uint32_t h = a->kind == HASH32_CRC32 ? hash_crc32(t.p, t.len)
		: a->kind == HASH32_CRC32C   ? hash_crc32c(0, t.p, t.len)
		: a->kind == HASH32_DJB2     ? hash_djb2(t.p, t.len)
					   : hash_sdbm(t.p, t.len);

	sample_set_int(s, a->arg[0].num ? hash_avalanche(h) : h);
	return 1;
}

enum xxh { XXH_OF_32, XXH_OF_64, XXH_3 };

static int
conv_xxh(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	struct str t = s->u.str;
	uint64_t seed = (uint64_t)a->arg[0].num;

	sample_set_int(s, a->kind == XXH_OF_32 ? (int64_t)XXH32(t.p, t.len, (uint32_t)seed)
		: a->kind == XXH_OF_64         ? (int64_t)XXH64(t.p, t.len, seed)
					: (int64_t)XXH3_64bits_withSeed(t.p, t.len, seed));
	return 1;
}

#define HASH(n, k, text)                                                                 \
	{ .name = n, .arg = { ARG_INT }, .in = SAMPLE_BIN, .out = SAMPLE_SINT,            \
		.conv = conv_hash32, .kind = k, .syntax = "[<avalanche>]",                \
		.doc = text ", 32 bits; an argument other than 0 mixes them once more." }
#define XXH(n, k, text)                                                                  \
	{ .name = n, .arg = { ARG_INT }, .in = SAMPLE_BIN, .out = SAMPLE_SINT,            \
		.conv = conv_xxh, .kind = k, .syntax = "[<seed>]", .doc = text }

const struct rule_conv rule_hash_convs[] = {
	HASH("crc32", HASH32_CRC32, "The CRC32 of Ethernet and gzip"),
	HASH("crc32c", HASH32_CRC32C, "The CRC32 of SCTP"),
	HASH("djb2", HASH32_DJB2, "The hash DJB2"),
	HASH("sdbm", HASH32_SDBM, "The hash SDBM"),
	XXH("xxh3", XXH_3, "The XXH3 hash, 64 bits."),
	XXH("xxh32", XXH_OF_32, "The XXH32 hash."),
	XXH("xxh64", XXH_OF_64, "The XXH64 hash."),
	{ .name = NULL },
};
