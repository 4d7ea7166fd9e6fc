/* DNS messages, written and parsed. No I/O: what arrives is hostile, every length is checked, and
 * names are expanded by c-ares, which bounds the pointers of compressed ones. */
#include "dns/message.h"

#include <ares.h>
#include <arpa/nameser.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

#define HEADER_SIZE 12
#define QUESTION_TAIL 4 /* type and class */
#define RR_TAIL 10      /* type, class, ttl, length */
#define LABEL_MAX 63

/* --- names --- */

int
dns_name_set(char out[DNS_NAME_MAX + 1], const char *name)
{
	size_t n = strlen(name), label = 0;

	if (n && name[n - 1] == '.')
		n--;
	/* On the wire each label has a length before it, and a zero ends the name. */
	if (!n || n + 2 > DNS_NAME_MAX)
		return -ERR_INVAL;
	for (size_t i = 0; i < n; i++) {
		label = name[i] == '.' ? 0 : label + 1;
		if (label > LABEL_MAX || (name[i] == '.' && (i == 0 || name[i - 1] == '.')))
			return -ERR_INVAL;
		out[i] = str_lower(name[i]);
	}
	out[n] = '\0';
	return 0;
}

/* --- queries --- */

int
dns_query_write(uint8_t out[DNS_QUERY_MAX], const char *name, enum dns_type type, uint16_t id,
	unsigned int payload)
{
	unsigned char *buf = NULL;
	int len = 0, r;

	r = ares_create_query(name, ns_c_in, type, id, 1, &buf, &len, (int)payload);
	if (r == ARES_ENOMEM)
		return -ERR_NOMEM;
	if (r != ARES_SUCCESS)
		return -ERR_INVAL;
	if (len > DNS_QUERY_MAX)
		r = -ERR_INVAL;
	else
		memcpy(out, buf, (size_t)len);
	ares_free_string(buf);
	return r ? r : len;
}

/* --- responses --- */

/* A place in a message. A failed read sets bad, and later reads give zeros. */
struct reader {
	const uint8_t *p;
	size_t n, at;
	int bad, no_memory;
};

struct rr {
	char owner[DNS_NAME_MAX + 1];
	unsigned int type, class;
	size_t data, len; /* of its RDATA */
};

static unsigned int
get_u16(const uint8_t *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

uint16_t
dns_message_id(const uint8_t *p)
{
	return (uint16_t)get_u16(p);
}

static unsigned int
read_u16(struct reader *r)
{
	if (r->bad || r->n - r->at < 2) {
		r->bad = 1;
		return 0;
	}
	r->at += 2;
	return get_u16(r->p + r->at - 2);
}

static void
skip_bytes(struct reader *r, size_t n)
{
	if (r->bad || r->n - r->at < n)
		r->bad = 1;
	else
		r->at += n;
}

static void
read_name(struct reader *r, char out[DNS_NAME_MAX + 1])
{
	char *text = NULL;
	long used = 0;
	int e;

	out[0] = '\0';
	if (r->bad || r->at >= r->n) {
		r->bad = 1;
		return;
	}
	e = ares_expand_name(r->p + r->at, r->p, (int)r->n, &text, &used);
	if (e != ARES_SUCCESS) {
		r->no_memory |= e == ARES_ENOMEM;
		r->bad = 1;
		return;
	}
	/* The root is an empty name. */
	if (text[0] && dns_name_set(out, text) < 0)
		r->bad = 1;
	ares_free_string(text);
	skip_bytes(r, (size_t)used);
}

static void
read_rr(struct reader *r, struct rr *rr)
{
	read_name(r, rr->owner);
	rr->type = read_u16(r);
	rr->class = read_u16(r);
	skip_bytes(r, 4);
	rr->len = read_u16(r);
	rr->data = r->at;
	skip_bytes(r, rr->len);
}

/* A reader of the RDATA, which may refer to names anywhere in the message. */
static struct reader
data_of(const struct reader *r, const struct rr *rr)
{
	return (struct reader){ .p = r->p, .n = r->n, .at = rr->data };
}

/*
 * Follows the aliases from the question's name, and leaves their end in `name`. They stand in any
 * order. 0, or -1: they form a circle or are too many, or one is invalid.
 */
static int
follow_cnames(
	const struct reader *answers, unsigned int count, char *name, struct dns_response *out)
{
	struct rr rr;

	for (unsigned int hops = 0; hops <= DNS_CNAMES_MAX; hops++) {
		struct reader r = *answers;
		int found = 0;

		for (unsigned int i = 0; i < count && !found; i++) {
			struct reader data;

			read_rr(&r, &rr);
			if (r.bad)
				return -1;
			if (rr.type != DNS_CNAME || rr.class != ns_c_in || strcmp(rr.owner, name))
				continue;
			data = data_of(&r, &rr);
			read_name(&data, name);
			if (data.bad || data.at != rr.data + rr.len || !name[0])
				return -1;
			found = out->has_cname = 1;
		}
		if (!found)
			return 0;
	}
	return -1;
}

static int
set_address(struct addr *a, const uint8_t *p, unsigned int type, size_t len)
{
	memset(a, 0, sizeof(*a));
	if (type == DNS_A && len == sizeof(a->u.in.sin_addr)) {
		a->u.in.sin_family = AF_INET;
		memcpy(&a->u.in.sin_addr, p, len);
		a->len = sizeof(a->u.in);
	} else if (type == DNS_AAAA && len == sizeof(a->u.in6.sin6_addr)) {
		a->u.in6.sin6_family = AF_INET6;
		memcpy(&a->u.in6.sin6_addr, p, len);
		a->len = sizeof(a->u.in6);
	}
	return a->len ? 0 : -1;
}

/* 0, or -1: its data is invalid. A target of "." means that there is no such service (RFC 2782). */
static int
read_record(const struct reader *r, const struct rr *rr, struct dns_record *out)
{
	struct reader data = data_of(r, rr);

	out->type = (enum dns_type)rr->type;
	out->priority = out->weight = out->port = 0;
	out->target[0] = '\0';
	if (rr->type != DNS_SRV)
		return set_address(&out->addr, r->p + rr->data, rr->type, rr->len);
	out->addr.len = 0;
	out->priority = (uint16_t)read_u16(&data);
	out->weight = (uint16_t)read_u16(&data);
	out->port = (uint16_t)read_u16(&data);
	read_name(&data, out->target);
	return data.bad || data.at != rr->data + rr->len ? -1 : 0;
}

/* Room for one more record. 0 or -ERR_NOMEM. */
static int
room_for_record(struct dns_response *out, unsigned int *cap)
{
	struct dns_record *more = array_grow(out->record, out->n, cap, sizeof(*more));

	if (!more)
		return -ERR_NOMEM;
	out->record = more;
	return 0;
}

/* Adds the records of the name that was found, the end of its aliases. Records of other names are
 * ignored. */
static int
gather_records(struct reader *r, unsigned int count, const char *name, enum dns_type type,
	struct dns_response *out)
{
	unsigned int cap = 0;
	struct rr rr;

	for (unsigned int i = 0; i < count && !r->bad; i++) {
		read_rr(r, &rr);
		if (r->bad || rr.type != type || rr.class != ns_c_in || strcmp(rr.owner, name) ||
			out->n == DNS_RECORDS_MAX)
			continue;
		if (room_for_record(out, &cap) < 0)
			return -ERR_NOMEM;
		if (read_record(r, &rr, &out->record[out->n]) < 0)
			r->bad = 1;
		else if (type != DNS_SRV || out->record[out->n].target[0])
			out->n++;
	}
	return 0;
}

/* The addresses of SRV targets. Only a target without an address so far takes one. */
static void
gather_glue(struct reader *r, unsigned int count, struct dns_response *out)
{
	struct rr rr;
	struct addr a;

	for (unsigned int i = 0; i < count; i++) {
		read_rr(r, &rr);
		if (r->bad)
			return;
		if ((rr.type != DNS_A && rr.type != DNS_AAAA) || rr.class != ns_c_in ||
			set_address(&a, r->p + rr.data, rr.type, rr.len) < 0)
			continue;
		for (unsigned int k = 0; k < out->n; k++)
			if (!out->record[k].addr.len && !strcmp(out->record[k].target, rr.owner))
				out->record[k].addr = a;
	}
}

static void
skip_records(struct reader *r, unsigned int count)
{
	struct rr rr;

	for (unsigned int i = 0; i < count && !r->bad; i++)
		read_rr(r, &rr);
}

static enum dns_status
status_of_code(unsigned int code)
{
	switch (code) {
	case ns_r_noerror:
		return DNS_VALID;
	case ns_r_nxdomain:
		return DNS_NX;
	case ns_r_refused:
		return DNS_REFUSED;
	default:
		return DNS_SERVER_ERROR;
	}
}

/* The header and the question. */
static enum dns_status
parse_question(struct reader *r, const char *name, enum dns_type type)
{
	unsigned int flags = get_u16(r->p + 2);
	char asked[DNS_NAME_MAX + 1];

	/* A response to a standard query: QR set, OPCODE zero. */
	if ((flags & 0xf800) != 0x8000 || get_u16(r->p + 4) != 1)
		return DNS_INVALID;
	r->at = HEADER_SIZE;
	read_name(r, asked);
	if (read_u16(r) != type || read_u16(r) != ns_c_in || r->bad || strcmp(asked, name))
		return DNS_INVALID;
	if (flags & 0x0200)
		return DNS_TRUNCATED;
	return status_of_code(flags & 0xf);
}

static enum dns_status
parse_sections(struct reader *r, char *name, enum dns_type type, struct dns_response *out)
{
	unsigned int answers = get_u16(r->p + 6), authorities = get_u16(r->p + 8);

	if (!answers)
		return DNS_NO_RECORD;
	if (follow_cnames(r, answers, name, out) < 0)
		return out->has_cname ? DNS_CNAME_ERROR : DNS_INVALID;
	if (gather_records(r, answers, name, type, out) < 0)
		r->no_memory = 1;
	if (r->bad || r->no_memory)
		return DNS_INVALID;
	if (!out->n)
		return out->has_cname ? DNS_CNAME_ERROR : DNS_NO_RECORD;
	if (type == DNS_SRV) {
		skip_records(r, authorities);
		gather_glue(r, get_u16(r->p + 10), out);
	}
	return DNS_VALID;
}

int
dns_response_parse(struct dns_response *out, const uint8_t *p, size_t n, const char *name,
	enum dns_type type)
{
	struct reader r = { .p = p, .n = n };
	char end[DNS_NAME_MAX + 1];

	memset(out, 0, sizeof(*out));
	out->status = DNS_INVALID;
	if (n < HEADER_SIZE || n > UINT16_MAX)
		return 0;
	out->status = parse_question(&r, name, type);
	if (out->status == DNS_VALID) {
		memcpy(end, name, strlen(name) + 1);
		out->status = parse_sections(&r, end, type, out);
	}
	if (out->status != DNS_VALID)
		dns_response_fini(out);
	return r.no_memory ? -ERR_NOMEM : 0;
}

void
dns_response_fini(struct dns_response *r)
{
	mem_free(r->record);
	r->record = NULL;
	r->n = 0;
}
