/* Fields that a server's PROXY headers have besides the usual ones. While the configuration is
 * read; afterwards they are only read. */
#include "proxy/model/server_tlv.h"

#include "base/err.h"
#include "base/mem.h"

int
server_tlv_add(struct server_tlv **list, uint8_t type, const char *text,
	const struct cfg_where *where)
{
	struct server_tlv *t = mem_zalloc(sizeof(*t));

	if (!t)
		return -ERR_NOMEM;
	t->text = mem_strdup(text);
	if (!t->text) {
		mem_free(t);
		return -ERR_NOMEM;
	}
	t->type = type;
	t->where = *where;
	while (*list)
		list = &(*list)->next;
	*list = t;
	return 0;
}

void
server_tlvs_free(struct server_tlv **list)
{
	while (*list) {
		struct server_tlv *t = *list;

		*list = t->next;
		rule_fmt_free(&t->fmt);
		mem_free(t->text);
		mem_free(t);
	}
}

int
server_tlvs_copy(struct server_tlv **to, const struct server_tlv *from)
{
	*to = NULL;
	for (; from; from = from->next)
		if (server_tlv_add(to, from->type, from->text, &from->where) < 0) {
			server_tlvs_free(to);
			return -ERR_NOMEM;
		}
	return 0;
}

unsigned int
server_tlvs_count(const struct server_tlv *list)
{
	unsigned int n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}
