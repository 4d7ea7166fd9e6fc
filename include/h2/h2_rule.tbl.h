/*
 * The rules of received frames, in the order in which they are asked: the first that applies
 * decides. Section: of RFC 9113, where no other is named. Action and code: what follows. In the
 * conditions: f is the frame, w the facts before it (struct h2_known), p the beginning of its
 * payload; id and value are a setting's.
 */

/* H2_FRAME_RULE(ID, section, action, code, text, condition): by a frame's header alone. */
H2_FRAME_RULE(LENGTH, "4.2", CONN, FRAME_SIZE_ERROR, "a frame above SETTINGS_MAX_FRAME_SIZE",
	f->len > w->max_len)
H2_FRAME_RULE(FIRST, "3.4", CONN, PROTOCOL_ERROR, "the first frame is not SETTINGS",
	w->is_first && (f->type != H2_SETTINGS || (f->flags & H2_ACK)))
H2_FRAME_RULE(BLOCK_CUT, "6.10", CONN, PROTOCOL_ERROR, "a field block is cut by another frame",
	w->block && (f->type != H2_CONTINUATION || f->stream != w->block))
H2_FRAME_RULE(NO_BLOCK, "6.10", CONN, PROTOCOL_ERROR, "CONTINUATION without a field block",
	!w->block && f->type == H2_CONTINUATION)
H2_FRAME_RULE(PUSH, "8.4", CONN, PROTOCOL_ERROR, "PUSH_PROMISE, which is disabled",
	f->type == H2_PUSH_PROMISE)
H2_FRAME_RULE(NO_STREAM, "5.1.1", CONN, PROTOCOL_ERROR, "stream 0 in a frame of a stream",
	!f->stream && (frame_bit(f) & OF_STREAM))
H2_FRAME_RULE(STREAM, "6.5", CONN, PROTOCOL_ERROR, "a stream in a frame of the connection",
	f->stream && (frame_bit(f) & OF_CONNECTION))
H2_FRAME_RULE(SIZE, "4.2", CONN, FRAME_SIZE_ERROR, "a frame of the wrong size", !size_fits(f))
H2_FRAME_RULE(IDLE, "5.1", CONN, PROTOCOL_ERROR, "a frame of an idle stream",
	w->state == H2_IDLE && (frame_bit(f) & (BIT(H2_DATA) | BIT(H2_RST_STREAM) | BIT_WINDOW(f))))
H2_FRAME_RULE(OPENS, "5.1.1", CONN, PROTOCOL_ERROR, "HEADERS with a stream that is not the peer's",
	w->state == H2_IDLE && f->type == H2_HEADERS && !w->may_open)
H2_FRAME_RULE(PRIORITY_SIZE, "6.3", STREAM, FRAME_SIZE_ERROR, "PRIORITY of the wrong size",
	f->type == H2_PRIORITY && f->len != H2_PRIORITY_LEN)
H2_FRAME_RULE(LATE, "5.1", IGNORE, NO_ERROR, "a frame of a stream that was reset",
	w->state == H2_RESET && (frame_bit(f) & OF_STREAM))
H2_FRAME_RULE(CLOSED_HEADERS, "5.1", CONN, STREAM_CLOSED, "HEADERS of a closed stream",
	w->state == H2_CLOSED && f->type == H2_HEADERS)
H2_FRAME_RULE(CLOSED_DATA, "5.1", STREAM, STREAM_CLOSED, "DATA of a closed stream",
	w->state == H2_CLOSED && f->type == H2_DATA)
H2_FRAME_RULE(CLOSED, "5.1", IGNORE, NO_ERROR, "a frame that a closed stream may get",
	w->state == H2_CLOSED && (frame_bit(f) & OF_STREAM))
H2_FRAME_RULE(ENDED, "5.1", STREAM, STREAM_CLOSED, "HEADERS or DATA after END_STREAM",
	w->state == H2_ENDED && (frame_bit(f) & (BIT(H2_HEADERS) | BIT(H2_DATA))))
H2_FRAME_RULE(EARLY_DATA, "8.1", STREAM, PROTOCOL_ERROR, "DATA before the head of its message",
	w->state == H2_HEADLESS && f->type == H2_DATA)
H2_FRAME_RULE(TUNNEL, "8.5", STREAM, PROTOCOL_ERROR, "HEADERS in a tunnel",
	w->state == H2_TUNNEL && f->type == H2_HEADERS)
H2_FRAME_RULE(TRAILERS, "8.1", STREAM, PROTOCOL_ERROR, "trailers without END_STREAM",
	w->state == H2_OPEN && f->type == H2_HEADERS && !(f->flags & H2_END_STREAM))

/* H2_PAYLOAD_RULE(...): by the beginning of the payload, h2_prefix_len() bytes. */
H2_PAYLOAD_RULE(PADDING, "6.1", CONN, PROTOCOL_ERROR, "padding as long as its frame",
	padding_of(f, p) > f->len - h2_prefix_len(f))
H2_PAYLOAD_RULE(DEPENDS, "5.3.1 of RFC 7540", STREAM, PROTOCOL_ERROR, "a stream that depends on itself",
	f->stream && depends_on(f, p) == f->stream)
H2_PAYLOAD_RULE(NO_INCREMENT, "6.9", STREAM, PROTOCOL_ERROR, "WINDOW_UPDATE by 0",
	f->type == H2_WINDOW_UPDATE && !(h2_get32(p) & H2_MAX31))

/* H2_SETTING_RULE(...): by a setting; other settings are unknown and ignored (6.5.2). */
H2_SETTING_RULE(ENABLE_PUSH, "6.5.2", CONN, PROTOCOL_ERROR, "SETTINGS_ENABLE_PUSH above 1",
	id == H2_S_ENABLE_PUSH && value > 1)
H2_SETTING_RULE(SERVER_PUSH, "6.5.2", CONN, PROTOCOL_ERROR, "SETTINGS_ENABLE_PUSH of a server",
	id == H2_S_ENABLE_PUSH && value && w->is_client)
H2_SETTING_RULE(WINDOW, "6.5.2", CONN, FLOW_CONTROL_ERROR, "SETTINGS_INITIAL_WINDOW_SIZE above 2^31-1",
	id == H2_S_INITIAL_WINDOW_SIZE && value > H2_MAX31)
H2_SETTING_RULE(MAX_FRAME, "6.5.2", CONN, PROTOCOL_ERROR, "SETTINGS_MAX_FRAME_SIZE out of range",
	id == H2_S_MAX_FRAME_SIZE && (value < H2_FRAME_MIN_MAX || value > H2_FRAME_MAX_MAX))
H2_SETTING_RULE(CONNECT, "3 of RFC 8441", CONN, PROTOCOL_ERROR, "SETTINGS_ENABLE_CONNECT_PROTOCOL above 1",
	id == H2_S_ENABLE_CONNECT_PROTOCOL && value > 1)
