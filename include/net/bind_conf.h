/* Allocates and frees the settings of a bind line (struct bind_conf, net/listener.h). */
#ifndef TACIT_NET_BIND_CONF_H
#define TACIT_NET_BIND_CONF_H

#include "base/compiler.h"

struct bind_conf;

/* All settings unset, no listeners. NULL when memory is out. */
struct bind_conf *bind_conf_new(void) must_check;
/* Frees the settings and the listeners, none of which may be open. */
void bind_conf_free(struct bind_conf **b);

#endif
