/* The list of all configuration modules. Constant data; a keyword of a module that is not
 * listed is unknown. */
#include "app/config/modules.h"

#include "app/config/crt_store_cfg.h"
#include "app/config/global.h"
#include "app/config/tls_cfg.h"
#include "cfg/env.h"
#include "net/bind_cfg.h"
#include "proxy/check/mailers_cfg.h"
#include "proxy/config/capture_cfg.h"
#include "proxy/config/check_cfg.h"
#include "proxy/config/proxies_finish.h"
#include "proxy/config/http_error_cfg.h"
#include "proxy/config/forward_cfg.h"
#include "proxy/config/proxy_cfg_options.h"
#include "proxy/config/http_cfg.h"
#include "proxy/config/log_cfg.h"
#include "proxy/config/name_case_cfg.h"
#include "proxy/config/peers_cfg.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/config/resolvers_cfg.h"
#include "proxy/config/ring_cfg.h"
#include "proxy/config/rules_cfg.h"
#include "proxy/config/server_name_cfg.h"
#include "proxy/config/server_proxy_cfg.h"
#include "proxy/config/server_cfg.h"
#include "proxy/config/server_tls_cfg.h"
#include "proxy/config/stats_cfg.h"
#include "proxy/config/table_cfg.h"
#include "proxy/config/unique_id_cfg.h"
#include "proxy/config/userlist_cfg.h"
#include "proxy/filter/bwlim.h"
#include "proxy/filter/cache_cfg.h"
#include "proxy/filter/cache_filter.h"
#include "proxy/filter/compress.h"
#include "proxy/filter/sequence.h"
#include "proxy/filter/spoe.h"
#include "tls/bind_cfg_tls.h"

static const struct cfg_module *const modules[] = {
	&global_cfg_module,
	&confine_cfg_module,
	&cpu_map_module,
	&tune_cfg_module,
	&bounds_cfg_module,
	&compression_cfg_module,
	&tls_cfg_module,
	&crt_store_cfg_module,
	&vars_cfg_module,
	&h2_cfg_module,
	&global_hints_module,
	&env_cfg_module,
	&bind_cfg_module,
	&bind_cfg_tls_module,
	&proxy_cfg_module,
	&proxy_cfg_options_module,
	&dispatch_cfg_module,
	&timeouts_cfg_module,
	&http_cfg_module,
	&name_case_cfg_module,
	&errors_cfg_module,
	&http_error_cfg_module,
	&forward_cfg_module,
	&rules_cfg_module,
	&server_cfg_module,
	&server_name_cfg_module,
	&server_proxy_cfg_module,
	&server_tls_cfg_module,
	&check_cfg_module,
	&http_check_cfg_module,
	&tcp_check_cfg_module,
	&check_server_cfg_module,
	&check_global_cfg_module,
	&balance_cfg_module,
	&persist_cfg_module,
	&log_cfg_module,
	&log_profile_cfg_module,
	&capture_cfg_module,
	&unique_id_cfg_module,
	&table_cfg_module,
	&bwlim_cfg_module,
	&spoe_cfg_module,
	&compress_cfg_module,
	&cache_cfg_module,
	&sequence_cfg_module,
	&cache_section_module,
	&server_state_cfg_module,
	&stats_cfg_module,
	&userlist_cfg_module,
	&resolvers_cfg_module,
	&ring_cfg_module,
	&peers_cfg_module,
	&mailers_cfg_module,
	&proxy_hints_module,
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
