/* Fields of PROXY headers that are made from formats (manual 5.2, set-proxy-v2-tlv-fmt). A list, in
 * the order of the configuration, owned by a server's settings. */
#ifndef TACIT_PROXY_MODEL_SERVER_TLV_H
#define TACIT_PROXY_MODEL_SERVER_TLV_H

#include <stdint.h>

#include "base/compiler.h"
#include "cfg/diag.h"
#include "rule/sample/fmt.h"

/* The TLVs of one server. */
#define SERVER_TLVS_MAX 32

struct server_tlv {
	struct server_tlv *next;
	uint8_t type;
	char *text;
	struct cfg_where where;  /* of the text */
	struct rule_fmt *fmt;    /* set after loading */
};

/* Appends one: 0 or -ERR_NOMEM. */
int server_tlv_add(struct server_tlv **list, uint8_t type, const char *text,
	const struct cfg_where *where) must_check;
/* Without compiled formats. 0 or -ERR_NOMEM: *to is empty. */
int server_tlvs_copy(struct server_tlv **to, const struct server_tlv *from) must_check;
void server_tlvs_free(struct server_tlv **list);
unsigned int server_tlvs_count(const struct server_tlv *list);

#endif
