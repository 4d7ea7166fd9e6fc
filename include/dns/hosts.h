/* Names of the file of hosts, hosts(5). */
#ifndef TACIT_DNS_HOSTS_H
#define TACIT_DNS_HOSTS_H

#include "base/compiler.h"
#include "net/addr.h"

#define HOSTS_FILE "/etc/hosts"
#define HOSTS_MAX (1u << 20) /* bytes of the file */

/* The address of a name in the text of such a file, with port 0: the first IPv4 address, else the
 * first IPv6 address, of the lines that have the name. 0, or -ERR_MISSING. */
int hosts_find(const char *text, const char *name, struct addr *out) must_check;

#endif
