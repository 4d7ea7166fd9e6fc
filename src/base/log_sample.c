/* Chooses the messages of a log line that are sent. Ranges do not change after parsing; the counter
 * is shared by all workers without a lock. */
#include "base/log_sample.h"

#include "base/atomic.h"

/* A decimal number from 1 on; 0: none, or too large. */
static uint32_t
next_number_in(const char **text)
{
	uint64_t n = 0;
	const char *p = *text;

	for (; *p >= '0' && *p <= '9'; p++) {
		n = n * 10 + (uint64_t)(*p - '0');
		if (n > UINT32_MAX)
			return 0;
	}
	*text = p;
	return (uint32_t)n;
}

static int
overlaps_another(const struct log_sample *s, uint32_t from, uint32_t to)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (from <= s->range[i].to && to >= s->range[i].from)
			return 1;
	return 0;
}

/* NULL, or why not. */
static const char *
next_range_in(struct log_sample *s, const char **text)
{
	uint32_t from = next_number_in(text), to = from;

	if (**text == '-') {
		++*text;
		to = next_number_in(text);
	}
	if (!from || to < from)
		return "a range is <from> or <from>-<to>, with numbers from 1 on";
	if (overlaps_another(s, from, to))
		return "ranges overlap";
	if (s->n == LOG_SAMPLE_RANGES_MAX)
		return "there are too many ranges";
	s->range[s->n].from = from;
	s->range[s->n++].to = to;
	return NULL;
}

/* NULL, or why not. */
static const char *
sample_size_in(struct log_sample *s, const char *text)
{
	if (*text++ != ':')
		return "the size is missing, as in 1:10";
	s->size = next_number_in(&text);
	if (!s->size || *text)
		return "the size must be a number from 1 to 4294967295";
	for (unsigned int i = 0; i < s->n; i++)
		if (s->range[i].to > s->size)
			return "a range goes beyond the size";
	return NULL;
}

int
log_sample_parse(const char *text, struct log_sample *out, const char **why)
{
	*out = (struct log_sample){ 0 };
	*why = next_range_in(out, &text);
	while (!*why && *text == ',') {
		text++;
		*why = next_range_in(out, &text);
	}
	if (!*why)
		*why = sample_size_in(out, text);
	return *why ? -1 : 0;
}

int
log_sample_take(struct log_sample *s)
{
	uint64_t at;

	if (!s->size)
		return 1;
	at = (atomic_add(&s->seen, 1) - 1) % s->size + 1;
	for (unsigned int i = 0; i < s->n; i++)
		if (at >= s->range[i].from && at <= s->range[i].to)
			return 1;
	return 0;
}
