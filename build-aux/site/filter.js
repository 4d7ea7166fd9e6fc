"use strict";
// Shows the rows of the index that contain all words of the field.
const field = document.querySelector("#filter input");
const rows = [...document.querySelectorAll("#rows tr")].map((row) => [row, row.textContent.toLowerCase()]);
field.addEventListener("input", () => {
	const words = field.value.toLowerCase().split(/\s+/);
	for (const [row, text] of rows)
		row.hidden = !words.every((word) => text.includes(word));
});
document.getElementById("filter").hidden = false;
