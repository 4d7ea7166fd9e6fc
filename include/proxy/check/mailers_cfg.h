/* Keywords of alerts by email: sections `mailers`, and `email-alert` in proxies. */
#ifndef TACIT_PROXY_CHECK_MAILERS_CFG_H
#define TACIT_PROXY_CHECK_MAILERS_CFG_H

#include "base/compiler.h"
#include "cfg/registry.h"
#include "proxy/model/mailers.h"

struct cfg_diag;
struct proxies;

extern const struct cfg_module mailers_cfg_module;

/* Copies the lines of the defaults section: 0 or -ERR_NOMEM. */
int email_conf_inherit(struct email_conf **to, const struct email_conf *defaults) must_check;
void email_conf_free(struct email_conf **c);
void mailers_confs_free(struct list *sections);
/* Finds the sections that proxies name. 0, or -1 after errors. */
int mailers_cfg_finish(struct proxies *ps, struct cfg_diag *d) must_check;

#endif
