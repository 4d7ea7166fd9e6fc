/* The cookie that an RDP client begins with: an X.224 connection request with "Cookie: name=value"
 * (MS-RDPBCGR 2.2.1.1). */
#ifndef TACIT_RULE_SAMPLE_RDP_H
#define TACIT_RULE_SAMPLE_RDP_H

#include <stdint.h>

#include "base/str.h"

enum rdp_found { RDP_NOT, RDP_MORE, RDP_COOKIE };

/* Finds it in the first bytes of a connection. RDP_MORE: more bytes may bring it. */
enum rdp_found rdp_find_cookie(struct str bytes, struct str *name, struct str *value);
/* True if it is there and has this name, in any case. */
int rdp_find_named(struct str bytes, const char *name, struct str *value);
/*
 * The server that a routing token names, as numbers: "<address>.<port>.<anything>", both as a
 * little-endian machine reads them in the network's byte order. 0, or -1: it is no token.
 */
int rdp_parse_token(struct str value, uint32_t *ip, uint16_t *port);

#endif
