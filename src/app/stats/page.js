// The page works without this: it filters, sorts, shows details in a panel, and fetches the page again, of which it
// changes only the lines that differ. Each row and each part of the overview is a line with an id.
"use strict";
(() => {
	const byId = (id) => document.getElementById(id);
	const from = document.body.dataset.from;
	const SAMPLES = 61;

	// What outlives a reload of the page.
	const key = "tacit " + location.pathname;
	const kept = { find: "", only: "", column: 0, falls: true, live: Number(document.body.dataset.refresh) > 0, samples: [] };
	try {
		Object.assign(kept, JSON.parse(sessionStorage.getItem(key)));
	} catch (e) {
		// No storage: the page forgets.
	}
	const keep = () => {
		try {
			sessionStorage.setItem(key, JSON.stringify(kept));
		} catch (e) {
			kept.samples.length = 0;
		}
	};

	// --- rows ---
	// line: as it was fetched last; isOld: the page shows an earlier one, since the row is out of sight.
	const rows = new Map();
	const elementOf = (line) => {
		const t = document.createElement("template");
		t.innerHTML = line;
		return t.content.firstElementChild;
	};
	const copyInto = (old, fresh) => {
		if (old.innerHTML !== fresh.innerHTML) {
			old.innerHTML = fresh.innerHTML;
		}
		old.className = fresh.className;
		if (old.title !== fresh.title) {
			old.title = fresh.title;
		}
	};
	const renew = (row) => {
		if (!row.isOld) {
			return;
		}
		row.isOld = false;
		const fresh = elementOf(row.line);
		row.tr.className = fresh.className;
		row.tr.dataset.v = fresh.dataset.v;
		// The first cell has the box that may be ticked, and the link that may have the focus.
		row.tr.querySelector("td a").title = fresh.querySelector("td a").title;
		for (let i = 1; i < fresh.cells.length; i++) {
			copyInto(row.tr.cells[i], fresh.cells[i]);
		}
	};
	const watch = new IntersectionObserver((entries) => {
		for (const e of entries) {
			const row = rows.get(e.target.id);
			if (row) {
				row.isSeen = e.isIntersecting;
				if (row.isSeen) {
					renew(row);
				}
			}
		}
	});
	const addRow = (tr, line) => {
		const row = { tr, line, isOld: false, isSeen: false, place: rows.size };
		rows.set(tr.id, row);
		watch.observe(tr);
		return row;
	};
	for (const tr of document.querySelectorAll("section tbody tr")) {
		addRow(tr, null);
	}

	// --- filter ---
	const find = byId("find");
	const escaped = { amp: "&", lt: "<", gt: ">", quot: "\"", "#39": "'", nbsp: "\u00a0" };
	// The name, the state and the check of a row, with their titles.
	const textOf = (row) => {
		const html = row.line || row.tr.outerHTML;
		let end = 0;
		for (let i = 0; i < 3; i++) {
			end = html.indexOf("</td>", end + 1);
		}
		return html.slice(html.indexOf("<td"), end).replace(/<[^>]*?(?: title="([^"]*)"[^>]*)?>/g, " $1 ")
			.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (m, name) => escaped[name]);
	};
	const markStates = () => {
		for (const a of document.querySelectorAll("#states a")) {
			const isChosen = a.classList[0] === kept.only;
			a.classList.toggle("chosen", isChosen);
			a.setAttribute("role", "button");
			a.setAttribute("aria-pressed", isChosen);
		}
	};
	const classOf = (row) => (row.line ? row.line.match(/ class="([^"]*)"/)[1] : row.tr.className);
	const filter = () => {
		// No server has that state any more.
		if (kept.only && !document.querySelector("#states a." + kept.only)) {
			kept.only = "";
		}
		const words = kept.find.toLowerCase().split(/\s+/).filter((w) => w);
		for (const section of document.querySelectorAll("section")) {
			const name = section.querySelector("h2").textContent;
			let shown = 0;
			for (const tr of section.querySelectorAll("tbody tr")) {
				const row = rows.get(tr.id);
				const text = words.length ? (name + " " + textOf(row)).toLowerCase() : "";
				const hide = !words.every((w) => text.includes(w)) ||
					(kept.only && !(classOf(row).startsWith("srv ") && classOf(row).split(" ").includes(kept.only)));
				if (tr.hidden !== hide) {
					tr.hidden = hide;
				}
				shown += hide ? 0 : 1;
			}
			section.hidden = !shown;
		}
		markStates();
	};
	if (find.value) {
		kept.find = find.value;
	}
	find.value = kept.find;
	find.placeholder = "Search";
	find.setAttribute("aria-label", "Search in names, states and addresses");
	find.nextElementSibling.hidden = true;
	find.addEventListener("input", () => {
		kept.find = find.value;
		filter();
		keep();
	});
	find.form.addEventListener("submit", (e) => e.preventDefault());

	// --- order ---
	const valuesOf = (row) => {
		const text = row.line ? row.line.match(/ data-v="([^"]*)"/)[1] : row.tr.dataset.v;
		return Number(text.split(",")[kept.column - 2]);
	};
	const nameOf = (row) => row.tr.cells[0].textContent;
	const names = new Intl.Collator(undefined, { numeric: true });
	const compare = (a, b) => {
		if (!kept.column) {
			return a.row.place - b.row.place;
		}
		const d = kept.column === 1 ? names.compare(a.v, b.v) : a.v - b.v;
		return d ? (kept.falls ? -d : d) : a.row.place - b.row.place;
	};
	const sort = () => {
		// The row with the focus stays, and others are put around it: one that is moved loses it.
		const held = document.activeElement && document.activeElement.closest("tr");
		for (const body of document.querySelectorAll("section tbody")) {
			const now = [...body.querySelectorAll("tr.srv")];
			const wanted = now.map((tr) => {
				const row = rows.get(tr.id);
				return { row, v: kept.column === 1 ? nameOf(row) : kept.column ? valuesOf(row) : 0 };
			}).sort(compare);
			let next = body.querySelector("tr.back");
			for (const w of wanted.reverse()) {
				if (w.row.tr !== held && w.row.tr.nextElementSibling !== next) {
					body.insertBefore(w.row.tr, next);
				}
				next = w.row.tr;
			}
		}
		for (const th of document.querySelectorAll("section thead th")) {
			const isOrder = th.cellIndex + 1 === kept.column;
			th.setAttribute("aria-sort", !isOrder ? "none" : kept.falls ? "descending" : "ascending");
		}
	};
	// Numbers begin with the highest, names and states with the first; the third time there is no order.
	const sortBy = (column) => {
		const first = column > 2;
		if (kept.column !== column) {
			kept.column = column;
			kept.falls = first;
		} else if (kept.falls === first) {
			kept.falls = !first;
		} else {
			kept.column = 0;
		}
		sort();
		keep();
	};
	for (const th of document.querySelectorAll("section thead th")) {
		th.dataset.sort = "";
		th.tabIndex = 0;
		th.addEventListener("click", () => sortBy(th.cellIndex + 1));
		th.addEventListener("keydown", (e) => {
			if (e.target === th && (e.key === "Enter" || e.key === " ")) {
				e.preventDefault();
				sortBy(th.cellIndex + 1);
			}
		});
	}

	// --- boxes ---
	// Rows that the filter hides are changed, too: all that are ticked are counted.
	const countSelected = (form) => {
		const n = form.querySelectorAll("input[name=s]:checked").length;
		form.querySelector(".act label").firstChild.data = n ? `${n} selected server${n > 1 ? "s" : ""}: ` : "Selected servers: ";
	};
	for (const form of document.querySelectorAll("section form")) {
		const all = document.createElement("input");
		all.type = "checkbox";
		all.className = "all";
		all.title = "All rows in sight";
		all.setAttribute("aria-label", all.title);
		form.querySelector("th").prepend(all);
		all.addEventListener("click", (e) => e.stopPropagation());
		all.addEventListener("change", () => {
			for (const box of form.querySelectorAll("tr:not([hidden]) input[name=s]")) {
				box.checked = all.checked;
			}
		});
		form.addEventListener("change", () => countSelected(form));
		countSelected(form);
	}

	// --- the overview ---
	const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
	const prefixes = { K: "k", M: "M", B: "G", T: "T" };
	const short = (v, unit) => compact.format(v).replace(/[A-Z]?$/, (m) => (m || unit ? "\u00a0" : "") + (prefixes[m] || "") + unit);
	// The counters of a sample: milliseconds, requests, failed, sessions, bytes, system calls, requests of all kinds.
	const rates = (by, over) => kept.samples.slice(1).map((s, i) => {
		const before = kept.samples[i];
		const d = over ? s[over] - before[over] : (s[0] - before[0]) / 1000;
		// Counters may have been cleared.
		return d > 0 ? Math.max(0, s[by] - before[by]) / d : 0;
	});
	const draw = (id, values, now, unit = "") => {
		const card = byId(id);
		let svg = card.querySelector("svg");
		// It has its place before there is anything to draw: what is below would move.
		if (!svg) {
			card.insertAdjacentHTML("beforeend",
				`<svg class=spark viewBox="0 0 ${SAMPLES - 2} 20" preserveAspectRatio=none aria-hidden=true>` +
				"<polyline vector-effect=non-scaling-stroke /></svg>");
			svg = card.querySelector("svg");
		}
		if (values.length < 2) {
			return;
		}
		const most = Math.max(...values) || 1;
		const points = values.map((v, i) => `${(SAMPLES - 1 - values.length + i).toFixed(0)},${(19 - 18 * v / most).toFixed(1)}`);
		svg.firstElementChild.setAttribute("points", points.join(" "));
		if (now) {
			card.querySelector("small").textContent = now;
			card.querySelector("b").textContent = short(values[values.length - 1], unit);
		}
	};
	const drawAll = () => {
		draw("rate", rates(1), "Requests/s");
		draw("failed", rates(2), "5xx/s");
		draw("sessions", kept.samples.map((s) => s[3]).slice(1));
		draw("sent", rates(4), "Sent/s", "B");
		draw("calls", rates(5, 6), "Calls per request");
	};
	const sample = () => {
		const now = byId("counters").dataset.v.split(",").map(Number);
		const last = kept.samples[kept.samples.length - 1];
		if (last && (now[0] < last[0] || now[5] < last[5])) {
			kept.samples = [];
		}
		if (!last || now[0] - last[0] >= 500) {
			kept.samples.push(now);
			kept.samples.splice(0, kept.samples.length - SAMPLES);
		}
		drawAll();
	};
	const title = document.title;
	const entitle = () => {
		const down = document.querySelector("#states a.down");
		document.title = (down ? `(${parseInt(down.textContent, 10)} down) ` : "") + title;
	};
	document.addEventListener("click", (e) => {
		const chip = e.target.closest("#states a");
		if (chip) {
			e.preventDefault();
			kept.only = kept.only === chip.classList[0] ? "" : chip.classList[0];
			filter();
			keep();
		}
	});

	document.addEventListener("keydown", (e) => {
		if (e.key === " " && e.target.closest("#states a")) {
			e.preventDefault();
			e.target.click();
		}
	});

	// --- details ---
	let open = "";
	let opener = null;
	const close = () => {
		open = "";
		document.body.classList.remove("panel");
		const more = byId("more");
		if (more) {
			const hadFocus = more.contains(document.activeElement);
			more.remove();
			if (hadFocus && opener && opener.isConnected) {
				opener.focus({ preventScroll: true });
			}
		}
	};
	const show = async (url) => {
		open = url;
		const response = await fetch(url);
		const text = await response.text();
		// Not the words of this script, which are in the text, too.
		const at = text.search(/^<aside /m);
		if (!response.ok) {
			throw new Error(`status ${response.status}`);
		}
		if (open !== url) {
			return;
		}
		// The row has gone.
		if (at < 0) {
			close();
			return;
		}
		const more = elementOf(text.slice(at, text.indexOf("</aside>", at)));
		const old = byId("more");
		if (old && document.body.classList.contains("panel")) {
			if (old.innerHTML !== more.innerHTML) {
				old.replaceChildren(...more.children);
			}
			return;
		}
		document.body.classList.add("panel");
		more.tabIndex = -1;
		document.body.append(more);
		more.focus({ preventScroll: true });
	};
	document.addEventListener("click", (e) => {
		const a = e.target.closest("section td:first-child a");
		if (e.ctrlKey || e.metaKey || e.shiftKey) {
			return;
		}
		if (a) {
			e.preventDefault();
			if (open === a.href) {
				close();
			} else {
				opener = a;
				show(a.href).catch(() => { location.href = a.href; });
			}
		} else if (open && e.target.closest("#more .close")) {
			e.preventDefault();
			close();
		}
	});
	document.addEventListener("keydown", (e) => {
		if (e.key === "Escape" && open) {
			close();
		}
	});

	// --- updates ---
	const parts = new Map();
	// Part of the overview, or the heading of a proxy.
	const renewPart = (line) => {
		const id = line.match(/ id=([^ >]*)/)[1];
		const old = byId(id);
		if (!old || parts.get(id) === line) {
			return;
		}
		parts.set(id, line);
		const fresh = elementOf(line);
		const svg = old.querySelector("svg");
		const held = id === "states" && old.contains(document.activeElement) ? document.activeElement.classList[0] : "";
		copyInto(old, fresh);
		const again = held && old.querySelector("a." + held);
		if (again) {
			again.focus({ preventScroll: true });
		}
		if (svg) {
			old.append(svg);
		}
		if (fresh.dataset.v) {
			old.dataset.v = fresh.dataset.v;
		}
	};
	const update = (text) => {
		const seen = new Set();
		let last = null;
		let place = 0;
		for (const line of text.split("\n")) {
			if (line.startsWith("<tr id=")) {
				const id = line.slice(7, line.indexOf(" ", 7));
				let row = rows.get(id);
				if (!row) {
					const body = byId("b" + id.slice(1, id.indexOf(".")));
					if (!body) {
						location.reload();
						return;
					}
					row = addRow(elementOf(line), line);
					body.insertBefore(row.tr, last && last.parentNode === body ? last.nextSibling : body.firstChild);
				} else if (row.line !== line) {
					row.line = line;
					row.isOld = true;
					if (row.isSeen) {
						renew(row);
					}
				}
				row.place = place++;
				last = row.tr;
				seen.add(id);
			} else if (/^<(div|p|header) id=/.test(line)) {
				renewPart(line);
			}
		}
		let hasLost = false;
		for (const [id, row] of rows) {
			if (!seen.has(id)) {
				hasLost = true;
				watch.unobserve(row.tr);
				row.tr.remove();
				rows.delete(id);
			}
		}
		if (kept.column) {
			sort();
		}
		if (kept.find || kept.only || hasLost) {
			filter();
		} else {
			markStates();
		}
		if (hasLost) {
			document.querySelectorAll("section form").forEach(countSelected);
		}
		sample();
		entitle();
		keep();
	};
	const live = byId("live");
	const box = live.querySelector("input");
	const word = live.querySelector("span");
	const period = Number(document.body.dataset.refresh) || 5;
	let timer = 0;
	let turn = 0;
	const again = async () => {
		const mine = ++turn;
		clearTimeout(timer);
		if (!kept.live || document.hidden) {
			return;
		}
		try {
			const response = await fetch(from, { cache: "no-store" });
			const text = await response.text();
			if (!response.ok || !text.endsWith("</html>\n")) {
				throw new Error(`status ${response.status}`);
			}
			// Another one was asked for later.
			if (mine !== turn) {
				return;
			}
			performance.mark("fetched");
			update(text);
			performance.measure("update", "fetched");
			performance.clearMarks("fetched");
			live.className = "";
			word.textContent = "Live";
			if (open) {
				await show(open);
			}
		} catch (e) {
			if (mine !== turn) {
				return;
			}
			if (live.className !== "late") {
				word.textContent = `No answer since ${new Date().toLocaleTimeString()}`;
			}
			live.className = "late";
		}
		if (mine === turn) {
			timer = setTimeout(again, period * 1000);
		}
	};
	live.hidden = false;
	for (const a of document.querySelectorAll("nav .reload")) {
		a.hidden = true;
	}
	live.title = `Fetch every ${period} s`;
	box.checked = kept.live;
	box.addEventListener("change", () => {
		kept.live = box.checked;
		keep();
		again();
	});
	document.addEventListener("visibilitychange", again);
	if (kept.live) {
		timer = setTimeout(again, period * 1000);
	}
	filter();
	sort();
	sample();
	entitle();
	keep();
})();
