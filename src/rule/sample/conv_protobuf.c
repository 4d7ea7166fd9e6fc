/* The converters protobuf and ungrpc (manual 7.3.1): a field of a protocol buffers message, which
 * may be framed by gRPC. The encoding is that of
 * https://protobuf.dev/programming-guides/encoding/. */
#include "base/mem.h"
#include "rule/sample/conv.h"

#define FIELD_MAX 536870911 /* 2^29 - 1 */
#define GRPC_HEAD 5         /* a flag, and a length of 4 bytes */

enum wire { WIRE_VARINT, WIRE_64, WIRE_LEN, WIRE_32 = 5 };

enum field_value { AS_IS, AS_ZIGZAG, AS_SIGNED32, AS_UNSIGNED32, AS_DOUBLE, AS_FLOAT };

struct field_type {
	struct str name;
	enum wire wire;
	enum field_value value;
};

static const struct field_type field_types[] = {
	{ { "int32", 5 }, WIRE_VARINT, AS_IS },
	{ { "int64", 5 }, WIRE_VARINT, AS_IS },
	{ { "uint32", 6 }, WIRE_VARINT, AS_IS },
	{ { "uint64", 6 }, WIRE_VARINT, AS_IS },
	{ { "sint32", 6 }, WIRE_VARINT, AS_ZIGZAG },
	{ { "sint64", 6 }, WIRE_VARINT, AS_ZIGZAG },
	{ { "bool", 4 }, WIRE_VARINT, AS_IS },
	{ { "enum", 4 }, WIRE_VARINT, AS_IS },
	{ { "fixed64", 7 }, WIRE_64, AS_IS },
	{ { "sfixed64", 8 }, WIRE_64, AS_IS },
	{ { "double", 6 }, WIRE_64, AS_DOUBLE },
	{ { "fixed32", 7 }, WIRE_32, AS_UNSIGNED32 },
	{ { "sfixed32", 8 }, WIRE_32, AS_SIGNED32 },
	{ { "float", 5 }, WIRE_32, AS_FLOAT },
};

/* The way through nested messages. */
struct field_path {
	size_t n;
	uint32_t number[];
};

/* --- arguments --- */

/* "48.59.1". NULL: it is not such a thing, or memory is out. */
static struct field_path *
parse_field_path(struct str t)
{
	struct field_path *path = mem_zalloc(sizeof(*path) + (t.len + 1) * sizeof(*path->number));
	int digits = 0;

	for (size_t i = 0; path && i <= t.len; i++) {
		uint32_t *v = &path->number[path->n];

		if (i < t.len && t.p[i] >= '0' && t.p[i] <= '9' && *v <= FIELD_MAX / 10) {
			*v = *v * 10 + (uint32_t)(t.p[i] - '0');
			digits = 1;
			continue;
		}
		if ((i < t.len && t.p[i] != '.') || !digits || *v == 0 || *v > FIELD_MAX) {
			mem_free(path);
			return NULL;
		}
		path->n++;
		digits = 0;
	}
	return path;
}

static int
init_field(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	*why = "a field is a number from 1 to 536870911; '.' leads into a message";
	a->arg[0].ref = parse_field_path(a->arg[0].text);
	if (!a->arg[0].ref)
		return -1;
	if (a->n < 2)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(field_types); i++) {
		if (!str_is(field_types[i].name, a->arg[1].text))
			continue;
		a->arg[1].ref = (void *)(uintptr_t)&field_types[i];
		return 0;
	}
	a->bad = 1;
	*why = "the type is int32, int64, uint32, uint64, sint32, sint64, bool, enum, fixed64, "
	       "sfixed64, double, fixed32, sfixed32 or float";
	return -1;
}

static void
free_field(struct rule_args *a)
{
	mem_free(a->arg[0].ref);
	a->arg[0].ref = NULL;
}

/* --- messages --- */

/* Takes a number in base 128. 0, or -1: it is cut off, or has more than 64 bits. */
static int
take_varint(struct str *t, uint64_t *out)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < 10 && i < t->len; i++) {
		unsigned char c = (unsigned char)t->p[i];

		if (i == 9 && c > 1)
			return -1;
		v |= (uint64_t)(c & 0x7f) << (7 * i);
		if (c & 0x80)
			continue;
		*t = (struct str){ t->p + i + 1, t->len - i - 1 };
		*out = v;
		return 0;
	}
	return -1;
}

/* Takes a field. value: as it stands, without a length. Groups, which are obsolete, are invalid. */
static int
take_wire_field(struct str *t, uint64_t *number, enum wire *wire, struct str *value)
{
	uint64_t tag, len = 0;
	struct str from;

	if (take_varint(t, &tag))
		return -1;
	*number = tag >> 3;
	*wire = (enum wire)(tag & 7);
	from = *t;
	switch (*wire) {
	case WIRE_VARINT:
		if (take_varint(t, &len))
			return -1;
		*value = (struct str){ from.p, from.len - t->len };
		return 0;
	case WIRE_LEN:
		if (take_varint(t, &len))
			return -1;
		break;
	case WIRE_64:
		len = 8;
		break;
	case WIRE_32:
		len = 4;
		break;
	default:
		return -1;
	}
	if (len > t->len)
		return -1;
	*value = (struct str){ t->p, (size_t)len };
	*t = (struct str){ t->p + len, t->len - (size_t)len };
	return 0;
}

/* The first field at the end of the path. */
static int
find_wire_field(const struct field_path *path, struct str t, enum wire *wire, struct str *value)
{
	uint64_t number;

	for (size_t i = 0; i < path->n; i++) {
		do {
			if (take_wire_field(&t, &number, wire, value))
				return 0;
		} while (number != path->number[i]);
		if (i + 1 < path->n && *wire != WIRE_LEN)
			return 0;
		t = *value;
	}
	return 1;
}

/* Without its fraction; the nearest that fits, 0 for what is no number. */
static int64_t
double_to_int(double d)
{
	if (d != d)
		return 0;
	if (d >= 0x1p63)
		return INT64_MAX;
	return d < -0x1p63 ? INT64_MIN : (int64_t)d;
}

static int64_t
wire_number(const struct field_type *type, struct str value)
{
	uint64_t v = 0;
	uint32_t half;
	double d;
	float f;

	if (type->wire == WIRE_VARINT)
		(void)take_varint(&value, &v);
	else
		for (size_t i = value.len; i-- > 0;)
			v = v << 8 | (unsigned char)value.p[i];
	half = (uint32_t)v;
	switch (type->value) {
	case AS_ZIGZAG:
		return (int64_t)(v >> 1 ^ -(v & 1));
	case AS_SIGNED32:
		return (int32_t)half;
	case AS_DOUBLE:
		memcpy(&d, &v, sizeof(d));
		return double_to_int(d);
	case AS_FLOAT:
		memcpy(&f, &half, sizeof(f));
		return double_to_int((double)f);
	case AS_IS:
	case AS_UNSIGNED32:
		break;
	}
	return (int64_t)v;
}

/* kind: with the head of gRPC. A message marked as compressed cannot be read. */
static int
conv_wire_field(const struct rule_args *a, struct sample_ctx *cx unused, struct sample *s)
{
	const struct field_type *type = a->arg[1].ref;
	struct str t = s->u.str, value = { NULL, 0 };
	enum wire wire = WIRE_LEN;
	uint32_t len = 0;

	if (a->kind) {
		if (t.len < GRPC_HEAD || t.p[0] != 0)
			return 0;
		for (int i = 1; i < GRPC_HEAD; i++)
			len = len << 8 | (unsigned char)t.p[i];
		if (len > t.len - GRPC_HEAD)
			return 0;
		t = (struct str){ t.p + GRPC_HEAD, len };
	}
	if (!find_wire_field(a->arg[0].ref, t, &wire, &value) || (type && type->wire != wire))
		return 0;
	if (type) {
		sample_set_int(s, wire_number(type, value));
		return 1;
	}
	sample_set_str(s, value);
	s->type = SAMPLE_BIN;
	return 1;
}

#define WIRE_CONV(n, k, text)                                                            \
	{ .name = n, .arg = { ARG_ENUM, ARG_ENUM }, .min = 1, .in = SAMPLE_BIN,           \
		.out = SAMPLE_ANY, .conv = conv_wire_field, .init = init_field,           \
		.free = free_field, .kind = k, .syntax = "<field>[.<field>...][,<type>]", \
		.doc = text }

const struct rule_conv rule_protobuf_convs[] = {
	WIRE_CONV("protobuf", 0,
		"A field of a protocol buffers message: its bytes, or with a type, such as int32 "
		"or double, an integer."),
	WIRE_CONV("ungrpc", 1,
		"As protobuf, in the first message of gRPC's framing; none if it is compressed."),
	{ .name = NULL },
};
