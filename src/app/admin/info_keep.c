/* The fields of show info that outlive a worker process: its counters and highest values. First
 * worker. They are noted in the memory file whenever they are shown, and now and then. */
#include <stdio.h>
#include <string.h>

#include "app/admin/info.h"
#include "app/process/process.h"
#include "base/hash.h"

/* HAProxy calls these something else. */
static const enum info_field counted[] = { INFO_droppedlogs, INFO_failedresolutions,
	INFO_totalbytesout, INFO_totalspliced };
static const enum info_field maxima[] = { INFO_maxconnrate, INFO_maxsessrate,
	INFO_maxsslrate, INFO_sslfrontendmaxkeyrate, INFO_sslbackendmaxkeyrate };

enum info_nature { INFO_OF_NOW, INFO_COUNTED, INFO_HIGHEST };

static enum info_nature
nature_of(enum info_field f)
{
	for (size_t i = 0; i < ARRAY_LEN(maxima); i++)
		if (maxima[i] == f)
			return INFO_HIGHEST;
	for (size_t i = 0; i < ARRAY_LEN(counted); i++)
		if (counted[i] == f)
			return INFO_COUNTED;
	return info_field_of(f)->tags[1] == 'C' ? INFO_COUNTED : INFO_OF_NOW;
}

/* Changes when a field is added or gets another meaning. */
static void
put_layout_name(char *to, size_t len)
{
	uint32_t h = 0;

	for (int f = 0; f < INFO_FIELDS; f++) {
		const char *name = info_field_of((enum info_field)f)->name;
		enum info_nature n = nature_of((enum info_field)f);

		h = hash_crc32c(h, name, strlen(name) + 1);
		h = hash_crc32c(h, &n, sizeof(n));
	}
	(void)snprintf(to, len, "info %08x", h);
}

static int
is_highest(unsigned int f)
{
	return nature_of((enum info_field)f) == INFO_HIGHEST;
}

int
info_keep(struct process *p)
{
	char name[16];

	put_layout_name(name, sizeof(name));
	return keep_numbers(p, name, INFO_FIELDS, is_highest, &p->info);
}

static void
note_values(const struct keep_numbers *kept, const struct info *i)
{
	for (int f = 0; f < INFO_FIELDS; f++)
		if (nature_of((enum info_field)f) != INFO_OF_NOW && i->v[f].kind == VAL_INT)
			kept->own[f] = (uint64_t)i->v[f].u.n;
}

void
info_note(struct process *p)
{
	struct info i;

	if (!p->info.own)
		return;
	info_read_own(&i, p, 0);
	note_values(&p->info, &i);
}

void
info_add_past(struct info *i, const struct process *p)
{
	if (!p->info.own)
		return;
	note_values(&p->info, i);
	for (int f = 0; f < INFO_FIELDS; f++) {
		enum info_nature n = nature_of((enum info_field)f);
		int64_t past;

		if (n == INFO_OF_NOW || i->v[f].kind != VAL_INT)
			continue;
		past = (int64_t)keep_number_past(&p->info, (unsigned int)f);
		if (n == INFO_COUNTED)
			i->v[f].u.n += past;
		else
			i->v[f].u.n = MAX(i->v[f].u.n, past);
	}
}
