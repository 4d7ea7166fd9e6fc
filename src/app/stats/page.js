// The page works without this: it sorts, filters, and selects all servers of a backend.
"use strict";
(() => {
	const numberOf = (cell) => {
		const text = cell ? cell.textContent.trim() : "";
		const n = parseFloat(text);
		return Number.isNaN(n) ? text.toLowerCase() : n;
	};
	const compare = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
	const sortBy = (th) => {
		const table = th.closest("table");
		const body = table.tBodies[0];
		const rows = [...body.querySelectorAll("tr.srv")];
		const down = th.getAttribute("aria-sort") === "ascending";
		const last = body.querySelector("tr.back");
		for (const other of table.querySelectorAll("th")) {
			other.removeAttribute("aria-sort");
		}
		th.setAttribute("aria-sort", down ? "descending" : "ascending");
		rows.sort((a, b) => compare(numberOf(a.cells[th.cellIndex]), numberOf(b.cells[th.cellIndex])) * (down ? -1 : 1));
		for (const row of rows) {
			body.insertBefore(row, last);
		}
	};
	for (const th of document.querySelectorAll("section thead th")) {
		th.dataset.sort = "";
		th.tabIndex = 0;
		th.addEventListener("click", () => sortBy(th));
		th.addEventListener("keydown", (e) => {
			if (e.key === "Enter") {
				sortBy(th);
			}
		});
	}
	const filter = document.getElementById("filter");
	const apply = () => {
		const words = filter.value.toLowerCase().split(/\s+/).filter((w) => w);
		for (const section of document.querySelectorAll("section")) {
			const name = section.querySelector("h2").textContent.toLowerCase();
			let shown = 0;
			for (const row of section.querySelectorAll("tbody tr")) {
				const text = name + " " + row.textContent.toLowerCase();
				row.hidden = !words.every((w) => text.includes(w));
				shown += row.hidden ? 0 : 1;
			}
			section.hidden = !shown;
		}
	};
	filter.parentElement.hidden = false;
	filter.addEventListener("input", apply);
	apply();
	for (const act of document.querySelectorAll(".act")) {
		const all = document.createElement("input");
		const label = document.createElement("label");
		all.type = "checkbox";
		label.append(all, " all");
		act.prepend(label);
		all.addEventListener("change", () => {
			for (const box of act.closest("form").querySelectorAll("tr:not([hidden]) input[name=s]")) {
				box.checked = all.checked;
			}
		});
	}
	const group = new Intl.NumberFormat();
	for (const cell of document.querySelectorAll("td.n")) {
		if (/^\d{4,}$/.test(cell.textContent)) {
			cell.title = group.format(Number(cell.textContent));
		}
	}
})();
