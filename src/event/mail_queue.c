/* The queue of a mailbox: any thread posts, its owner takes and sleeps. All accesses to tail,
 * seq and state are sequentially consistent; mail_queue.h explains why no owner sleeps on a
 * message. */
#include "event/mail_queue.h"

#include "base/err.h"

static struct mail_slot *
slot_at(const struct mail_queue *q, uint64_t pos)
{
	return &q->slots[pos & q->mask];
}

void
mail_queue_init(struct mail_queue *q, struct mail_slot *slots, uint64_t size, uint64_t first)
{
	q->slots = slots;
	q->mask = size - 1;
	q->head = first;
	atomic_init(&q->tail, first);
	atomic_init(&q->state, MAIL_RUNNING);
	for (uint64_t pos = first; pos - first < size; pos++)
		atomic_init(&slot_at(q, pos)->seq, pos);
}

int
mail_queue_post(struct mail_queue *q, const struct mail *m)
{
	uint64_t pos = atomic_load(&q->tail);
	struct mail_slot *slot;

	for (;;) {
		int64_t ahead;

		slot = slot_at(q, pos);
		ahead = (int64_t)(atomic_load(&slot->seq) - pos);
		/* The message of the previous round has not been taken. */
		if (ahead < 0)
			return -ERR_FULL;
		/* Another poster has taken this number: try again with the current tail. */
		if (ahead > 0)
			pos = atomic_load(&q->tail);
		else if (atomic_compare_exchange_strong(&q->tail, &pos, pos + 1))
			break;
	}
	slot->mail = *m;
	atomic_store(&slot->seq, pos + 1);
	return 0;
}

int
mail_queue_claim_wakeup(struct mail_queue *q)
{
	if (atomic_load(&q->state) == MAIL_RUNNING)
		return 0;
	return atomic_exchange(&q->state, MAIL_RUNNING) == MAIL_ASLEEP;
}

int
mail_queue_has_mail(const struct mail_queue *q)
{
	return atomic_load(&slot_at(q, q->head)->seq) == q->head + 1;
}

int
mail_queue_take(struct mail_queue *q, struct mail *out)
{
	struct mail_slot *slot = slot_at(q, q->head);

	if (!mail_queue_has_mail(q))
		return 0;
	*out = slot->mail;
	atomic_store(&slot->seq, q->head + q->mask + 1);
	q->head++;
	return 1;
}

int
mail_queue_fall_asleep(struct mail_queue *q)
{
	uint32_t checking = MAIL_CHECKING;

	atomic_store(&q->state, MAIL_CHECKING);
	if (mail_queue_has_mail(q)) {
		atomic_store(&q->state, MAIL_RUNNING);
		return 0;
	}
	/* A poster that saw CHECKING has set RUNNING meanwhile: there are messages. */
	return atomic_compare_exchange_strong(&q->state, &checking, MAIL_ASLEEP);
}

void
mail_queue_wake_up(struct mail_queue *q)
{
	atomic_store(&q->state, MAIL_RUNNING);
}
