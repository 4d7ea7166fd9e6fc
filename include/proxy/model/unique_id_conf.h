/* What a frontend says about unique ids (manual, unique-id-format, unique-id-header). */
#ifndef TACIT_PROXY_MODEL_UNIQUE_ID_CONF_H
#define TACIT_PROXY_MODEL_UNIQUE_ID_CONF_H

#include "cfg/diag.h"

struct rule_fmt;

#define UNIQUE_ID_MAX 127 /* bytes of one: the rest is cut */

/* Of a frontend. */
struct unique_id_conf {
	char *text;              /* unique-id-format; NULL: there are none */
	struct cfg_where where;
	struct rule_fmt *fmt;    /* compiled */
	char *header;            /* unique-id-header; NULL: servers are not told */
	struct cfg_where header_where;
};

#endif
