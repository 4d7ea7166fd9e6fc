/* The converters mqtt_is_valid and mqtt_field_value (manual 7.3.1): the first message of a client
 * and of a server of MQTT 3.1, 3.1.1 and 5.0, by the standards of OASIS. */
#include <string.h>
#include <strings.h>

#include "rule/sample/conv.h"

enum mqtt_packet { MQTT_CONNECT = 1, MQTT_CONNACK = 2 };

/* Properties have their numbers (MQTT 5.0, 2.2.2.2), the other fields are behind them. */
#define PROPERTIES 43

enum mqtt_field {
	FIELD_FLAGS = PROPERTIES,
	FIELD_PROTOCOL_NAME,
	FIELD_PROTOCOL_VERSION,
	FIELD_CLIENT_IDENTIFIER,
	FIELD_WILL_TOPIC,
	FIELD_WILL_PAYLOAD,
	FIELD_USERNAME,
	FIELD_PASSWORD,
	FIELD_KEEPALIVE,
	FIELD_REASON_CODE,
	FIELDS
};

/* Places of properties and fields. */
#define IN_CONNECT 1u
#define IN_WILL 2u
#define IN_CONNACK 4u

static const struct {
	const char *name;
	enum mqtt_field field;
	unsigned int in;
} field_names[] = {
	{ "flags", FIELD_FLAGS, IN_CONNECT | IN_CONNACK },
	{ "protocol_name", FIELD_PROTOCOL_NAME, IN_CONNECT },
	{ "protocol_version", FIELD_PROTOCOL_VERSION, IN_CONNECT | IN_CONNACK },
	{ "client_identifier", FIELD_CLIENT_IDENTIFIER, IN_CONNECT },
	{ "will_topic", FIELD_WILL_TOPIC, IN_CONNECT },
	{ "will_payload", FIELD_WILL_PAYLOAD, IN_CONNECT },
	{ "username", FIELD_USERNAME, IN_CONNECT },
	{ "password", FIELD_PASSWORD, IN_CONNECT },
	{ "keepalive", FIELD_KEEPALIVE, IN_CONNECT },
	{ "reason_code", FIELD_REASON_CODE, IN_CONNACK },
};

enum mqtt_form { FORM_NONE, FORM_BOOL, FORM_TWO, FORM_FOUR, FORM_TEXT, FORM_PAIR };

#define PROP_USER 38
#define PROP_METHOD 21
#define PROP_DATA 22

/* By number. */
static const struct mqtt_property {
	uint8_t form;      /* enum mqtt_form; NONE: there is no such property */
	uint8_t in;
	uint8_t is_needed; /* its value is neither 0 nor empty */
} properties[PROPERTIES] = {
	[1] = { FORM_BOOL, IN_WILL, 0 },
	[2] = { FORM_FOUR, IN_WILL, 0 },
	[3] = { FORM_TEXT, IN_WILL, 0 },
	[8] = { FORM_TEXT, IN_WILL, 0 },
	[9] = { FORM_TEXT, IN_WILL, 0 },
	[17] = { FORM_FOUR, IN_CONNECT | IN_CONNACK, 0 },
	[18] = { FORM_TEXT, IN_CONNACK, 1 },
	[19] = { FORM_TWO, IN_CONNACK, 0 },
	[PROP_METHOD] = { FORM_TEXT, IN_CONNECT | IN_CONNACK, 0 },
	[PROP_DATA] = { FORM_TEXT, IN_CONNECT | IN_CONNACK, 0 },
	[23] = { FORM_BOOL, IN_CONNECT, 0 },
	[24] = { FORM_FOUR, IN_WILL, 0 },
	[25] = { FORM_BOOL, IN_CONNECT, 0 },
	[26] = { FORM_TEXT, IN_CONNACK, 0 },
	[28] = { FORM_TEXT, IN_CONNACK, 0 },
	[31] = { FORM_TEXT, IN_CONNACK, 0 },
	[33] = { FORM_TWO, IN_CONNECT | IN_CONNACK, 1 },
	[34] = { FORM_TWO, IN_CONNECT | IN_CONNACK, 0 },
	[36] = { FORM_BOOL, IN_CONNACK, 0 },
	[37] = { FORM_BOOL, IN_CONNACK, 0 },
	[PROP_USER] = { FORM_PAIR, IN_CONNECT | IN_WILL | IN_CONNACK, 0 },
	[39] = { FORM_FOUR, IN_CONNECT | IN_CONNACK, 1 },
	[40] = { FORM_BOOL, IN_CONNACK, 0 },
	[41] = { FORM_BOOL, IN_CONNACK, 0 },
	[42] = { FORM_BOOL, IN_CONNACK, 0 },
};

/* --- arguments --- */

/* A number of digits alone; -1: it is none, or above 99. */
static int
mqtt_number(struct str t)
{
	int n = 0;

	for (size_t i = 0; i < t.len; i++) {
		if (t.p[i] < '0' || t.p[i] > '9' || n > 9)
			return -1;
		n = n * 10 + (t.p[i] - '0');
	}
	return t.len ? n : -1;
}

static int
is_packet(struct str t, const char *name, enum mqtt_packet number)
{
	return strcasecmp(t.p, name) == 0 || mqtt_number(t) == (int)number;
}

/* The field of that name or number in packets of a type; -1: there is none. */
static int
find_mqtt_field(struct str t, unsigned int in)
{
	int n = mqtt_number(t);

	if (n > 0 && n < PROPERTIES && (properties[n].in & in) && n != PROP_USER)
		return n;
	for (size_t i = 0; i < ARRAY_LEN(field_names); i++)
		if ((field_names[i].in & in) && strcasecmp(t.p, field_names[i].name) == 0)
			return (int)field_names[i].field;
	return -1;
}

static int
init_mqtt_field(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	int is_ack = is_packet(a->arg[0].text, "connack", MQTT_CONNACK), field;

	*why = "the type of a packet is connect or 1, or connack or 2";
	if (!is_ack && !is_packet(a->arg[0].text, "connect", MQTT_CONNECT))
		return -1;
	field = find_mqtt_field(a->arg[1].text, is_ack ? IN_CONNACK : IN_CONNECT | IN_WILL);
	*why = "a packet of that type has no such field";
	a->kind = (is_ack ? MQTT_CONNACK : MQTT_CONNECT) << 8 | field;
	return field < 0 ? -1 : 0;
}

/* --- values --- */

struct mqtt_value {
	struct str text;
	uint32_t number;
	uint8_t is_number, is_there;
};

struct mqtt {
	enum mqtt_packet packet;
	struct mqtt_value value[FIELDS];
};

static void
set_mqtt_number(struct mqtt *m, enum mqtt_field field, uint32_t n)
{
	m->value[field] = (struct mqtt_value){ .number = n, .is_number = 1, .is_there = 1 };
}

/* Takes a number of so many bytes: 1, or 0: they are not there. */
static int
take_mqtt_number(struct str *t, unsigned int bytes, uint32_t *n)
{
	if (t->len < bytes)
		return 0;
	*n = 0;
	for (; bytes; bytes--, t->p++, t->len--)
		*n = *n << 8 | (unsigned char)*t->p;
	return 1;
}

/* A text or binary data behind its length. As take_mqtt_number(). */
static int
take_mqtt_text(struct str *t, struct str *out)
{
	uint32_t len;

	if (!take_mqtt_number(t, 2, &len) || t->len < len)
		return 0;
	*out = (struct str){ t->p, len };
	t->p += len;
	t->len -= len;
	return 1;
}

/* A length of one to four bytes: 1; 0: its end is missing; -1: it is longer. */
static int
take_mqtt_length(struct str *t, uint32_t *n)
{
	*n = 0;
	for (unsigned int i = 0; i < 4; i++) {
		uint32_t byte;

		if (!take_mqtt_number(t, 1, &byte))
			return 0;
		*n |= (byte & 0x7f) << 7 * i;
		if (!(byte & 0x80))
			return 1;
	}
	return -1;
}

/* Takes a field: 1, or 0: it is not there. */
static int
take_text_field(struct str *t, struct mqtt *m, enum mqtt_field field)
{
	m->value[field].is_there = 1;
	return take_mqtt_text(t, &m->value[field].text);
}

static int
take_number_field(struct str *t, struct mqtt *m, enum mqtt_field field, unsigned int bytes)
{
	uint32_t n;

	if (!take_mqtt_number(t, bytes, &n))
		return 0;
	set_mqtt_number(m, field, n);
	return 1;
}

/* --- properties --- */

/* Takes the value of a property: 1, or 0: it is missing or not allowed. */
static int
take_property(struct str *t, const struct mqtt_property *p, struct mqtt_value *v)
{
	unsigned int bytes = p->form == FORM_BOOL ? 1 : p->form == FORM_TWO ? 2 : 4;
	struct str key;

	if (p->form == FORM_PAIR)
		return take_mqtt_text(t, &key) && take_mqtt_text(t, &v->text);
	if (p->form == FORM_TEXT)
		return take_mqtt_text(t, &v->text) && !(p->is_needed && !v->text.len);
	return take_mqtt_number(t, bytes, &v->number) && !(p->is_needed && !v->number) &&
		!(p->form == FORM_BOOL && v->number > 1);
}

/* Properties of that place that are numbers are 0, unless they follow. */
static void
presume_numbers(struct mqtt *m, unsigned int in)
{
	for (int i = 0; i < PROPERTIES; i++)
		if ((properties[i].in & in) && properties[i].form < FORM_TEXT)
			m->value[i].is_number = 1;
}

/* Takes all of a place: 1, or 0: they are not valid. */
static int
take_properties(struct str *t, struct mqtt *m, unsigned int in)
{
	struct str list;
	uint32_t len, id;

	if (take_mqtt_length(t, &len) <= 0 || len > t->len)
		return 0;
	list = (struct str){ t->p, len };
	t->p += len;
	t->len -= len;
	presume_numbers(m, in);
	while (take_mqtt_number(&list, 1, &id)) {
		struct mqtt_value *v = id < PROPERTIES ? &m->value[id] : NULL;

		if (!v || !(properties[id].in & in) || (v->is_there && id != PROP_USER))
			return 0;
		v->is_there = 1;
		if (!take_property(&list, &properties[id], v))
			return 0;
	}
	return 1;
}

/* --- packets --- */

#define FLAG_RESERVED 0x01u
#define FLAG_WILL 0x04u
#define FLAG_PASSWORD 0x40u
#define FLAG_USERNAME 0x80u
/* A will, its quality of service and whether it is retained. */
#define FLAGS_OF_WILL 0x3cu
#define QUALITY_3 0x18u

/* As in HAProxy: other flags of a will are not compared with each other, nor a password with a
 * user's name. */
static int
has_valid_flags(uint32_t flags)
{
	return !(flags & FLAG_RESERVED) && (flags & FLAGS_OF_WILL) != QUALITY_3;
}

/* Its protocol, flags and properties: 1, or 0: they are not valid. */
static int
take_connect_head(struct str *t, struct mqtt *m)
{
	struct str name;
	uint32_t level;

	if (!take_text_field(t, m, FIELD_PROTOCOL_NAME) ||
		!take_number_field(t, m, FIELD_PROTOCOL_VERSION, 1) ||
		!take_number_field(t, m, FIELD_FLAGS, 1) ||
		!take_number_field(t, m, FIELD_KEEPALIVE, 2))
		return 0;
	name = m->value[FIELD_PROTOCOL_NAME].text;
	level = m->value[FIELD_PROTOCOL_VERSION].number;
	if (!str_is_nocase(name, STR("MQTT")) && !str_is_nocase(name, STR("MQIsdp")))
		return 0;
	if (level < 3 || level > 5 || !has_valid_flags(m->value[FIELD_FLAGS].number))
		return 0;
	if (level < 5)
		return 1;
	return take_properties(t, m, IN_CONNECT) &&
		!(m->value[PROP_DATA].is_there && !m->value[PROP_METHOD].is_there);
}

static int
take_connect(struct str *t, struct mqtt *m)
{
	uint32_t flags;

	if (!take_connect_head(t, m) || !take_text_field(t, m, FIELD_CLIENT_IDENTIFIER))
		return 0;
	flags = m->value[FIELD_FLAGS].number;
	if ((flags & FLAG_WILL) && m->value[FIELD_PROTOCOL_VERSION].number == 5 &&
		!take_properties(t, m, IN_WILL))
		return 0;
	if ((flags & FLAG_WILL) && (!take_text_field(t, m, FIELD_WILL_TOPIC) ||
		!take_text_field(t, m, FIELD_WILL_PAYLOAD)))
		return 0;
	if ((flags & FLAG_USERNAME) && !take_text_field(t, m, FIELD_USERNAME))
		return 0;
	return !(flags & FLAG_PASSWORD) || take_text_field(t, m, FIELD_PASSWORD);
}

/* A CONNACK does not say its version: since 5.0 it has properties. */
static int
take_connack(struct str *t, struct mqtt *m)
{
	if (!take_number_field(t, m, FIELD_FLAGS, 1) || m->value[FIELD_FLAGS].number > 1 ||
		!take_number_field(t, m, FIELD_REASON_CODE, 1))
		return 0;
	set_mqtt_number(m, FIELD_PROTOCOL_VERSION, t->len ? 5 : 4);
	return !t->len || take_properties(t, m, IN_CONNACK);
}

/* Reads the packet that t begins with: 1; 0: its end is missing; -1: it is not valid, or another
 * one. */
static int
read_mqtt(struct str t, struct mqtt *m)
{
	uint32_t first, len;
	int r;

	memset(m, 0, sizeof(*m));
	if (!take_mqtt_number(&t, 1, &first))
		return 0;
	m->packet = (enum mqtt_packet)(first >> 4);
	if ((first & 0xf) || (m->packet != MQTT_CONNECT && m->packet != MQTT_CONNACK))
		return -1;
	r = take_mqtt_length(&t, &len);
	if (r <= 0)
		return r;
	if (len > t.len)
		return 0;
	t.len = len;
	r = m->packet == MQTT_CONNECT ? take_connect(&t, m) : take_connack(&t, m);
	return r && !t.len ? 1 : -1;
}

/* --- the converters --- */

static int
conv_mqtt_valid(const struct rule_args *a unused, struct sample_ctx *cx unused, struct sample *s)
{
	struct mqtt m;
	int r = read_mqtt(s->u.str, &m);

	if (!r)
		return 0;
	sample_set_bool(s, r > 0);
	return 1;
}

static int
conv_mqtt_value(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct mqtt_value *v;
	struct mqtt m;

	if (read_mqtt(s->u.str, &m) <= 0 || (intptr_t)m.packet != a->kind >> 8)
		return 0;
	v = &m.value[a->kind & 0xff];
	if (v->is_number) {
		sample_set_int(s, v->number);
		return sample_cast(s, SAMPLE_STR, cx->arena) == 0;
	}
	sample_set_str(s, v->text);
	return v->text.len > 0;
}

const struct rule_conv rule_mqtt_convs[] = {
	{ .name = "mqtt_is_valid",
		.in = SAMPLE_BIN,
		.out = SAMPLE_BOOL,
		.conv = conv_mqtt_valid,
		.doc = "True if it begins with a valid CONNECT or CONNACK of MQTT 3.1, 3.1.1 or "
		       "5.0, the first message of a client or of a server. No result while its "
		       "end is missing." },
	{ .name = "mqtt_field_value",
		.arg = { ARG_ENUM, ARG_ENUM },
		.min = 2,
		.in = SAMPLE_BIN,
		.out = SAMPLE_STR,
		.conv = conv_mqtt_value,
		.init = init_mqtt_field,
		.syntax = "<packet>,<field>",
		.example = "req.payload(0,0),mqtt_field_value(connect,client_identifier)",
		.doc = "A field of a valid packet of MQTT. Packets are connect or 1, with "
		       "flags, protocol_name, protocol_version, client_identifier, will_topic, "
		       "will_payload, username, password and keepalive; and connack or 2, with "
		       "flags, protocol_version and reason_code. Properties of MQTT 5.0 have "
		       "their numbers; a number that is missing there is 0. An empty field is no "
		       "result." },
	{ .name = NULL },
};
