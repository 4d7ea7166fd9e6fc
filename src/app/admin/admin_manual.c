/* The commands as entries of the manual: -dK man8, --explain. Main thread. */
#include <ctype.h>
#include <string.h>

#include "app/admin/admin.h"
#include "base/compiler.h"
#include "base/sbuf.h"

static const struct command {
	const char *words, *args, *help, *level, *mode;
} commands[] = {
#define ADMIN_CMD(words, args, help, level, mode, fn) { words, args, help, #level, #mode },
#include "app/admin/commands.tbl.h"
};

static const struct {
	const char *commands, *text;
} answers[] = {
#define ADMIN_ANSWER(commands, text) { commands, text },
#include "app/admin/answers.tbl.h"
};

/* The description of the answer, NULL if there is none. */
static const char *
answer_of(const char *command)
{
	for (size_t i = 0; i < ARRAY_LEN(answers); i++)
		if (cfg_entry_is_listed(answers[i].commands, command))
			return answers[i].text;
	return NULL;
}

/* Appends the text in lower case, or with a capital first. */
static void
put_in_case(struct sbuf *out, const char *s, int is_lower)
{
	for (size_t i = 0; s[i]; i++)
		sbuf_addc(out, (char)(is_lower ? tolower((unsigned char)s[i])
				: i		? s[i]
						: toupper((unsigned char)s[i])));
}

void
admin_entries(cfg_entry_fn *fn, void *arg)
{
	struct sbuf doc, place;

	sbuf_init(&doc, 0);
	sbuf_init(&place, 0);
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		const struct command *c = &commands[i];
		const char *answer = answer_of(c->words);

		put_in_case(&doc, c->help, 0);
		sbuf_adds(&doc, ".");
		sbuf_adds(&place, "Level: ");
		put_in_case(&place, c->level, 1);
		if (strncmp(c->mode, "EXP", 3) == 0) {
			sbuf_adds(&place, ", in the mode ");
			put_in_case(&place, c->mode, 1);
		}
		fn(arg, &(struct cfg_entry){ .heading = "COMMANDS",
				.intro = "Commands of the admin socket, with their answers "
					 "and the level that they need.\n",
				.name = c->words,
				.syntax = *c->args ? c->args : NULL,
				.doc = doc.p,
				.answer = answer,
				.place = place.p });
		sbuf_reset(&doc);
		sbuf_reset(&place);
	}
	sbuf_fini(&doc);
	sbuf_fini(&place);
}
