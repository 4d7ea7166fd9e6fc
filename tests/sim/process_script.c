#include "sim/process_world.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>


#define ACTIONS 4096
#define WORDS 16

/* An action that is planned. */
struct action {
	struct process_script *script;
	char *word[WORDS + 1];
	unsigned int n_words;
	unsigned int number; /* of the repetition, from 1; 0: there is none */
	unsigned int line;
};

struct process_script {
	struct process_world *w;
	struct action action[ACTIONS];
	unsigned int n_actions;
	unsigned int line;
};

/* --- words --- */

/* Reads "TEXT" in place: \r, \n, \" and \\ stand for these bytes. */
static char *
read_text(char **at)
{
	char *begin = *at + 1, *to = begin, *from = begin;

	while (*from && *from != '"') {
		if (*from == '\\' && from[1]) {
			from++;
			*to++ = *from == 'r' ? '\r' : *from == 'n' ? '\n' : *from;
			from++;
		} else {
			*to++ = *from++;
		}
	}
	*at = *from ? from + 1 : from;
	*to = '\0';
	return begin;
}

static unsigned int
split(char *line, char *word[WORDS + 1])
{
	unsigned int n = 0;

	while (n < WORDS) {
		line += strspn(line, " \t");
		if (!*line || *line == '#')
			break;
		if (*line == '"') {
			word[n++] = read_text(&line);
			continue;
		}
		word[n++] = line;
		line += strcspn(line, " \t");
		if (*line)
			*line++ = '\0';
	}
	word[n] = NULL;
	return n;
}

/* 0, or -1 when it is none. */
static int
read_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "us", 1000 }, { "ms", FAKE_MS }, { "s", FAKE_SEC }, { "m", 60 * FAKE_SEC },
		{ "h", 3600 * FAKE_SEC } };
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (end == text)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strcmp(end, units[i].name) == 0) {
			*ns = n * units[i].ns;
			return 0;
		}
	return -1;
}

/* The text with the number of the repetition for each #. */
static const char *
numbered(const struct action *a, const char *text, char *out, size_t size)
{
	struct sbuf b;

	sbuf_init_fixed(&b, out, size);
	for (; *text; text++) {
		if (*text == '#' && a->number)
			sbuf_addu(&b, a->number);
		else
			sbuf_addc(&b, *text);
	}
	return b.len ? b.p : "";
}

static unsigned int
number_of(const char *word)
{
	return word ? (unsigned int)strtoul(word, NULL, 10) : 0;
}

static int
is_word(const char *word, const char *name)
{
	return word && strcmp(word, name) == 0;
}

/* --- actions: 0, or -1 for one that is not understood --- */

static int
do_server(struct process_world *w, char *const *word)
{
	struct process_server_plan plan = { .port = number_of(word[0]) };
	int r = plan.port ? 0 : -1;

	if (is_word(word[1], "leaves") || is_word(word[1], "dies")) {
		process_server_leaves(w->ends, plan.port, is_word(word[1], "dies"));
		return r;
	}
	for (word++; r == 0 && *word; word++) {
		if (is_word(*word, "greets") && word[1])
			plan.greeting = *++word;
		else if (is_word(*word, "answers") && word[1])
			plan.answer = *++word;
		else if (is_word(*word, "after") && word[1])
			r = read_time(*++word, &plan.after);
		else if (is_word(*word, "hangs-up"))
			plan.hangs_up = 1;
		else if (is_word(*word, "ocsp") && word[1])
			r = read_time(*++word, &plan.ocsp);
		else if (is_word(*word, "reads") && word[1])
			r = read_time(*++word, &plan.reads);
		else if (is_word(*word, "stays"))
			plan.stays = 1;
		else if (is_word(*word, "h2"))
			plan.h2 = 1;
		else if (is_word(*word, "quiet"))
			plan.is_quiet = 1;
		else if (is_word(*word, "agent"))
			plan.is_agent = 1;
		else if (is_word(*word, "mute"))
			plan.is_mute = 1;
		else
			r = -1;
	}
	if (r == 0)
		process_server_plays(w->ends, &plan);
	return r;
}

static int
do_path(struct process_world *w, char *const *word)
{
	static const char *const names[] = { [FAKE_NEAR] = "near", [FAKE_FAR] = "far",
		[FAKE_REFUSED] = "refused", [FAKE_BLACKHOLE] = "blackhole" };
	uint64_t one_way = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!is_word(word[1], names[i]))
			continue;
		if (word[2] && read_time(word[2], &one_way) < 0)
			return -1;
		fake_route(w->k, number_of(word[0]), (enum fake_path)i, one_way);
		return 0;
	}
	return -1;
}

static int
do_names(struct process_world *w, char *const *word)
{
	if (is_word(word[1], "silent"))
		process_names_are(w->ends, number_of(word[0]), NULL, 0);
	else if (word[1] && is_word(word[2], "ttl"))
		process_names_are(w->ends, number_of(word[0]), word[1], number_of(word[3]));
	else
		return -1;
	return 0;
}

static int
do_signal(struct process_world *w, char *const *word)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = { { "USR1", SIGUSR1 }, { "TERM", SIGTERM }, { "HUP", SIGHUP } };

	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (is_word(word[0], signals[i].name)) {
			fake_signal(w->k, signals[i].number);
			return 0;
		}
	return -1;
}

static int
do_admin(struct process_world *w, char *const *word)
{
	if (!word[0] || (word[1] && (!is_word(word[1], "only") || !word[2])))
		return -1;
	process_admin_asks(w->ends, word[0], word[1] ? word[2] : NULL);
	return 0;
}

static int
do_logs(struct process_world *w, char *const *word)
{
	if (!word[0])
		return -1;
	process_logs_open(w->ends, word[0]);
	return 0;
}

static int
do_master(struct process_world *w, char *const *word)
{
	(void)word;
	w->has_master = 1;
	return 0;
}

static int
do_reload(struct process_world *w, char *const *word)
{
	(void)word;
	return process_world_reload(w);
}

static int
do_tls(struct process_world *w, char *const *word)
{
	(void)word;
	process_ends_use_tls(w->ends);
	return 0;
}

static int
do_fds(struct process_world *w, char *const *word)
{
	if (!number_of(word[0]))
		return -1;
	fake_set_fd_limit(w->k, (int)number_of(word[0]));
	return 0;
}

static int
do_buffers(struct process_world *w, char *const *word)
{
	unsigned int n = number_of(word[0]);

	if (!n)
		return -1;
	fake_set_buffers(w->k, n, n);
	return 0;
}

/* Gives the clients that connect from now on ports of this number and above. */
static int
do_ports(struct process_world *w, char *const *word)
{
	if (!number_of(word[0]))
		return -1;
	fake_clients_from(w->k, number_of(word[0]));
	return 0;
}

static int
do_manager(struct process_world *w, char *const *word)
{
	uint64_t ns = 0;

	if (word[0] && (!is_word(word[0], "watchdog") || !word[1] || read_time(word[1], &ns) < 0))
		return -1;
	w->is_notified = 1;
	w->watchdog_ms = ns / FAKE_MS;
	return 0;
}

static int
do_client(struct action *a)
{
	struct process_ends *e = a->script->w->ends;
	char name[64], text[8192];
	const char *verb = a->word[1];

	(void)numbered(a, a->word[0], name, sizeof(name));
	if (is_word(verb, "connects") && number_of(a->word[2]))
		process_client_connects(e, name, number_of(a->word[2]),
			is_word(a->word[3], "tls")           ? PROCESS_CLIENT_TLS
				: is_word(a->word[3], "resumes") ? PROCESS_CLIENT_RESUMES
				: is_word(a->word[3], "h2")      ? PROCESS_CLIENT_H2
								 : PROCESS_CLIENT_PLAIN);
	else if (is_word(verb, "sends") && a->word[2])
		return process_client_sends(e, name,
			numbered(a, a->word[2], text, sizeof(text)));
	else if (is_word(verb, "shuts"))
		return process_client_leaves(e, name, PROCESS_CLIENT_SHUTS);
	else if (is_word(verb, "closes"))
		return process_client_leaves(e, name, PROCESS_CLIENT_CLOSES);
	else if (is_word(verb, "resets"))
		return process_client_leaves(e, name, PROCESS_CLIENT_RESETS);
	else
		return -1;
	return 0;
}

static void
run(struct action *a)
{
	static const struct {
		const char *name;
		int (*fn)(struct process_world *w, char *const *word);
	} actions[] = { { "server", do_server }, { "path", do_path }, { "names", do_names },
		{ "signal", do_signal }, { "admin", do_admin }, { "fds", do_fds },
		{ "logs", do_logs }, { "tls", do_tls }, { "manager", do_manager },
		{ "master", do_master }, { "reload", do_reload }, { "ports", do_ports },
		{ "buffers", do_buffers } };
	struct process_world *w = a->script->w;
	int r = -1;
	size_t i = 0;

	while (i < ARRAY_LEN(actions) && !is_word(a->word[0], actions[i].name))
		i++;
	r = i < ARRAY_LEN(actions) ? actions[i].fn(w, a->word + 1) : do_client(a);
	if (r < 0)
		process_world_error(w, "line %u of the script is not understood: %s %s", a->line,
			a->word[0], a->word[1] ? a->word[1] : "");
}

/* --- reading --- */

static void
action_is_due(struct fake *k, void *action)
{
	struct action *a = action;
	struct process_world *w = a->script->w;
	struct sbuf text;
	char out[512], part[256];

	(void)k;
	if (w->is_over)
		return;
	sbuf_init_fixed(&text, out, sizeof(out));
	for (unsigned int i = 0; i < a->n_words; i++)
		sbuf_addf(&text, " %s", numbered(a, a->word[i], part, sizeof(part)));
	out[strcspn(out, "\r\n")] = '\0';
	process_world_note(w, ">%s", out);
	run(a);
}

static struct action *
add_action(struct process_script *s, char *const *word, unsigned int n)
{
	struct action *a = &s->action[s->n_actions++];

	assert(s->n_actions < ACTIONS);
	a->script = s;
	a->n_words = n;
	a->line = s->line;
	memcpy(a->word, word, (n + 1) * sizeof(*word));
	return a;
}

static void
read_line(struct process_script *s, char *line)
{
	struct process_world *w = s->w;
	char *words[WORDS + 1], **word = words;
	unsigned int n = split(line, words), times = 1;
	uint64_t at = 0, every = 0;

	if (n == 0)
		return;
	if (is_word(word[0], "until") && word[1] && read_time(word[1], &w->until) == 0)
		return;
	if (read_time(word[0], &at) < 0) {
		run(add_action(s, word, n));
		return;
	}
	word++;
	if (is_word(word[0], "every") && word[1] && read_time(word[1], &every) == 0)
		word += 2;
	if (word[0] && word[0][0] == 'x' && number_of(word[0] + 1)) {
		times = number_of(word[0] + 1);
		word++;
	}
	n -= (unsigned int)(word - words);
	if (!n)
		process_world_error(w, "line %u of the script has no action", s->line);
	for (unsigned int i = 0; n && i < times; i++) {
		struct action *a = add_action(s, word, n);

		a->number = times > 1 ? i + 1 : 0;
		fake_after(w->k, at + i * every, action_is_due, a);
	}
}

struct process_script *
process_script_read(struct process_world *w, char *text)
{
	struct process_script *s = calloc(1, sizeof(*s));

	assert(s);
	s->w = w;
	while (text && *text) {
		char *line = text;

		s->line++;
		text += strcspn(text, "\n");
		if (*text)
			*text++ = '\0';
		read_line(s, line);
	}
	if (!w->until)
		process_world_error(w, "the script does not say until when");
	if (!w->why[0])
		return s;
	process_script_free(&s);
	return NULL;
}

void
process_script_free(struct process_script **s)
{
	free(*s);
	*s = NULL;
}
