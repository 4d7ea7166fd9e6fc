#define ROWS "unit/rule/oracle_digest.tbl.h"
#include "unit/rule/expr_rig.h"

static void
differs_from_haproxy(void **state)
{
	static char text[2048];

	(void)state;
	IS("str(abc),sha2(255)", "14: 'sha2': SHA-2 has 224, 256, 384 or 512 bits");
	IS("str(abc),digest(nope)", "16: 'digest': no such digest");
	IS("str(abc),hmac(nope,a2V5)", "14: 'hmac': no such digest");
	IS("str(abc),hmac(sha256,!!)",
		"21: 'hmac': the key is base64 (768 bytes at most), or a variable");
	IS("str(abc),hmac(sha256,a2V)",
		"21: 'hmac': the key is base64 (768 bytes at most), or a variable");
	IS("str(a),aes_gcm_dec(64,AAAA,AAAA,AAAA)",
		"19: 'aes_gcm_dec': the number of bits is 128, 192 or 256");
	IS("str(a),aes_gcm_dec(128,!,AAAA,AAAA)",
		"23: 'aes_gcm_dec': the nonce is base64, or a variable");
	IS("str(a),aes_gcm_dec(128,AAAA,AAAA,AAAA)",
		"28: 'aes_gcm_dec': the key is base64 of as many bits, or a variable");
	IS("str(a),aes_gcm_dec(128,AAAA,AAECAwQFBgcICQoLDA0ODw==,AAAA)",
		"53: 'aes_gcm_dec': the tag is base64 of 12 to 16 bytes, or a variable");
	IS("str(a),aes_gcm_dec(128,txn.no,AAECAwQFBgcICQoLDA0ODw==,txn.no)", "(none)");
	memset(text, 0, sizeof(text));
	strcpy(text, "str(abc),hmac(sha256,");
	memset(text + 21, (int)sizeof("") + 64, 1372);
	strcat(text, ")");
	IS(text, "21: 'hmac': the key is base64 (768 bytes at most), or a variable");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_haproxy),
		CASE(differs_from_haproxy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
