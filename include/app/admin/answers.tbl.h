/*
 * Answers of the commands of commands.tbl.h, for tacit(8): ADMIN_ANSWER(commands, text). A name may
 * be a pattern of fnmatch(3); the first row counts.
 */
#ifdef ADMIN_ANSWER
ADMIN_ANSWER("_getsocks",
	"The sockets, as ancillary data of a unix socket; for a process that takes "
	"over.")
ADMIN_ANSWER("abort ssl *",
	"\"Transaction aborted for certificate '<name>'!\", or that none is open.")
ADMIN_ANSWER("add acl, add map, set map, del acl, del map, clear acl, clear map, commit acl, "
	"commit map",
	"An empty line; otherwise the reason why nothing was changed.")
ADMIN_ANSWER("add server",
	"\"New server registered.\", or the reason.")
ADMIN_ANSWER("del server",
	"\"Server deleted.\", or the reason: it must be in maintenance and without "
	"connections.")
ADMIN_ANSWER("add ssl *",
	"Each step, then \"Success!\", or the reason.")
ADMIN_ANSWER("clear cache",
	"The number of objects removed; a URL is as the client asked for it, with its scheme, and "
	"the host in lower case.")
ADMIN_ANSWER("clear counters, clear counters all, clear syscalls, clear table, set table",
	"An empty line; otherwise the reason why nothing was changed.")
ADMIN_ANSWER("commit ssl *",
	"A dot for each place that uses the file while it is applied, then "
	"\"Success!\", or the reason.")
ADMIN_ANSWER("debug dev *",
	"None, or a line for each step; for tests of what watches the process.")
ADMIN_ANSWER("del ssl *",
	"\"Certificate '<name>' deleted!\", or who uses the file.")
ADMIN_ANSWER("disable *, enable *",
	"An empty line; otherwise the reason why nothing was changed.")
ADMIN_ANSWER("echo",
	"The text.")
ADMIN_ANSWER("experimental-mode, expert-mode",
	"Without an argument whether the mode is on; otherwise an empty line.")
ADMIN_ANSWER("get acl, get map",
	"One line: type=<type>, case=<sensitive or insensitive>, found=<yes or no> "
	"(match= of an ACL), idx=<tree or list>, and key=, value= and type= of the "
	"entry.")
ADMIN_ANSWER("get var",
	"\"<name>: type=<type> value=<<value>>\", or \"Variable not found.\"")
ADMIN_ANSWER("get weight",
	"\"<weight> (initial <weight>)\".")
ADMIN_ANSWER("help",
	"One line for each command: its words and arguments, a colon, and what it "
	"does.")
ADMIN_ANSWER("new ssl *",
	"\"New empty certificate store '<name>'!\", or that it exists.")
ADMIN_ANSWER("operator, user",
	"An empty line.")
ADMIN_ANSWER("prepare acl, prepare map",
	"\"New version created: <number>\", for the prefix @<ver> of other commands.")
ADMIN_ANSWER("prompt",
	"The prompt \"> \" before each further line.")
ADMIN_ANSWER("quit",
	"None: the connection is closed.")
ADMIN_ANSWER("set maxconn *, set rate-limit, set weight, set dynamic-cookie-key backend, set "
	"profiling, set timeout, set var",
	"An empty line; otherwise the reason why nothing was changed.")
ADMIN_ANSWER("set severity-output",
	"An empty line; the lines that follow begin with the number or name of "
	"their severity, from 0 (emergency) to 7 (debug).")
ADMIN_ANSWER("set server",
	"An empty line; of addr and fqdn a line that says what was changed; "
	"otherwise the reason. The state is ready, drain or maint; weight, addr, "
	"fqdn, check-port, agent-addr, agent-port, agent-send, agent, health and "
	"ssl are set by the words of the same name.")
ADMIN_ANSWER("set ssl cert, set ssl ca-file, set ssl crl-file",
	"\"Transaction created for certificate <name>!\" or \"updated\", or the reason; "
	"commit applies it.")
ADMIN_ANSWER("set ssl ocsp-response",
	"\"OCSP Response updated!\", or the reason.")
ADMIN_ANSWER("set ssl tls-key",
	"\"TLS ticket key updated!\", or the reason. With a file and a payload instead of a key "
	"the lines of the payload replace all its keys, as a reload would: \"TLS ticket keys "
	"updated!\".")
ADMIN_ANSWER("show acl, show map",
	"Without a name a line for each: its number, file, users, versions and "
	"number of entries. With one a line for each entry: its reference (0x...), "
	"key and, of a map, value.")
ADMIN_ANSWER("show activity",
	"\"name: total [ of each worker ]\" for each counter of the event loops.")
ADMIN_ANSWER("show backend",
	"The line \"# name\", then the name of each backend, one a line.")
ADMIN_ANSWER("show cache",
	"For each cache a line \"<reference>: <name> (shctx:<reference>, available "
	"blocks:<n>)\", then its objects: \"<reference> hash:<n> vary:<n> size:<bytes> "
	"(<n> blocks), refcount:<streams>, expire:<seconds>\".")
ADMIN_ANSWER("show cli level",
	"user, operator or admin.")
ADMIN_ANSWER("show cli sockets",
	"The line \"# socket lvl processes\", then one line for each stats socket.")
ADMIN_ANSWER("show env",
	"NAME=value, one a line.")
ADMIN_ANSWER("show errors",
	"For each proxy its last invalid message: a heading with time, proxy and "
	"direction, its place, then its bytes, each line with its position.")
ADMIN_ANSWER("show events",
	"Without a name a line for each ring; with one its messages, one a line.")
ADMIN_ANSWER("show fd",
	"One line for each descriptor: its number, worker, and the states of "
	"reading and writing.")
ADMIN_ANSWER("show health",
	"\"healthy: <why>\" or \"unhealthy: <why>\", then \"name: value\" lines: state (serving, "
	"grace, draining or closing), frontends and listeners as \"<accepting> of <all>\", the "
	"workers that have answered, and sessions. With json an object.")
ADMIN_ANSWER("show info",
	"\"Name: value\" for each field, one a line, as in HAProxy; the fields are "
	"those of the metrics haproxy_process_*. typed adds number, type and origin "
	"of each, json and desc are as in HAProxy.")
ADMIN_ANSWER("show latency",
	"A table: proxy, server, time (queue, connect, response, total), number, mean, the "
	"percentiles 50, 90 and 99, and a mark for each bucket of the histogram. With csv "
	"or json all of it in microseconds, with the counts of the buckets.")
ADMIN_ANSWER("show libs",
	"One line for each library: first and last address, size, file.")
ADMIN_ANSWER("show peers",
	"A line for each section, one for each of its peers with the state of its "
	"connection, and the tables that are shared with it, as in HAProxy.")
ADMIN_ANSWER("show pools",
	"A heading, then for each worker a line for each pool: size of its objects, "
	"allocated, used, peak, gets, failures.")
ADMIN_ANSWER("show profiling",
	"The switches, then a table of functions: calls, time of the CPU and "
	"latency, in total and on average.")
ADMIN_ANSWER("show resolvers",
	"For each section and name server \"name: value\" lines: queries sent, "
	"answers by outcome.")
ADMIN_ANSWER("show schema json",
	"A JSON document: the schema of the JSON of the other commands.")
ADMIN_ANSWER("show servers conn",
	"A heading with #, then one line for each server: name, ids, address, port, "
	"connections in use and idle, and the idle ones of each worker.")
ADMIN_ANSWER("show servers state",
	"The version of the format (1), a heading with #, then one line for each "
	"server: the columns of HAProxy's server state file.")
ADMIN_ANSWER("show sess",
	"One line for each stream: its reference, client, proxies, server, age, and "
	"the state of its directions. With a reference or all several lines for "
	"each.")
ADMIN_ANSWER("show ssl ca-file, show ssl cert, show ssl crl-file, show ssl crt-list, show "
	"tls-keys",
	"A heading with #, then one file a line; an asterisk before a file with an "
	"open transaction. With a file its contents: \"Name: value\" lines of each "
	"certificate, lines of the list, or keys in base64.")
ADMIN_ANSWER("show ssl ocsp-response",
	"The id and the certificate's files of each response; with an id or a file "
	"the response as text, or in base64.")
ADMIN_ANSWER("show ssl ocsp-updates",
	"A heading, then one certificate a line, with columns that | separates.")
ADMIN_ANSWER("show ssl providers",
	"A heading, then the name of each provider of OpenSSL behind \"- \".")
ADMIN_ANSWER("show startup-logs",
	"The messages of the start, one a line.")
ADMIN_ANSWER("show stat, show stats",
	"CSV with a heading that begins with \"# pxname,svname\": one line for each "
	"frontend, listener with option socket-stats, server and backend, in "
	"HAProxy's columns; the field type is 0 of a frontend, 1 of a backend, 2 of "
	"a server, 3 of a listener. Three numbers before the words select a proxy, "
	"kinds (1, 2 and 4 added) and a server. typed is a line for each field, "
	"json an array, up and no-maint leave servers out.")
ADMIN_ANSWER("show syscalls",
	"A heading with #, one line for each system call: its total and results (ok, again, "
	"error), the number since the last look and per second, and the total per "
	"connection and per request; then lines with these numbers. With frontends the rows of "
	"each frontend, \"-\" for none. With json an object, or an array of frontends.")
ADMIN_ANSWER("show table",
	"Without a name a line \"# table: <name>, type: <type>, size:<entries>, "
	"used:<entries>\" for each; with one this line and its entries: "
	"\"<reference>: key=<key> use=<n> exp=<ms>\" and the stored data as "
	"name=value.")
ADMIN_ANSWER("show tasks",
	"One line: the number of tasks that run.")
ADMIN_ANSWER("show threads",
	"For each worker two lines: its timers, tasks, sessions and idle time; "
	"turns, events and CPU time. An asterisk marks the one that answers.")
ADMIN_ANSWER("show trace",
	"For each worker its level and number of records, then the latest records, "
	"one state change a line.")
ADMIN_ANSWER("show version",
	"The version, as in show info.")
ADMIN_ANSWER("shutdown frontend, shutdown session, shutdown sessions server",
	"An empty line; otherwise the reason why nothing was changed.")
ADMIN_ANSWER("trace",
	"An empty line; otherwise the reason why nothing was changed.")
ADMIN_ANSWER("update ssl ocsp-response",
	"An empty line; otherwise the reason why nothing was changed.")
ADMIN_ANSWER("wait",
	"\"Done.\", or \"Wait delay expired\" with the last value.")
#undef ADMIN_ANSWER
#endif
