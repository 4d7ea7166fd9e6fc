#include "app/modules.h"

#include "app/global.h"
#include "cfg/env_cfg.h"
#include "net/bind_cfg.h"
#include "proxy/capture_cfg.h"
#include "proxy/errors_cfg.h"
#include "proxy/forward_cfg.h"
#include "proxy/http_cfg.h"
#include "proxy/log_cfg.h"
#include "proxy/proxy_cfg.h"
#include "proxy/rules_cfg.h"
#include "proxy/unique_id_cfg.h"
#include "proxy/userlist_cfg.h"

static const struct cfg_module *const modules[] = {
	&global_cfg_module,
	&cpu_map_module,
	&tune_cfg_module,
	&bounds_cfg_module,
	&splice_cfg_module,
	&global_hints_module,
	&env_cfg_module,
	&bind_cfg_module,
	&proxy_cfg_module,
	&timeouts_cfg_module,
	&http_cfg_module,
	&errors_cfg_module,
	&forward_cfg_module,
	&rules_cfg_module,
	&server_cfg_module,
	&balance_cfg_module,
	&persist_cfg_module,
	&log_cfg_module,
	&capture_cfg_module,
	&unique_id_cfg_module,
	&userlist_cfg_module,
};

int
modules_register(struct cfg_registry *reg, const char **culprit)
{
	for (size_t i = 0; i < ARRAY_LEN(modules); i++) {
		int r = cfg_registry_add(reg, modules[i]);

		if (r) {
			*culprit = modules[i]->name;
			return r;
		}
	}
	return 0;
}
