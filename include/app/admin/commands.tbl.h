/*
 * The commands of the admin socket (management manual 9.3), sorted by their words:
 *
 * ADMIN_CMD(words, args, help, level, mode, function): the level is the lowest that may run it. In
 * HAProxy's words where HAProxy has it.
 * ADMIN_NOT(words, reason): commands of HAProxy 2.6 that tacit does not have. tacit(8) lists them
 * too.
 */
#ifdef ADMIN_CMD
ADMIN_CMD("_getsocks", "",
	"pass the listening sockets to another process", USER, HIDDEN, admin_cmd_getsocks)
ADMIN_CMD("abort ssl ca-file", "<cafile>",
	"abort a transaction for a CA file",
	ADMIN, NONE, admin_cmd_abort_ssl_ca_file)
ADMIN_CMD("abort ssl cert", "<certfile>",
	"abort a transaction for a certificate file",
	ADMIN, NONE, admin_cmd_abort_ssl_cert)
ADMIN_CMD("abort ssl crl-file", "<crlfile>",
	"abort a transaction for a CRL file",
	ADMIN, NONE, admin_cmd_abort_ssl_crl_file)
ADMIN_CMD("add acl", "[@<ver>] <acl> <pattern>", "add an acl entry", ADMIN, NONE, admin_cmd_add_acl)
ADMIN_CMD("add map", "[@<ver>] <map> <key> <val>",
	"add a map entry (payload supported instead of key/val)", ADMIN, NONE, admin_cmd_add_map)
ADMIN_CMD("add server", "<bk>/<srv> <addr> [<option>]*",
	"create a new server", ADMIN, NONE, admin_cmd_add_server)
ADMIN_CMD("add ssl ca-file", "<cafile> <payload>",
	"add a certificate into the CA file",
	ADMIN, NONE, admin_cmd_add_ssl_ca_file)
ADMIN_CMD("add ssl crt-list", "<list> <cert> [opts]*",
	"add to crt-list file <list> a line <cert> or a payload",
	ADMIN, NONE, admin_cmd_add_ssl_crt_list)
ADMIN_CMD("clear acl", "[@<ver>] <acl>",
	"clear the contents of this acl", ADMIN, NONE, admin_cmd_clear_acl)
ADMIN_CMD("clear cache", "<cache> [<url>]",
	"remove an object, or all objects of a cache", ADMIN, NONE, admin_cmd_clear_cache)
ADMIN_CMD("clear counters", "",
	"clear max statistics counters", OPERATOR, NONE, admin_cmd_clear_counters)
ADMIN_CMD("clear counters all", "",
	"clear all statistics counters", ADMIN, NONE, admin_cmd_clear_counters_all)
ADMIN_CMD("clear map", "[@<ver>] <map>",
	"clear the contents of this map", ADMIN, NONE, admin_cmd_clear_map)
ADMIN_CMD("clear syscalls", "",
	"count system calls from now on", OPERATOR, NONE, admin_cmd_clear_syscalls)
ADMIN_CMD("clear table", "<table> [<filter>]*",
	"remove an entry from a table (filter: data/key)",
	USER, NONE, admin_cmd_clear_table)
ADMIN_CMD("commit acl", "@<ver> <acl>",
	"commit the ACL at this version", ADMIN, NONE, admin_cmd_commit_acl)
ADMIN_CMD("commit map", "@<ver> <map>",
	"commit the map at this version", ADMIN, NONE, admin_cmd_commit_map)
ADMIN_CMD("commit ssl ca-file", "<cafile>",
	"commit a CA file",
	ADMIN, NONE, admin_cmd_commit_ssl_ca_file)
ADMIN_CMD("commit ssl cert", "<certfile>",
	"commit a certificate file",
	ADMIN, NONE, admin_cmd_commit_ssl_cert)
ADMIN_CMD("commit ssl crl-file", "<crlfile>",
	"commit a CRL file",
	ADMIN, NONE, admin_cmd_commit_ssl_crl_file)
ADMIN_CMD("debug dev delay", "[ms] [thr]",
	"sleep this long", ADMIN, EXPERT, admin_cmd_debug_dev_delay)
ADMIN_CMD("debug dev exit", "[code]",
	"immediately exit the process", ADMIN, EXPERT, admin_cmd_debug_dev_exit)
ADMIN_CMD("debug dev log", "[msg] ...",
	"send this msg to global logs", ADMIN, EXPERT, admin_cmd_debug_dev_log)
ADMIN_CMD("debug dev loop", "[ms] [thr]",
	"loop this long", ADMIN, EXPERT, admin_cmd_debug_dev_loop)
ADMIN_CMD("debug dev panic", "",
	"immediately trigger a panic", ADMIN, EXPERT, admin_cmd_debug_dev_panic)
ADMIN_CMD("del acl", "<acl> [<key>|#<ref>]",
	"delete acl entries matching <key>", ADMIN, NONE, admin_cmd_del_acl)
ADMIN_CMD("del map", "<map> [<key>|#<ref>]",
	"delete map entries matching <key>", ADMIN, NONE, admin_cmd_del_map)
ADMIN_CMD("del server", "<bk>/<srv>",
	"remove a dynamically added server", ADMIN, NONE, admin_cmd_del_server)
ADMIN_CMD("del ssl ca-file", "<cafile>",
	"delete an unused CA file",
	ADMIN, NONE, admin_cmd_del_ssl_ca_file)
ADMIN_CMD("del ssl cert", "<certfile>",
	"delete an unused certificate file",
	ADMIN, NONE, admin_cmd_del_ssl_cert)
ADMIN_CMD("del ssl crl-file", "<crlfile>",
	"delete an unused CRL file",
	ADMIN, NONE, admin_cmd_del_ssl_crl_file)
ADMIN_CMD("del ssl crt-list", "<list> <cert[:line]>",
	"delete a line <cert> from crt-list file <list>",
	ADMIN, NONE, admin_cmd_del_ssl_crt_list)
ADMIN_CMD("disable agent", "<bk>/<srv>",
	"disable agent checks", ADMIN, NONE, admin_cmd_disable_agent)
ADMIN_CMD("disable dynamic-cookie backend", "<bk>",
	"disable dynamic cookies on a specific backend",
	ADMIN, NONE, admin_cmd_disable_dynamic_cookie_backend)
ADMIN_CMD("disable frontend", "<frontend>",
	"temporarily disable specific frontend", ADMIN, NONE, admin_cmd_disable_frontend)
ADMIN_CMD("disable health", "<bk>/<srv>",
	"disable health checks", ADMIN, NONE, admin_cmd_disable_health)
ADMIN_CMD("disable server", "<bk>/<srv>",
	"disable a server for maintenance", ADMIN, NONE, admin_cmd_disable_server)
ADMIN_CMD("echo", "<text>", "print text", USER, NONE, admin_cmd_echo)
ADMIN_CMD("enable agent", "<bk>/<srv>", "enable agent checks", ADMIN, NONE, admin_cmd_enable_agent)
ADMIN_CMD("enable dynamic-cookie backend", "<bk>",
	"enable dynamic cookies on a specific backend",
	ADMIN, NONE, admin_cmd_enable_dynamic_cookie_backend)
ADMIN_CMD("enable frontend", "<frontend>",
	"re-enable specific frontend", ADMIN, NONE, admin_cmd_enable_frontend)
ADMIN_CMD("enable health", "<bk>/<srv>",
	"enable health checks", ADMIN, NONE, admin_cmd_enable_health)
ADMIN_CMD("enable server", "<bk>/<srv>",
	"enable a disabled server", ADMIN, NONE, admin_cmd_enable_server)
ADMIN_CMD("experimental-mode", "[on|off]",
	"show or toggle the experimental mode", ADMIN, HIDDEN, admin_cmd_experimental_mode)
ADMIN_CMD("expert-mode", "[on|off]",
	"show or toggle the expert mode", ADMIN, HIDDEN, admin_cmd_expert_mode)
ADMIN_CMD("get acl", "<acl> <value>",
	"report the patterns matching a sample for an ACL", USER, NONE, admin_cmd_get_acl)
ADMIN_CMD("get map", "<map> <value>",
	"report the keys and values matching a sample for a map", USER, NONE, admin_cmd_get_map)
ADMIN_CMD("get var", "<name>",
	"retrieve contents of a process-wide variable", OPERATOR, NONE, admin_cmd_get_var)
ADMIN_CMD("get weight", "<bk>/<srv>",
	"report a server's current weight", USER, NONE, admin_cmd_get_weight)
ADMIN_CMD("help", "[<command>]", "list matching or all commands", USER, NONE, admin_cmd_help)
ADMIN_CMD("new ssl ca-file", "<cafile>",
	"create a new CA file to be used in a crt-list",
	ADMIN, NONE, admin_cmd_new_ssl_ca_file)
ADMIN_CMD("new ssl cert", "<certfile>",
	"create a new certificate file to be used in a crt-list or a directory",
	ADMIN, NONE, admin_cmd_new_ssl_cert)
ADMIN_CMD("new ssl crl-file", "<crlfile>",
	"create a new CRL file to be used in a crt-list",
	ADMIN, NONE, admin_cmd_new_ssl_crl_file)
ADMIN_CMD("operator", "",
	"lower the level of the current CLI session to operator",
	OPERATOR, NONE, admin_cmd_operator)
ADMIN_CMD("prepare acl", "<acl>",
	"prepare a new version for atomic ACL replacement", ADMIN, NONE, admin_cmd_prepare_acl)
ADMIN_CMD("prepare map", "<map>",
	"prepare a new version for atomic map replacement", ADMIN, NONE, admin_cmd_prepare_map)
ADMIN_CMD("prompt", "", "toggle interactive mode with prompt", USER, NONE, admin_cmd_prompt)
ADMIN_CMD("publish backend", "<backend>",
	"have rules choose this backend", ADMIN, NONE, admin_cmd_publish_backend)
ADMIN_CMD("quit", "", "disconnect", USER, NONE, admin_cmd_quit)
ADMIN_CMD("set dynamic-cookie-key backend", "<bk> <k>",
	"change a backend secret key for dynamic cookies",
	ADMIN, NONE, admin_cmd_set_dynamic_cookie_key_backend)
ADMIN_CMD("set map", "<map> [<key>|#<ref>] <value>",
	"modify a map entry", ADMIN, NONE, admin_cmd_set_map)
ADMIN_CMD("set maxconn frontend", "<frontend> <value>",
	"change a frontend's maxconn setting", ADMIN, NONE, admin_cmd_set_maxconn_frontend)
ADMIN_CMD("set maxconn global", "<value>",
	"change the per-process maxconn setting", ADMIN, NONE, admin_cmd_set_maxconn_global)
ADMIN_CMD("set maxconn server", "<bk>/<srv> <value>",
	"change a server's maxconn setting", ADMIN, NONE, admin_cmd_set_maxconn_server)
ADMIN_CMD("set profiling", "<what> {auto|on|off}",
	"enable/disable resource profiling (tasks,memory)",
	ADMIN, NONE, admin_cmd_set_profiling)
ADMIN_CMD("set rate-limit", "<setting> <value>",
	"change a rate limiting value", ADMIN, NONE, admin_cmd_set_rate_limit)
ADMIN_CMD("set server", "<bk>/<srv> [opts]",
	"change a server's state, weight, address or ssl", ADMIN, NONE, admin_cmd_set_server)
ADMIN_CMD("set severity-output", "[none|number|string]",
	"set presence of severity level in feedback information",
	USER, NONE, admin_cmd_set_severity_output)
ADMIN_CMD("set ssl ca-file", "<cafile> <payload>",
	"replace a CA file",
	ADMIN, NONE, admin_cmd_set_ssl_ca_file)
ADMIN_CMD("set ssl cert", "<certfile> <payload>",
	"replace a certificate file",
	ADMIN, NONE, admin_cmd_set_ssl_cert)
ADMIN_CMD("set ssl crl-file", "<crlfile> <payload>",
	"replace a CRL file",
	ADMIN, NONE, admin_cmd_set_ssl_crl_file)
ADMIN_CMD("set ssl ocsp-response", "<resp|payload>",
	"update a certificate's OCSP Response from a base64-encode DER",
	ADMIN, NONE, admin_cmd_set_ssl_ocsp_response)
ADMIN_CMD("set ssl tls-key", "[id|file] <key>",
	"set the next TLS key for the <id> or <file> listener to <key>",
	ADMIN, NONE, admin_cmd_set_ssl_tls_key)
ADMIN_CMD("set table", "<table> key <k> [data.* <v>]*",
	"update or create a table entry's data",
	USER, NONE, admin_cmd_set_table)
ADMIN_CMD("set timeout", "[cli] <delay>",
	"change a timeout setting", USER, NONE, admin_cmd_set_timeout)
ADMIN_CMD("set var", "<name> [fmt|expr] {<fmt>|<expr>}",
	"set variable from an expression or a format", ADMIN, EXPERIMENTAL, admin_cmd_set_var)
ADMIN_CMD("set weight", "<bk>/<srv> <n>[%]",
	"change a server's weight", ADMIN, NONE, admin_cmd_set_weight)
ADMIN_CMD("show acl", "[@<ver>] [<acl>]",
	"report available acls or dump an acl's contents", USER, NONE, admin_cmd_show_acl)
ADMIN_CMD("show activity", "",
	"show per-thread activity stats (for support/developers)",
	USER, NONE, admin_cmd_show_activity)
ADMIN_CMD("show backend", "",
	"list backends in the current running config", USER, NONE, admin_cmd_show_backend)
ADMIN_CMD("show cache", "", "show cache status", ADMIN, NONE, admin_cmd_show_cache)
ADMIN_CMD("show cli level", "",
	"display the level of the current CLI session", USER, NONE, admin_cmd_show_cli_level)
ADMIN_CMD("show cli sockets", "",
	"dump list of cli sockets", USER, NONE, admin_cmd_show_cli_sockets)
ADMIN_CMD("show env", "[var]",
	"dump environment variables known to the process", OPERATOR, NONE, admin_cmd_show_env)
ADMIN_CMD("show errors", "[<px>] [request|response]",
	"report last request and/or response errors for each proxy",
	OPERATOR, NONE, admin_cmd_show_errors)
ADMIN_CMD("show events", "[<sink>] [-w] [-n] [-0]",
	"show event sink state", USER, NONE, admin_cmd_show_events)
ADMIN_CMD("show fd", "[num]",
	"dump list of file descriptors in use or a specific one", OPERATOR, NONE, admin_cmd_show_fd)
ADMIN_CMD("show health", "[json]",
	"report whether the process serves", USER, NONE, admin_cmd_show_health)
ADMIN_CMD("show info", "[desc|json|typed|float]*",
	"report information about the running process", USER, NONE, admin_cmd_show_info)
ADMIN_CMD("show latency", "[<proxy>] [csv|json]",
	"report histograms of times for each proxy and server",
	USER, NONE, admin_cmd_show_latency)
ADMIN_CMD("show libs", "",
	"show loaded object files and libraries", OPERATOR, NONE, admin_cmd_show_libs)
ADMIN_CMD("show map", "[@<ver>] [<map>]",
	"report available maps or dump a map's contents", USER, NONE, admin_cmd_show_map)
ADMIN_CMD("show peers", "[dict|-] [section]",
	"dump some information about all the peers or this peers section",
	USER, NONE, admin_cmd_show_peers)
ADMIN_CMD("show pools", "",
	"report information about the memory pools usage", USER, NONE, admin_cmd_show_pools)
ADMIN_CMD("show profiling", "[<what>|<#lines>|byaddr]*",
	"show profiling state (all,status,tasks,memory)",
	ADMIN, NONE, admin_cmd_show_profiling)
ADMIN_CMD("show resolvers", "[id]",
	"dumps counters from all resolvers section and associated name servers",
	USER, NONE, admin_cmd_show_resolvers)
ADMIN_CMD("show schema json", "",
	"report schema used for stats", USER, NONE, admin_cmd_show_schema_json)
ADMIN_CMD("show servers conn", "[<backend>]",
	"dump server connections status (all or for a single backend)",
	USER, NONE, admin_cmd_show_servers_conn)
ADMIN_CMD("show servers state", "[<backend>]",
	"dump volatile server information (all or for a single backend)",
	USER, NONE, admin_cmd_show_servers_state)
ADMIN_CMD("show sess", "[<id>|all|older <age>]",
	"report the list of current sessions or dump this exact session",
	OPERATOR, NONE, admin_cmd_show_sess)
ADMIN_CMD("show ssl ca-file", "[<cafile>[:<index>]]",
	"display the SSL CA files used in memory, or the details of a <cafile>, or a single certificate of index <index>",
	USER, NONE, admin_cmd_show_ssl_ca_file)
ADMIN_CMD("show ssl cert", "[<certfile>]",
	"display the SSL certificates used in memory, or the details of a file",
	USER, NONE, admin_cmd_show_ssl_cert)
ADMIN_CMD("show ssl crl-file", "[<crlfile>[:<index>]]",
	"display the SSL CRL files used in memory, or the details of a <crlfile>, or a single CRL of index <index>",
	USER, NONE, admin_cmd_show_ssl_crl_file)
ADMIN_CMD("show ssl crt-list", "[-n] [<list>]",
	"show the list of crt-lists or the content of a crt-list file <list>",
	ADMIN, NONE, admin_cmd_show_ssl_crt_list)
ADMIN_CMD("show ssl ocsp-response", "[[text|base64] <id|certfile>]",
	"display the IDs of the OCSP responses used in memory, or the details of a single OCSP response",
	USER, NONE, admin_cmd_show_ssl_ocsp_response)
ADMIN_CMD("show ssl ocsp-updates", "",
	"display information about the next OCSP responses that are asked for",
	USER, NONE, admin_cmd_show_ssl_ocsp_updates)
ADMIN_CMD("show ssl providers", "",
	"show loaded SSL providers",
	USER, NONE, admin_cmd_show_ssl_providers)
ADMIN_CMD("show startup-logs", "",
	"report logs emitted during the start", OPERATOR, NONE, admin_cmd_show_startup_logs)
ADMIN_CMD("show stat", "[desc|json|no-maint|typed|up]*",
	"report counters for each proxy and server", USER, NONE, admin_cmd_show_stat)
ADMIN_CMD("show stats", "[desc|json|no-maint|typed|up]*",
	"same as show stat", USER, HIDDEN, admin_cmd_show_stat)
ADMIN_CMD("show syscalls", "[all|workers|frontends|json]*",
	"system calls by name and outcome, per connection and request", USER, NONE, admin_cmd_show_syscalls)
ADMIN_CMD("show table", "<table> [<filter>]*",
	"report table usage stats or dump this table's contents (filter: data/key)",
	USER, NONE, admin_cmd_show_table)
ADMIN_CMD("show tasks", "", "show running tasks", USER, NONE, admin_cmd_show_tasks)
ADMIN_CMD("show threads", "",
	"show some threads debugging information", USER, NONE, admin_cmd_show_threads)
ADMIN_CMD("show tls-keys", "[id|*]",
	"show tls keys references or dump tls ticket keys when id specified",
	USER, NONE, admin_cmd_show_tls_keys)
ADMIN_CMD("show trace", "[<max>]",
	"show recorded state changes", OPERATOR, NONE, admin_cmd_show_trace)
ADMIN_CMD("show version", "",
	"show version of the current process", USER, NONE, admin_cmd_show_version)
ADMIN_CMD("shutdown frontend", "<frontend>",
	"stop a specific frontend", ADMIN, NONE, admin_cmd_shutdown_frontend)
ADMIN_CMD("shutdown session", "[id]",
	"kill a specific session", ADMIN, NONE, admin_cmd_shutdown_session)
ADMIN_CMD("shutdown sessions server", "<bk>/<srv>",
	"kill sessions on a server", ADMIN, NONE, admin_cmd_shutdown_sessions_server)
ADMIN_CMD("trace", "{off|error|state|io|clear} [<id>]",
	"record state changes of sessions", ADMIN, NONE, admin_cmd_trace)
ADMIN_CMD("unpublish backend", "<backend>",
	"have rules pass over this backend", ADMIN, NONE, admin_cmd_unpublish_backend)
ADMIN_CMD("update ssl ocsp-response", "<certfile>",
	"ask for the OCSP response of a certificate now",
	ADMIN, NONE, admin_cmd_update_ssl_ocsp_response)
ADMIN_CMD("user", "",
	"lower the level of the current CLI session to user", USER, NONE, admin_cmd_user)
ADMIN_CMD("wait", "{-h|<delay>} [<condition>]",
	"wait the specified delay or condition", USER, NONE, admin_cmd_wait)
#endif

#ifdef ADMIN_NOT
ADMIN_NOT("debug dev bug", "use a debugger")
ADMIN_NOT("debug dev check", "use a debugger")
ADMIN_NOT("debug dev close", "use a debugger")
ADMIN_NOT("debug dev fd", "use a debugger")
ADMIN_NOT("debug dev hex", "use a debugger")
ADMIN_NOT("debug dev sched", "use a debugger")
ADMIN_NOT("debug dev stream", "use a debugger")
ADMIN_NOT("debug dev sym", "use a debugger")
ADMIN_NOT("debug dev tkill", "use a debugger")
ADMIN_NOT("debug dev warn", "use a debugger")
ADMIN_NOT("debug dev write", "use a debugger")
ADMIN_NOT("httpclient", "use curl(1)")
#endif
