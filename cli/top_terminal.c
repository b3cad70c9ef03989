/* SPDX-License-Identifier: MIT */
#define NCURSES_WIDECHAR 1
#include "top_terminal.h"
#include "top_control.h"
#include "utf8.h"

#include <curses.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

/* Capabilities of terminals are macros in term.h, with names that others have a use for. */
#undef columns
#undef lines

/* How long what follows an escape is waited for; over ssh it comes with it, mostly. */
#define ESCAPE_MS 50
#define SIDE_MAX 2000

struct ezprof_terminal {
	SCREEN *screen;
	FILE *in, *out;
	bool with_color, is_utf8;
};

const char *ezprof_terminal_trouble(int tty_fd)
{
	const char *term = getenv("TERM");
	const char *trouble = NULL;
	int err;

	if (!isatty(STDOUT_FILENO))
		return "stdout is no terminal";
	if (tty_fd < 0 || !isatty(tty_fd))
		return "stdin is no terminal, so there are no keys";
	if (!term || !*term)
		return "TERM isn't set";
	if (setupterm(NULL, STDOUT_FILENO, &err) != OK)
		return "nothing is known of a terminal of that name (TERM)";
	if (!cursor_address || generic_type)
		trouble = "such a terminal (TERM) has no cursor that can be moved";
	del_curterm(cur_term);
	return trouble;
}

static void set_up(struct ezprof_terminal *terminal)
{
	cbreak();
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	terminal->with_color = terminal->with_color && has_colors();
	if (!terminal->with_color)
		return;
	start_color();
	use_default_colors();
	init_pair(1, COLOR_RED, -1);
	init_pair(2, COLOR_YELLOW, -1);
	init_pair(3, COLOR_CYAN, -1);
}

struct ezprof_terminal *ezprof_terminal_open(int tty_fd, bool with_color)
{
	struct ezprof_terminal *terminal = calloc(1, sizeof(*terminal));
	int in = terminal ? dup(tty_fd) : -1, out = terminal ? dup(STDOUT_FILENO) : -1;

	if (terminal) {
		terminal->with_color = with_color;
		terminal->is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
		terminal->in = in >= 0 ? fdopen(in, "r") : NULL;
		terminal->out = out >= 0 ? fdopen(out, "w") : NULL;
	}
	if (terminal && terminal->in && terminal->out)
		terminal->screen = newterm(NULL, terminal->out, terminal->in);
	if (!terminal || !terminal->screen) {
		ezprof_terminal_close(terminal);
		return NULL;
	}
	set_up(terminal);
	ezprof_terminal_resize(terminal);
	return terminal;
}

void ezprof_terminal_close(struct ezprof_terminal *terminal)
{
	if (!terminal)
		return;
	if (terminal->screen) {
		endwin();
		delscreen(terminal->screen);
	}
	if (terminal->in)
		fclose(terminal->in);
	if (terminal->out)
		fclose(terminal->out);
	free(terminal);
}

void ezprof_terminal_leave(struct ezprof_terminal *terminal)
{
	(void)terminal;
	endwin();
}

void ezprof_terminal_return(struct ezprof_terminal *terminal)
{
	reset_prog_mode();
	curs_set(0);
	ezprof_terminal_resize(terminal);
	clearok(curscr, TRUE);
}

void ezprof_terminal_resize(struct ezprof_terminal *terminal)
{
	struct winsize size;

	if (ioctl(fileno(terminal->out), TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		return;
	/* No screen is that large; somebody who says so gets a corner of it. */
	resizeterm(size.ws_row < SIDE_MAX ? size.ws_row : SIDE_MAX,
		   size.ws_col < SIDE_MAX ? size.ws_col : SIDE_MAX);
}

void ezprof_terminal_size(const struct ezprof_terminal *terminal, unsigned int *ret_columns,
			  unsigned int *ret_lines)
{
	(void)terminal;
	*ret_columns = COLS > 0 ? (unsigned int)COLS : 1;
	*ret_lines = LINES > 0 ? (unsigned int)LINES : 1;
}

static attr_t attributes(const struct ezprof_terminal *terminal, enum ezprof_style style,
			 short *ret_pair)
{
	attr_t attrs = A_NORMAL;

	*ret_pair = 0;
	switch (style) {
	case EZPROF_STYLE_TITLE:
		attrs = A_BOLD;
		break;
	case EZPROF_STYLE_HEADING:
		attrs = A_UNDERLINE;
		break;
	case EZPROF_STYLE_PROBLEM:
		attrs = A_BOLD;
		*ret_pair = 1;
		break;
	case EZPROF_STYLE_ADVICE:
		*ret_pair = 2;
		break;
	case EZPROF_STYLE_GAUGE:
		*ret_pair = 3;
		break;
	case EZPROF_STYLE_FAINT:
		attrs = terminal->with_color ? A_DIM : A_NORMAL;
		break;
	default:
		break;
	}
	if (!terminal->with_color)
		*ret_pair = 0;
	return attrs;
}

/* What a terminal of another character set can show of it. */
static wchar_t plain_sign(uint32_t code)
{
	switch (code) {
	case 0xb5:
		return L'u';
	case 0x2026:
		return L'~';
	default:
		return L'?';
	}
}

/*
 * One character at its column. The C library may think of its width otherwise than we do; then it
 * would shift all that follows, so something else is shown.
 */
static void put_character(const struct ezprof_terminal *terminal, int line, int column,
			  uint32_t code, unsigned int columns, attr_t attrs, short pair)
{
	wchar_t text[2] = {(wchar_t)code, L'\0'};
	cchar_t cell;
	unsigned int i;

	if (code < 0x80 || (terminal->is_utf8 && wcwidth((wchar_t)code) == (int)columns)) {
		setcchar(&cell, text, attrs, pair, NULL);
		mvadd_wch(line, column, &cell);
		return;
	}
	text[0] = terminal->is_utf8 && columns == 1 ? 0xfffd : plain_sign(code);
	setcchar(&cell, text, attrs, pair, NULL);
	for (i = 0; i < columns; i++)
		mvadd_wch(line, column + (int)i, &cell);
}

static int paint_piece(const struct ezprof_terminal *terminal, const char *text, size_t n, int line,
		       int column, attr_t attrs, short pair)
{
	unsigned int columns;
	char shown[5];
	uint32_t code;
	size_t at = 0;

	while (at < n && column < COLS) {
		at += ezprof_screen_character(text + at, n - at, shown, &columns);
		ez_utf8_decode(shown, strlen(shown), &code);
		if (columns == 0 && column > 0 && terminal->is_utf8) {
			/* It belongs to the character before. */
			wchar_t combining[2] = {(wchar_t)code, L'\0'};

			if (wcwidth((wchar_t)code) == 0)
				mvaddwstr(line, column, combining);
			continue;
		}
		if (columns && column + (int)columns <= COLS)
			put_character(terminal, line, column, code, columns, attrs, pair);
		column += (int)columns;
	}
	return column;
}

static void paint_line(const struct ezprof_terminal *terminal, const struct ezprof_screen *screen,
		       int number)
{
	const struct ezprof_screen_line *line = &screen->lines[number];
	int column = 0;
	size_t p;

	for (p = line->first; p < line->first + line->n; p++) {
		const struct ezprof_piece *piece = &screen->pieces[p];
		short pair;
		attr_t attrs = attributes(terminal, piece->style, &pair);

		if (line->selected)
			attrs |= A_REVERSE;
		column = paint_piece(terminal, (const char *)screen->text.data + piece->begin,
				     piece->len, number, column, attrs, pair);
	}
	if (line->selected)
		mvchgat(number, column < COLS ? column : COLS - 1, column < COLS ? -1 : 0,
			A_REVERSE, 0, NULL);
}

void ezprof_terminal_paint(struct ezprof_terminal *terminal, const struct ezprof_screen *screen,
			   bool everything)
{
	size_t i;

	erase();
	for (i = 0; i < screen->n_lines && i < (size_t)LINES; i++)
		paint_line(terminal, screen, (int)i);
	if (everything)
		clearok(curscr, TRUE);
	refresh();
}

static const struct {
	wint_t code;
	uint32_t key;
} special[] = {
	{KEY_UP, EZPROF_KEY_UP},	 {KEY_DOWN, EZPROF_KEY_DOWN},
	{KEY_LEFT, EZPROF_KEY_LEFT},	 {KEY_RIGHT, EZPROF_KEY_RIGHT},
	{KEY_PPAGE, EZPROF_KEY_PAGE_UP}, {KEY_NPAGE, EZPROF_KEY_PAGE_DOWN},
	{KEY_HOME, EZPROF_KEY_HOME},	 {KEY_END, EZPROF_KEY_END},
	{KEY_ENTER, EZPROF_KEY_ENTER},	 {KEY_BACKSPACE, EZPROF_KEY_BACKSPACE},
	{KEY_DC, EZPROF_KEY_BACKSPACE},
};

uint32_t ezprof_terminal_key(struct ezprof_terminal *terminal)
{
	wint_t code;
	size_t i;

	(void)terminal;
	switch (get_wch(&code)) {
	case OK:
		if (code == L'\r' || code == L'\n')
			return EZPROF_KEY_ENTER;
		if (code == 0x1b)
			return EZPROF_KEY_ESCAPE;
		if (code == 0x7f || code == 0x08)
			return EZPROF_KEY_BACKSPACE;
		/* 0 is no key that anybody means. */
		return code && code < EZPROF_KEY_NONE ? (uint32_t)code : 1;
	case KEY_CODE_YES:
		for (i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
			if (special[i].code == code)
				return special[i].key;
		}
		return 1;
	default:
		return EZPROF_KEY_NONE;
	}
}
