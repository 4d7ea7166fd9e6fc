/* The action use-service, on the session's worker: makes the job of the service. */
#include "proxy/http1/use_service.h"

#include "proxy/model/service.h"

void
use_service(struct stream *s)
{
	struct http_txn *t = s->txn;
	const struct services *sv = s->engine->shared->services;
	const struct local_service *service = sv ? sv->metrics : NULL;

	t->job = service_new(s, service, t->req.target, (struct str){ NULL, 0 });
	t->served_by = service ? service->name : NULL;
	t->status = t->job ? 0 : 500;
}
