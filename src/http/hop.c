/* Drops the fields that concern one connection only. Pure; one pass over the fields. */
#include "http/hop.h"

#include "http/scan.h"

static int
lists(struct str rest, struct str token)
{
	struct str one;

	while (http_list_next(&rest, &one))
		if (str_is_nocase(one, token))
			return 1;
	return 0;
}

/* True for a request of HTTP/1.0: its sender knows neither TE nor Upgrade. */
static int
is_old_request(const struct http_head *h)
{
	return h->kind == HTTP_REQUEST && h->version == HTTP_1_0;
}

static unsigned int
take_connection(struct http_head *h, unsigned int place)
{
	const struct http_field *f = &h->field[place];
	unsigned int said = 0;

	if (!is_old_request(h) && lists(f->value, STR("upgrade")))
		said |= HTTP_HOP_SWITCH;
	if (!f->arrived && lists(f->value, STR("close")))
		said |= HTTP_HOP_CLOSE;
	http_drop(h, place);
	return said;
}

/* Leaves trailers alone: transfer codings are settled between neighbours. */
static void
take_te(struct http_head *h, unsigned int place)
{
	if (h->kind != HTTP_REQUEST || is_old_request(h) ||
		!lists(h->field[place].value, STR("trailers")) ||
		http_set_value(h, place, STR("trailers")) < 0)
		http_drop(h, place);
}

/* Drops Upgrade where no upgrade is asked for. A rule may put it into a response alone. */
static void
drop_upgrade(struct http_head *h)
{
	for (int i = http_find_id(h, HTTP_F_UPGRADE, 0); i >= 0;
		i = http_find_id(h, HTTP_F_UPGRADE, (unsigned int)i + 1))
		if (h->kind == HTTP_REQUEST || h->field[i].arrived)
			http_drop(h, (unsigned int)i);
}

unsigned int
http_strip_hop(struct http_head *h)
{
	unsigned int said = 0, protocols = 0;

	for (unsigned int i = 0; i < h->n; i++) {
		if (h->field[i].dropped)
			continue;
		switch (h->field[i].id) {
		case HTTP_F_CONNECTION:
			said |= take_connection(h, i);
			break;
		case HTTP_F_UPGRADE:
			protocols++;
			break;
		case HTTP_F_TE:
			take_te(h, i);
			break;
		case HTTP_F_KEEP_ALIVE:
		case HTTP_F_PROXY_CONNECTION:
			if (h->field[i].arrived)
				http_drop(h, i);
			break;
		default:
			break;
		}
	}
	if (protocols && (said & HTTP_HOP_SWITCH))
		said |= HTTP_HOP_UPGRADE;
	else if (protocols)
		drop_upgrade(h);
	return said;
}
