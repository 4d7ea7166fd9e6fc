/* Unique id settings of a frontend (manual, unique-id-format, unique-id-header). */
#ifndef TACIT_PROXY_MODEL_UNIQUE_ID_CONF_H
#define TACIT_PROXY_MODEL_UNIQUE_ID_CONF_H

#include "cfg/diag.h"

struct rule_fmt;

#define UNIQUE_ID_MAX 127 /* maximum length; longer ids are truncated */

/* The unique-id settings of a frontend. */
struct unique_id_conf {
	char *text;              /* unique-id-format; NULL: none */
	struct cfg_where where;
	struct rule_fmt *fmt;    /* compiled */
	char *header;            /* unique-id-header; NULL: not sent to servers */
	struct cfg_where header_where;
};

#endif
