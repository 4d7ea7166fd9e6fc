/*
 * Answers of the commands of commands.tbl.h, for tacit(8): ADMIN_ANSWER(commands, text). A name may
 * be a pattern of fnmatch(3); the first row counts.
 */
#ifdef ADMIN_ANSWER
ADMIN_ANSWER("_getsocks",
	"The sockets, as ancillary data of a unix socket; for a process that takes "
	"over.")
ADMIN_ANSWER("abort ssl *",
	"\"Transaction aborted for certificate '<name>'!\", or \"No ongoing transaction!\" "
	"if none is open.")
ADMIN_ANSWER("add acl, add map, set map, del acl, del map, clear acl, clear map, commit acl, "
	"commit map",
	"An empty line, or the reason why nothing was changed, such as \"Key not found.\"")
ADMIN_ANSWER("add server",
	"\"New server registered.\", or the reason.")
ADMIN_ANSWER("del server",
	"\"Server deleted.\", or the reason: it must be in maintenance and without "
	"connections.")
ADMIN_ANSWER("add ssl ca-file",
	"\"transaction updated for CA <name>!\" or \"transaction created for CA <name>!\", or the "
	"reason; commit ssl ca-file applies it.")
ADMIN_ANSWER("add ssl crt-list",
	"\"Inserting certificate '<name>' in crt-list '<list>'\" with a dot for each bind "
	"line, then \"Success!\", or the reason.")
ADMIN_ANSWER("clear cache",
	"\"<n> objects removed.\" A URL is as the client asked for it, with its scheme, "
	"and the host in lower case.")
ADMIN_ANSWER("clear counters, clear counters all, clear syscalls",
	"An empty line; otherwise the reason why nothing was changed.")
ADMIN_ANSWER("clear table, set table",
	"An empty line; otherwise the reason why nothing was changed, of the level user "
	"\"Permission denied\".")
ADMIN_ANSWER("commit ssl *",
	"\"Committing <name>\" with a dot for each bind line or server that uses the file, "
	"then \"Success!\", or the reason.")
ADMIN_ANSWER("debug dev *",
	"None, or a line for each step; for tests of what watches the process.")
ADMIN_ANSWER("del ssl ca-file",
	"\"CA file '<name>' deleted!\", or what uses it.")
ADMIN_ANSWER("del ssl crl-file",
	"\"CRL file '<name>' deleted!\", or what uses it.")
ADMIN_ANSWER("del ssl crt-list",
	"\"Entry '<name>' deleted in crtlist '<list>'!\", or the reason.")
ADMIN_ANSWER("del ssl cert",
	"\"Certificate '<name>' deleted!\", or what uses it.")
ADMIN_ANSWER("disable *, enable *",
	"An empty line; otherwise the reason why nothing was changed.")
ADMIN_ANSWER("echo",
	"The text.")
ADMIN_ANSWER("experimental-mode, expert-mode",
	"Without an argument \"<mode>-mode is <ON or OFF>\"; with one an empty line, and it holds for "
	"this connection.")
ADMIN_ANSWER("get acl, get map",
	"One line: \"type=<type>, case=<sensitive or insensitive>, found=<yes or no>\", of an ACL "
	"\"match=<yes or no>\" in the place of found; of an entry also idx=<tree or list>, key=, "
	"value= and type=.")
ADMIN_ANSWER("get var",
	"\"<name>: type=<type> value=<<value>>\", or \"Variable not found.\"")
ADMIN_ANSWER("get weight",
	"\"<weight> (initial <weight>)\".")
ADMIN_ANSWER("help",
	"One line for each command: its words and arguments, a colon, and what it "
	"does.")
ADMIN_ANSWER("new ssl ca-file",
	"\"New CA file created '<name>'!\", or that it exists.")
ADMIN_ANSWER("new ssl crl-file",
	"\"New CRL file created '<name>'!\", or that it exists.")
ADMIN_ANSWER("new ssl cert",
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
	"profiling, set var",
	"An empty line; otherwise the reason why nothing was changed.")
ADMIN_ANSWER("set severity-output",
	"An empty line. What commands of this connection then answer begins with "
	"\"[<number>]:\" or \"[<name>]:\", the severity from 0 (emerg) to 7 (debug).")
ADMIN_ANSWER("set server",
	"An empty line; of addr a line such as \"IP changed from '<address>' to "
	"'<address>' by '<who>'\", and of fqdn one like it; otherwise the reason. The "
	"state is ready, drain or maint; weight, addr, fqdn, check-port, agent-addr, "
	"agent-port, agent-send, agent, health and ssl are set by the words of the same "
	"name.")
ADMIN_ANSWER("set ssl ca-file",
	"\"transaction created for CA <name>!\" or \"transaction updated for CA <name>!\", or the "
	"reason; commit ssl ca-file applies it.")
ADMIN_ANSWER("set ssl crl-file",
	"\"transaction created for CRL <name>!\" or \"transaction updated for CRL <name>!\", or "
	"the reason; commit ssl crl-file applies it.")
ADMIN_ANSWER("set ssl cert",
	"\"Transaction created for certificate <name>!\" or \"Transaction updated for "
	"certificate <name>!\", or the reason; commit ssl cert applies it.")
ADMIN_ANSWER("set ssl ocsp-response",
	"\"OCSP Response updated!\", or the reason.")
ADMIN_ANSWER("set ssl tls-key",
	"\"TLS ticket key updated!\", or the reason. With a file and a payload instead of a key "
	"the lines of the payload replace all its keys, as a reload would: \"TLS ticket keys "
	"updated!\".")
ADMIN_ANSWER("set timeout",
	"An empty line, or the reason. The time, in seconds unless it has a unit, is how "
	"long this connection may wait for a command.")
ADMIN_ANSWER("show acl, show map",
	"Without a name \"# id (file) description\", then for each its number, file, the "
	"lines that use it, versions and number of entries. With one a line for each "
	"entry: \"<reference> <key>\", of a map with the value behind it.")
ADMIN_ANSWER("show activity",
	"\"<name>: <total>\" for each counter of the event loops, with several workers \"[ "
	"<each> ]\" behind it.")
ADMIN_ANSWER("show backend",
	"The line \"# name\", then the name of each backend, one a line.")
ADMIN_ANSWER("show cache",
	"For each cache a line \"<reference>: <name> (shctx:<reference>, available "
	"blocks:<n>)\", then its objects: \"<reference> hash:<n> vary:<n> size:<bytes> "
	"(<n> blocks), refcount:<streams>, expire:<seconds>\".")
ADMIN_ANSWER("show cli level",
	"user, operator or admin.")
ADMIN_ANSWER("show cli sockets",
	"\"# socket lvl processes\", then one line for each stats socket: address, level, "
	"all.")
ADMIN_ANSWER("show env",
	"NAME=value, one a line.")
ADMIN_ANSWER("show errors",
	"\"Total events captured on [<time>] : <n>\", then for each proxy its last invalid "
	"message: \"[<time>] frontend <name> (#<id>): invalid request\" or a response of a "
	"backend, where it came from, its place (\"error at position <n>\"), and its "
	"bytes, each line with its position.")
ADMIN_ANSWER("show events",
	"Without a name a line for each ring: \"<name> : type=<type>, <n> dropped, "
	"<description>\"; with one its messages, one a line, or an empty line if there are "
	"none.")
ADMIN_ANSWER("show fd",
	"One line for each descriptor: \"<fd> : r=<state> w=<state> polled=<events> seen=\" and the "
	"events that came last, with R for reading, W for writing, E for edge-triggered; with "
	"several workers t=<worker> before r.")
ADMIN_ANSWER("show health",
	"\"healthy: <why>\" or \"unhealthy: <why>\", then \"name: value\" lines: state (serving, "
	"grace, draining or closing), frontends and listeners as \"<accepting> of <all>\", the "
	"workers that have answered, and sessions. With json an object.")
ADMIN_ANSWER("show info",
	"Lines of the form Name: value, as \"Nbthread: <n>\"; the fields are those of the metrics "
	"haproxy_process_*. typed: \"<n>.<name>.<process>:<kind>:<type>:<value>\", where the kind has "
	"a letter each for origin, meaning and scope. desc adds what a field means, json is an "
	"array, float has times and rates with fractions.")
ADMIN_ANSWER("show latency",
	"A table that begins with \"# proxy/server\": proxy, server, time (queue, connect, "
	"response, total), number, mean, the percentiles 50, 90 and 99, and a mark for "
	"each bucket of the histogram. With csv or json all of it in microseconds, with "
	"the counts of the buckets.")
ADMIN_ANSWER("show libs",
	"One line for each library: \"<first address>-<last address> (<size>) <file>\".")
ADMIN_ANSWER("show peers",
	"For each section \"<reference>: [<time>] id=<name> disabled=<0 or 1>\" and more, "
	"a line for each peer with its address and the state of its connection "
	"(\"last_status=<state>\"), and its tables.")
ADMIN_ANSWER("show pools",
	"\"Dumping pools usage\" and the allocator, then for each worker its pools: \"- "
	"Pool <name> (<bytes> bytes) : <n> allocated (<bytes> bytes), <n> used, peak <n>, "
	"<n> gets, <n> failures\".")
ADMIN_ANSWER("show profiling",
	"The two switches, then \"Tasks activity:\" and a row for each function: calls, "
	"time of the CPU and latency, in total and on average.")
ADMIN_ANSWER("show resolvers",
	"\"Resolvers section <name>\", and below each name server \"<name>: <n>\": queries "
	"sent, answers by outcome.")
ADMIN_ANSWER("show schema json",
	"A JSON document, \"{<schema>}\": the schema of the JSON of the other commands.")
ADMIN_ANSWER("show servers conn",
	"\"# bkname/svname bkid/svid addr port - purge_delay used_cur used_max need_est "
	"unsafe_nb safe_nb idle_lim idle_cur idle_per_thr[<n>]\", then a line with these "
	"columns for each server: connections in use and idle, and the idle ones of each "
	"worker.")
ADMIN_ANSWER("show servers state",
	"The version of the format, 1, a heading that begins with \"# be_id be_name srv_id "
	"srv_name srv_addr\", then one line for each server: what "
	"load-server-state-from-file reads.")
ADMIN_ANSWER("show sess",
	"One line for each stream: \"<reference>: proto=<protocol> src=<client> "
	"fe=<frontend> be=<backend> srv=<server> state=<state> age=<time>\", then calls, "
	"the two directions (rq, rp), the two connections (c, s), when it times out, "
	"retries, the first letters of the termination state and the latest steps. With a "
	"reference or all several lines for each.")
ADMIN_ANSWER("show ssl ca-file, show ssl cert, show ssl crl-file",
	"\"# filename\", then one file a line; an asterisk before one with an open "
	"transaction. With a file \"Filename: <name>\", \"Status: <Used or Unused>\", and "
	"lines \"<Name>: <value>\" for each certificate or list in it.")
ADMIN_ANSWER("show ssl crt-list",
	"\"<list>\", one a line. With one \"# <list>\" and its lines: \"<certificate> [<options>] "
	"<names>\"; -n puts \":<line>\" behind the certificate.")
ADMIN_ANSWER("show ssl ocsp-response",
	"\"# Certificate IDs\", then for each response \"Certificate ID key : <id>\" and "
	"the certificates that it is for. With an id or a file the response as text, or in "
	"base64.")
ADMIN_ANSWER("show ssl ocsp-updates",
	"\"OCSP Certid | Path | Next Update | Last Update | Successes | Failures | Last "
	"Update Status | Last Update Status (str)\", then a line with these columns for "
	"each certificate.")
ADMIN_ANSWER("show ssl providers",
	"\"Loaded providers :\", then the name of each provider of OpenSSL behind \"- \".")
ADMIN_ANSWER("show startup-logs",
	"The messages of the start, one a line; an empty line if there were none.")
ADMIN_ANSWER("show stat, show stats",
	"CSV with a heading that begins with \"# pxname,svname\": one line for each "
	"frontend, listener with option socket-stats, server and backend, in "
	"HAProxy's columns; the field type is 0 of a frontend, 1 of a backend, 2 of "
	"a server, 3 of a listener. Three numbers before the words select a proxy, "
	"kinds (1, 2 and 4 added) and a server. typed is a line for each field, "
	"json an array, up and no-maint leave servers out.")
ADMIN_ANSWER("show syscalls",
	"A heading that begins with \"# call\", one line for each system call: its total "
	"and results (ok, again, error), the number since the last look and per second, "
	"and the total per connection and per request; then lines with these numbers. With "
	"frontends the rows of each frontend, - for none. With json an object, or an array "
	"of frontends.")
ADMIN_ANSWER("show table",
	"Without a name a line \"# table: <name>, type: <type>, size:<entries>, "
	"used:<entries>\" for each; with one this line and its entries: "
	"\"<reference>: key=<key> use=<n> exp=<ms>\" and the stored data as "
	"name=value. Entries are shown from the level operator on.")
ADMIN_ANSWER("show tasks",
	"\"Running tasks: <n> (<n> threads)\".")
ADMIN_ANSWER("show threads",
	"For each worker \"Thread <n> : id=<id> wq=<timers> rq=<tasks> sess=<sessions> "
	"idle=<n>%\" and \"turns=<n> events=<n> cpu_ns=<n>\". An asterisk marks the one "
	"that answers.")
ADMIN_ANSWER("show tls-keys",
	"Without an argument \"# id (file)\", then a number and a file a line. With one, "
	"or *, \"# id secret\" and for each key \"<id>.<number> <key in base64>\".")
ADMIN_ANSWER("show trace",
	"For each worker \"level: <level>, records so far: <n>\", with several workers \"worker <n>, \" "
	"before it; then the latest records, one state change a line: number, time, kind, session, "
	"state, event, next state.")
ADMIN_ANSWER("show version",
	"The version, as in show info.")
ADMIN_ANSWER("shutdown session",
	"An empty line, or \"No such session (use 'show sess').\" The reference is that of show "
	"sess.")
ADMIN_ANSWER("publish backend, unpublish backend",
	"An empty line, or \"No such backend.\"")
ADMIN_ANSWER("shutdown frontend, shutdown sessions server",
	"An empty line; otherwise the reason why nothing was changed.")
ADMIN_ANSWER("trace",
	"An empty line; otherwise the reason why nothing was changed.")
ADMIN_ANSWER("update ssl ocsp-response",
	"An empty line: the responder is asked, and the log has the outcome. Otherwise the "
	"reason, \"Can't update '<file>': <reason>\".")
ADMIN_ANSWER("wait",
	"An empty line after a delay without a condition. \"Done.\" when the condition is "
	"met, \"Wait delay expired\" with the last value if it is not. -h: \"Usage: wait "
	"<arguments>\".")
#undef ADMIN_ANSWER
#endif
