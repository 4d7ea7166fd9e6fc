/* Adds this layer's fetches and converters to the vocabulary. Main thread, at start. */
#include "rule/match/tables.h"

#include "rule/match/map.h"
#include "rule/sample/tables.h"

int
rule_tables_add(struct rule_vocab *v)
{
	static const struct rule_fetch *const fetches[] = {
		rule_misc_fetches,
		rule_head_fetches,
		rule_uri_fetches,
		rule_cookie_fetches,
		rule_auth_fetches,
		rule_body_fetches,
		rule_hello_fetches,
	};
	static const struct rule_conv *const convs[] = {
		rule_map_convs,
		rule_text_convs,
		rule_code_convs,
		rule_math_convs,
		rule_ip_convs,
		rule_time_convs,
		rule_hash_convs,
		rule_digest_convs,
		rule_var_convs,
		rule_regsub_convs,
		rule_json_convs,
		rule_json_query_convs,
		rule_protobuf_convs,
		rule_fix_convs,
		rule_mqtt_convs,
		rule_language_convs,
	};
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_LEN(fetches); i++)
		r = rule_vocab_add_fetches(v, fetches[i]);
	for (size_t i = 0; !r && i < ARRAY_LEN(convs); i++)
		r = rule_vocab_add_convs(v, convs[i]);
	return r;
}
