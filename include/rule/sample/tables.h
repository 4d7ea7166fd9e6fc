/* The tables of fetches and converters that do not use patterns. */
#ifndef TACIT_RULE_SAMPLE_TABLES_H
#define TACIT_RULE_SAMPLE_TABLES_H

#include "rule/sample/expr.h"

extern const struct rule_fetch rule_misc_fetches[]; /* constants, dates, random values, variables */
extern const struct rule_fetch rule_head_fetches[]; /* start lines and fields */
extern const struct rule_fetch rule_uri_fetches[];
extern const struct rule_fetch rule_cookie_fetches[];
extern const struct rule_fetch rule_auth_fetches[];
extern const struct rule_fetch rule_body_fetches[]; /* and bytes of mode tcp */
extern const struct rule_fetch rule_hello_fetches[]; /* TLS hellos, RDP cookies */

extern const struct rule_conv rule_text_convs[];
extern const struct rule_conv rule_code_convs[];   /* encodings */
extern const struct rule_conv rule_math_convs[];
extern const struct rule_conv rule_ip_convs[];
extern const struct rule_conv rule_time_convs[];
extern const struct rule_conv rule_hash_convs[];
extern const struct rule_conv rule_digest_convs[];
extern const struct rule_conv rule_var_convs[];
extern const struct rule_conv rule_regsub_convs[];
extern const struct rule_conv rule_json_convs[];
extern const struct rule_conv rule_json_query_convs[];
extern const struct rule_conv rule_protobuf_convs[];
extern const struct rule_conv rule_fix_convs[];
extern const struct rule_conv rule_mqtt_convs[];
extern const struct rule_conv rule_language_convs[];

#endif
