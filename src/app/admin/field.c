/* Typed and JSON forms of values. Pure: changes nothing but the string. */
#include "app/admin/field.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/json.h"

static const char *const type_names[] = {
	[FIELD_S32] = "s32", [FIELD_U32] = "u32", [FIELD_U64] = "u64",
	[FIELD_FLT] = "flt", [FIELD_STR] = "str"
};

/* The letters of tags, and their names in JSON. */
struct tag {
	char letter;
	const char *name;
};

static const struct tag origins[] = {
	{ 'M', "Metric" }, { 'S', "Status" }, { 'K', "Key" }, { 'C', "Config" }, { 'P', "Product" }
};
static const struct tag natures[] = {
	{ 'G', "Gauge" }, { 'L', "Limit" }, { 'm', "Min" }, { 'M', "Max" }, { 'R', "Rate" },
	{ 'C', "Counter" }, { 'D', "Duration" }, { 'A', "Age" }, { 'T', "Time" }, { 'N', "Name" },
	{ 'O', "Output" }, { 'a', "Avg" }
};
static const struct tag scopes[] = {
	{ 'C', "Cluster" }, { 'P', "Process" }, { 'S', "Service" }, { 's', "System" }
};

static const char *
tag_name(const struct tag *t, size_t n, char letter)
{
	for (size_t i = 0; i < n; i++)
		if (t[i].letter == letter)
			return t[i].name;
	return "Unknown";
}

/* As %f, without zeros at the end. */
static void
put_float(struct sbuf *out, double d)
{
	char text[64];
	size_t n = (size_t)snprintf(text, sizeof(text), "%.6f", d);

	while (n && text[n - 1] == '0')
		n--;
	if (n && text[n - 1] == '.')
		n--;
	sbuf_add(out, text, n);
}

void
field_put_value(struct sbuf *out, const struct field_value *v)
{
	switch (v->kind) {
	case VAL_INT:
		sbuf_addi(out, v->u.n);
		break;
	case VAL_FLOAT:
		put_float(out, v->u.d);
		break;
	case VAL_TEXT:
		sbuf_adds(out, v->u.s);
		break;
	case VAL_NONE:
	default:
		break;
	}
}

static const char *
field_type_name(const struct field *f, const struct field_value *v)
{
	return type_names[v->kind == VAL_FLOAT ? FIELD_FLT : f->type];
}

void
field_put_typed(struct sbuf *out, const struct field *f, const struct field_value *v, int has_desc)
{
	sbuf_addf(out, ":%s:%s:", f->tags, field_type_name(f, v));
	field_put_value(out, v);
	if (has_desc)
		sbuf_addf(out, ":\"%s\"", f->desc);
	sbuf_addc(out, '\n');
}

void
field_put_json(struct sbuf *out, const struct field *f, const struct field_value *v)
{
	sbuf_addf(out,
		"\"field\":{\"pos\":%u,\"name\":\"%s\"},\"processNum\":1,"
		"\"tags\":{\"origin\":\"%s\",\"nature\":\"%s\",\"scope\":\"%s\"},"
		"\"value\":{\"type\":\"%s\",\"value\":",
		f->pos, f->name, tag_name(origins, ARRAY_LEN(origins), f->tags[0]),
		tag_name(natures, ARRAY_LEN(natures), f->tags[1]),
		tag_name(scopes, ARRAY_LEN(scopes), f->tags[2]), field_type_name(f, v));
	if (f->type == FIELD_STR && v->kind == VAL_INT) {
		sbuf_addc(out, '"');
		field_put_value(out, v);
		sbuf_addc(out, '"');
	} else if (v->kind == VAL_TEXT) {
		json_put(out, str_of(v->u.s), SIZE_MAX);
	} else {
		field_put_value(out, v);
	}
	sbuf_addc(out, '}');
}

/* --- the schema --- */

static void
put_names(struct sbuf *out, const char *key, const struct tag *t, size_t n)
{
	sbuf_addf(out, "\"%s\":{\"type\":\"string\",\"enum\":[", key);
	for (size_t i = 0; i < n; i++)
		sbuf_addf(out, "\"%s\",", t[i].name);
	sbuf_adds(out, "\"Unknown\"]},");
}

static void
put_number_type(struct sbuf *out, const char *name, const char *min, const char *max)
{
	sbuf_addf(out,
		"\"%sValue\":{\"properties\":{\"type\":{\"type\":\"string\",\"enum\":[\"%s\"]},"
		"\"value\":{\"type\":\"integer\",\"minimum\":%s,\"maximum\":%s}},"
		"\"required\":[\"type\",\"value\"]},",
		name, name, min, max);
}

static void
put_value_types(struct sbuf *out)
{
	static const char *const names[] = { "s32", "s64", "u32", "u64", "str" };

	sbuf_adds(out, "\"typedValue\":{\"type\":\"object\",\"oneOf\":[");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		sbuf_addf(out,
			"%s{\"$ref\":\"#/definitions/typedValue/definitions/%sValue\"}",
			i ? "," : "", names[i]);
	sbuf_adds(out, "],\"definitions\":{");
	put_number_type(out, "s32", "-2147483648", "2147483647");
	put_number_type(out, "s64", "-9007199254740991", "9007199254740991");
	put_number_type(out, "u32", "0", "4294967295");
	put_number_type(out, "u64", "0", "9007199254740991");
	sbuf_adds(out,
		"\"strValue\":{\"properties\":{\"type\":{\"type\":\"string\",\"enum\":[\"str\"]},"
		"\"value\":{\"type\":\"string\"}},\"required\":[\"type\",\"value\"]},"
		"\"unknownValue\":{\"properties\":{\"type\":{\"type\":\"integer\",\"minimum\":0},"
		"\"value\":{\"type\":\"string\",\"enum\":[\"unknown\"]}},"
		"\"required\":[\"type\",\"value\"]}}}");
}

#define COMMON_REFS \
	"\"field\":{\"$ref\":\"#/definitions/field\"}," \
	"\"processNum\":{\"$ref\":\"#/definitions/processNum\"}," \
	"\"tags\":{\"$ref\":\"#/definitions/tags\"},"

void
field_put_schema(struct sbuf *out)
{
	sbuf_adds(out,
		"{\"$schema\":\"http://json-schema.org/draft-04/schema#\",\"oneOf\":["
		"{\"title\":\"Info\",\"type\":\"array\",\"items\":{\"title\":\"InfoItem\","
		"\"type\":\"object\",\"properties\":{" COMMON_REFS
		"\"value\":{\"$ref\":\"#/definitions/typedValue\"}},"
		"\"required\":[\"field\",\"processNum\",\"tags\",\"value\"]}},"
		"{\"title\":\"Stat\",\"type\":\"array\",\"items\":{\"title\":\"InfoItem\","
		"\"type\":\"object\",\"properties\":{\"objType\":{\"enum\":[\"Frontend\","
		"\"Backend\",\"Listener\",\"Server\",\"Unknown\"]},"
		"\"proxyId\":{\"type\":\"integer\",\"minimum\":0},"
		"\"id\":{\"type\":\"integer\",\"minimum\":0}," COMMON_REFS
		"\"typedValue\":{\"$ref\":\"#/definitions/typedValue\"}},"
		"\"required\":[\"objType\",\"proxyId\",\"id\",\"field\",\"processNum\",\"tags\","
		"\"value\"]}},"
		"{\"title\":\"Error\",\"type\":\"object\",\"properties\":{\"errorStr\":"
		"{\"type\":\"string\"}},\"required\":[\"errorStr\"]}],"
		"\"definitions\":{\"field\":{\"type\":\"object\",\"pos\":{\"type\":\"integer\","
		"\"minimum\":0},\"name\":{\"type\":\"string\"},\"required\":[\"pos\",\"name\"]},"
		"\"processNum\":{\"type\":\"integer\",\"minimum\":1},"
		"\"tags\":{\"type\":\"object\",");
	put_names(out, "origin", origins, ARRAY_LEN(origins));
	put_names(out, "nature", natures, ARRAY_LEN(natures));
	put_names(out, "scope", scopes, ARRAY_LEN(scopes));
	sbuf_adds(out, "\"required\":[\"origin\",\"nature\",\"scope\"]},");
	put_value_types(out);
	sbuf_adds(out, "}}\n");
}
