/* Creating, copying and freeing the configuration of proxies. */
#ifndef TACIT_PROXY_CONFIG_PROXY_LIFE_H
#define TACIT_PROXY_CONFIG_PROXY_LIFE_H

#include "proxy/model/proxies.h"

struct proxy *proxy_new(const char *name, unsigned int caps) must_check;
void proxy_free(struct proxy **p);
/* Copies the settings of a defaults section (not binds and servers). 0 or a negative reason. */
int proxy_inherit(struct proxy *p, const struct proxy *defaults) must_check;

void proxies_init(struct proxies *ps);
void proxies_fini(struct proxies *ps);

#endif
