/* The action use-service: a service of the program responds. Parsed on the main thread, only read
 * after that. */
#include "cfg/suggest.h"
#include "rule/action/act.h"

static const char exporter_name[] = "prometheus-exporter";

static int
parse_service(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	struct cfg_suggest s;

	(void)v;
	(void)at;
	if (act_need(r, ctx, arg, 1) < 0)
		return -1;
	if (act_is(ctx, arg, exporter_name))
		return arg + 1;
	if (rule_is_of_lua(str_of(cfg_arg(ctx, arg))))
		return cfg_error(ctx, arg, "'%s use-service %s' is not supported.",
			rule_place_name(r->place), cfg_arg(ctx, arg));
	cfg_suggest_init(&s, cfg_arg(ctx, arg));
	cfg_suggest_offer(&s, exporter_name);
	return cfg_error(ctx, arg,
		s.best ? "'%s use-service' : unknown service name '%s'; did you mean '%s'?"
		       : "'%s use-service' : unknown service name '%s'; there is only '%s'.",
		rule_place_name(r->place), cfg_arg(ctx, arg), exporter_name);
}

static enum rule_result
run_service(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)cx;
	out->by = r;
	out->what = RULE_END_SERVICE;
	return RULE_FINAL;
}

const struct rule_action rule_service_actions[] = {
	{ .name = "use-service",
		.places = RULE_IN(HTTP_REQUEST),
		.parse = parse_service,
		.ends = 1,
		.run = run_service,
		.syntax = "prometheus-exporter",
		.doc = "Responds with metrics in Prometheus' text format." },
	{ 0 },
};
