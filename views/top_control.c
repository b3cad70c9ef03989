/* SPDX-License-Identifier: MIT */
#include "top_control.h"
#include "utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_DEFAULT "ezprof-top.txt"
#define CONTROL(letter) ((letter)&0x1f)

void ezprof_top_control_init(struct ezprof_top_control *control)
{
	size_t i;

	memset(control, 0, sizeof(*control));
	for (i = 0; i < EZPROF_TOP_VIEW_COUNT; i++)
		control->orders[i].column = EZPROF_TOP_STATE;
}

void ezprof_top_control_free(struct ezprof_top_control *control)
{
	free(control->selected);
	control->selected = NULL;
}

static void show_view(struct ezprof_top_control *control, enum ezprof_top_view_id view)
{
	control->view = view;
	control->index = control->first = 0;
	free(control->selected);
	control->selected = NULL;
}

/* To the next or previous column of the view. */
static void sort_by_neighbour(struct ezprof_top_control *control, bool next)
{
	const struct ezprof_top_view *view = ezprof_top_view(control->view);
	struct ezprof_top_order *order = &control->orders[control->view];
	size_t i;

	for (i = 0; i + 1 < view->n && view->places[i].column != order->column; i++)
		;
	i = (i + (next ? 1 : view->n - 1)) % view->n;
	*order = (struct ezprof_top_order){view->places[i].column, false};
	snprintf(control->notice, sizeof(control->notice), "sorted by %s (r reverses)",
		 ezprof_top_column(order->column)->id);
}

static void move(struct ezprof_top_control *control, size_t up, size_t down)
{
	control->index = control->index > up ? control->index - up : 0;
	control->index += down;
	control->moved = true;
}

static void open_page(struct ezprof_top_control *control, enum ezprof_top_mode mode)
{
	control->mode = mode;
	control->scroll = 0;
}

static size_t page(const struct ezprof_top_control *control)
{
	return control->room > 1 ? control->room - 1 : 1;
}

/* Keys that move, the same in the table and in pages; false: it is another key. */
static bool move_key(struct ezprof_top_control *control, uint32_t key, size_t *ret_up,
		     size_t *ret_down)
{
	*ret_up = *ret_down = 0;
	switch (key) {
	case EZPROF_KEY_UP:
	case 'k':
		*ret_up = 1;
		return true;
	case EZPROF_KEY_DOWN:
	case 'j':
		*ret_down = 1;
		return true;
	case EZPROF_KEY_PAGE_UP:
	case CONTROL('b'):
		*ret_up = page(control);
		return true;
	case EZPROF_KEY_PAGE_DOWN:
	case CONTROL('f'):
		*ret_down = page(control);
		return true;
	case EZPROF_KEY_END:
	case 'G':
		*ret_down = SIZE_MAX / 4;
		return true;
	default:
		return false;
	}
}

static enum ezprof_top_action browse_move(struct ezprof_top_control *control, uint32_t key)
{
	size_t up, down;

	if (key == EZPROF_KEY_HOME || key == 'g') {
		free(control->selected);
		control->selected = NULL;
		control->index = 0;
	} else if (move_key(control, key, &up, &down)) {
		move(control, up, down);
	}
	return EZPROF_TOP_GO_ON;
}

static void begin_filter(struct ezprof_top_control *control)
{
	control->mode = EZPROF_TOP_FILTER;
	memcpy(control->filter_before, control->filter, sizeof(control->filter));
}

static enum ezprof_top_action browse_key(struct ezprof_top_control *control, uint32_t key)
{
	struct ezprof_top_order *order = &control->orders[control->view];

	if (key >= '1' && key < '1' + EZPROF_TOP_VIEW_COUNT) {
		show_view(control, (enum ezprof_top_view_id)(key - '1'));
		return EZPROF_TOP_GO_ON;
	}
	switch (key) {
	case 'q':
	case 'Q':
		return EZPROF_TOP_QUIT;
	case '\t':
		show_view(control, (control->view + 1) % EZPROF_TOP_VIEW_COUNT);
		break;
	case 's':
	case EZPROF_KEY_RIGHT:
		sort_by_neighbour(control, true);
		break;
	case 'S':
	case EZPROF_KEY_LEFT:
		sort_by_neighbour(control, false);
		break;
	case 'r':
		order->reversed = !order->reversed;
		break;
	case '/':
		begin_filter(control);
		break;
	case EZPROF_KEY_ESCAPE:
		control->filter[0] = '\0';
		break;
	case ' ':
		control->frozen = !control->frozen;
		break;
	case EZPROF_KEY_ENTER:
		open_page(control, EZPROF_TOP_DETAILS);
		break;
	case 'c':
		open_page(control, EZPROF_TOP_CAUSES);
		break;
	case '?':
	case 'h':
		open_page(control, EZPROF_TOP_HELP);
		break;
	case 'w':
		control->mode = EZPROF_TOP_WRITE;
		snprintf(control->typed, sizeof(control->typed), "%s", FILE_DEFAULT);
		break;
	case CONTROL('l'):
		return EZPROF_TOP_REPAINT;
	default:
		return browse_move(control, key);
	}
	return EZPROF_TOP_GO_ON;
}

static void close_page(struct ezprof_top_control *control)
{
	control->mode = EZPROF_TOP_BROWSE;
	control->scroll = 0;
}

/* The key of a page leads to it from any other, and back from itself. */
static void switch_page(struct ezprof_top_control *control, enum ezprof_top_mode mode)
{
	if (control->mode == mode)
		close_page(control);
	else
		open_page(control, mode);
}

static enum ezprof_top_action page_key(struct ezprof_top_control *control, uint32_t key)
{
	size_t up, down;

	if (move_key(control, key, &up, &down)) {
		control->scroll = control->scroll > up ? control->scroll - up : 0;
		control->scroll += down;
		return EZPROF_TOP_GO_ON;
	}
	switch (key) {
	case EZPROF_KEY_HOME:
	case 'g':
		control->scroll = 0;
		break;
	case ' ':
		control->frozen = !control->frozen;
		break;
	case CONTROL('l'):
		return EZPROF_TOP_REPAINT;
	case 'c':
		switch_page(control, EZPROF_TOP_CAUSES);
		break;
	case '?':
	case 'h':
		switch_page(control, EZPROF_TOP_HELP);
		break;
	case 'q':
	case 'Q':
	case EZPROF_KEY_LEFT:
	case EZPROF_KEY_ENTER:
	case EZPROF_KEY_ESCAPE:
		close_page(control);
		break;
	default:
		break;
	}
	return EZPROF_TOP_GO_ON;
}

static void take_back(char *text)
{
	size_t n = strlen(text);

	/* The bytes of one character. */
	while (n && (text[n - 1] & 0xc0) == 0x80)
		n--;
	text[n ? n - 1 : 0] = '\0';
}

static size_t encode(uint32_t code, char out[4])
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

static void type(char text[EZPROF_TOP_TYPED_BYTES], uint32_t code)
{
	size_t n = strlen(text), more;
	char bytes[4];

	if (code < 0x20 || code == 0x7f || code >= EZPROF_KEY_NONE)
		return;
	more = encode(code, bytes);
	if (n + more >= EZPROF_TOP_TYPED_BYTES || !ez_utf8_is_valid(bytes, more))
		return;
	memcpy(text + n, bytes, more);
	text[n + more] = '\0';
}

static enum ezprof_top_action prompt_key(struct ezprof_top_control *control, uint32_t key)
{
	bool is_filter = control->mode == EZPROF_TOP_FILTER;
	char *text = is_filter ? control->filter : control->typed;

	switch (key) {
	case EZPROF_KEY_ENTER:
		control->mode = EZPROF_TOP_BROWSE;
		return is_filter || !*text ? EZPROF_TOP_GO_ON : EZPROF_TOP_SAVE;
	case EZPROF_KEY_ESCAPE:
		control->mode = EZPROF_TOP_BROWSE;
		if (is_filter)
			memcpy(control->filter, control->filter_before, sizeof(control->filter));
		break;
	case EZPROF_KEY_BACKSPACE:
		take_back(text);
		break;
	case CONTROL('u'):
		text[0] = '\0';
		break;
	case CONTROL('l'):
		return EZPROF_TOP_REPAINT;
	default:
		type(text, key);
	}
	return EZPROF_TOP_GO_ON;
}

enum ezprof_top_action ezprof_top_control_key(struct ezprof_top_control *control, uint32_t key)
{
	if (key == EZPROF_KEY_NONE)
		return EZPROF_TOP_GO_ON;
	control->notice[0] = '\0';
	switch (control->mode) {
	case EZPROF_TOP_BROWSE:
		return browse_key(control, key);
	case EZPROF_TOP_FILTER:
	case EZPROF_TOP_WRITE:
		return prompt_key(control, key);
	default:
		return page_key(control, key);
	}
}

static size_t find_selected(const struct ezprof_top_control *control,
			    const struct ezprof_top_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->n; i++) {
		if (strcmp(rows->list[i].key, control->selected) == 0)
			return i;
	}
	return control->index;
}

void ezprof_top_control_settle(struct ezprof_top_control *control,
			       const struct ezprof_top_rows *rows, size_t room)
{
	size_t last = rows->n ? rows->n - 1 : 0;

	control->room = room;
	if (control->selected && !control->moved)
		control->index = find_selected(control, rows);
	if (control->index > last)
		control->index = last;
	if (control->moved && rows->n) {
		free(control->selected);
		control->selected = strdup(rows->list[control->index].key);
	}
	control->moved = false;
	if (control->first > control->index)
		control->first = control->index;
	if (room && control->index >= control->first + room)
		control->first = control->index - room + 1;
	if (room && rows->n >= room && control->first > rows->n - room)
		control->first = rows->n - room;
	if (rows->n <= room)
		control->first = 0;
}
