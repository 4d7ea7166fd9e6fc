#define ROWS "unit/rule/oracle_mqtt.tbl.h"
#include "unit/rule/expr_rig.h"

#define TYPES "'mqtt_field_value': the type of a packet is connect or 1, or connack or 2"
#define NONE "'mqtt_field_value': a packet of that type has no such field"

static void
differs_from_haproxy(void **state)
{
	(void)state;
	/* a property that there is not: HAProxy has no result */
	IS("bin(20050000026301),mqtt_is_valid", "0");
	/* one that belongs to CONNECT */
	IS("bin(20050000021901),mqtt_is_valid", "0");
	/* a server sends more at once */
	IS("bin(20020000d000),mqtt_is_valid", "1");
	IS("bin(20020000d000),mqtt_field_value(connack,reason_code)", "0");
}

/* As HAProxy: all 256 flags were compared with it. */
static void
flags_of_a_will(void **state)
{
	(void)state;
	/* a will, and quality 1 without one */
	IS("bin(101300044d515454040e003c000163000174000170),mqtt_is_valid", "1");
	IS("bin(100d00044d515454040a003c000163),mqtt_is_valid", "1");
	/* quality 3, and with a bit that is reserved */
	IS("bin(100d00044d515454041a003c000163),mqtt_is_valid", "0");
	IS("bin(100d00044d5154540403003c000163),mqtt_is_valid", "0");
}

static void
bad_arguments(void **state)
{
	(void)state;
	IS("str(a),mqtt_field_value", "23: 'mqtt_field_value' needs a string as argument 1");
	IS("str(a),mqtt_field_value(connect)",
		"31: 'mqtt_field_value' needs a string as argument 2");
	IS("str(a),mqtt_field_value(publish,1)", "24: " TYPES);
	IS("str(a),mqtt_field_value(3,flags)", "24: " TYPES);
	IS("str(a),mqtt_field_value(connect,reason_code)", "24: " NONE);
	IS("str(a),mqtt_field_value(connack,username)", "24: " NONE);
	IS("str(a),mqtt_field_value(connect,36)", "24: " NONE);
	IS("str(a),mqtt_field_value(connack,24)", "24: " NONE);
	IS("str(a),mqtt_field_value(connect,38)", "24: " NONE);
	IS("str(a),mqtt_field_value(connect,43)", "24: " NONE);
	IS("str(a),mqtt_field_value(connect,999999999999)", "24: " NONE);
	IS("str(a),mqtt_field_value(connect,0)", "24: " NONE);
	IS("str(a),mqtt_field_value(CONNECT,Client_Identifier)", "(none)");
}

/* While a packet comes in, the result is open; then it is valid, whatever follows. */
static void
coming_packet(void **state)
{
	/* MQTT 3.1.1, clean, 60 s, "id" */
	static const char whole[] = "100e00044d5154540402003c00026964";
	char text[128];

	(void)state;
	for (size_t n = 2; n < sizeof(whole); n += 2) {
		(void)snprintf(text, sizeof(text), "bin(%.*s),mqtt_is_valid", (int)n, whole);
		IS(text, n == sizeof(whole) - 1 ? "1" : "(none)");
		(void)snprintf(text, sizeof(text),
			"bin(%.*s),mqtt_field_value(connect,client_identifier)", (int)n, whole);
		IS(text, n == sizeof(whole) - 1 ? "id" : "(none)");
	}
	(void)snprintf(text, sizeof(text), "bin(%s10),mqtt_is_valid", whole);
	IS(text, "1");
}

/* A length that does not reach the end of its fields, whichever it is. */
static void
cut_packets(void **state)
{
	/* MQTT 5.0 with a will, a user and a password */
	static const char fields[] =
		"00044d51545405c6003c05210014220000026964032100010001740001700001750001";
	char text[256];

	(void)state;
	for (unsigned int n = 0; 2 * n < sizeof(fields) - 1; n++) {
		(void)snprintf(text, sizeof(text), "bin(10%02x%.*s),mqtt_is_valid", n, (int)(2 * n),
			fields);
		IS(text, "0");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_haproxy),
		CASE(differs_from_haproxy),
		CASE(flags_of_a_will),
		CASE(bad_arguments),
		CASE(coming_packet),
		CASE(cut_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
