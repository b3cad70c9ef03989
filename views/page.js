// Sorting and filtering of the tables, for convenience: without it the page shows the same.
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
	const value = (row, column) => {
		const text = row.cells[column].textContent.trim();
		return text === "-" ? -Infinity : text !== "" && isFinite(text) ? Number(text) : text;
	};
	const sort = (column, head, button) => {
		const up = head.getAttribute("aria-sort") !== "ascending";
		for (const other of table.tHead.rows[0].cells) {
			other.removeAttribute("aria-sort");
			other.querySelector("button").textContent = "↕";
		}
		head.setAttribute("aria-sort", up ? "ascending" : "descending");
		button.textContent = up ? "↑" : "↓";
		const rows = [...table.tBodies[0].rows];
		rows.sort((a, b) => {
			const x = value(a, column), y = value(b, column);
			const less = typeof x === typeof y ? x < y : typeof x === "number";
			return x === y ? 0 : less === up ? -1 : 1;
		});
		table.tBodies[0].append(...rows);
	};
	[...table.tHead.rows[0].cells].forEach((head, column) => {
		const button = document.createElement("button");
		button.className = "sort";
		button.type = "button";
		button.textContent = "↕";
		button.setAttribute("aria-label", "sort by " + head.textContent);
		button.addEventListener("click", () => sort(column, head, button));
		head.append(button);
	});
}
for (const table of document.querySelectorAll("table.sortable, table.plots")) {
	const rows = table.tBodies[0].rows;
	if (rows.length < 8)
		continue;
	const label = document.createElement("label");
	const input = document.createElement("input");
	label.className = "filter";
	label.textContent = "only rows with";
	input.type = "search";
	input.addEventListener("input", () => {
		const wanted = input.value.toLowerCase();
		for (const row of rows)
			row.hidden = !row.textContent.toLowerCase().includes(wanted);
	});
	label.append(input);
	table.parentElement.before(label);
}
