/* Converters that hash (manual 7.3.1). Not for secrets. */
#include <xxhash.h>

#include "base/hash.h"
#include "rule/sample/conv.h"

enum hash { HASH_CRC32, HASH_CRC32C, HASH_DJB2, HASH_SDBM };

static int
conv_hash32(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	struct str t = s->u.str;
	uint32_t h = a->kind == HASH_CRC32 ? hash_crc32(t.p, t.len)
		: a->kind == HASH_CRC32C   ? hash_crc32c(0, t.p, t.len)
		: a->kind == HASH_DJB2     ? hash_djb2(t.p, t.len)
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
		.doc = text ", 32 bits; with an argument other than 0, stirred." }
#define XXH(n, k, text)                                                                  \
	{ .name = n, .arg = { ARG_INT }, .in = SAMPLE_BIN, .out = SAMPLE_SINT,            \
		.conv = conv_xxh, .kind = k, .syntax = "[<seed>]", .doc = text }

const struct rule_conv rule_hash_convs[] = {
	HASH("crc32", HASH_CRC32, "The CRC32 of Ethernet and gzip"),
	HASH("crc32c", HASH_CRC32C, "The CRC32 of SCTP"),
	HASH("djb2", HASH_DJB2, "The hash DJB2"),
	HASH("sdbm", HASH_SDBM, "The hash SDBM"),
	XXH("xxh3", XXH_3, "The XXH3 hash, 64 bits."),
	XXH("xxh32", XXH_OF_32, "The XXH32 hash."),
	XXH("xxh64", XXH_OF_64, "The XXH64 hash."),
	{ .name = NULL },
};
