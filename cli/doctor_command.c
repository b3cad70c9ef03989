/* SPDX-License-Identifier: MIT */
/* `ezprof doctor`: is all there that measuring wants? */
#include "doctor_command.h"
#include "checkup.h"
#include "exit_status.h"
#include "fd_limit.h"
#include "json_writer.h"
#include "number.h"
#include "output.h"
#include "usual_options.h"

#include <argp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "ezprof doctor"

static const char *const words[] = {
	[EZPROF_HEALTHY] = "ok", [EZPROF_AILING] = "warn", [EZPROF_SICK] = "FAIL"};

static const struct argp_option option_table[] = {
	EZPROF_OPTION_JSON,
	{0},
};

static const char doc[] =
	"\nChecks what measuring wants, one line each: the kernel, rights, graph servers, "
	"processes, "
	"shared memory; with what to type where something is missing. Changes nothing.\n"
	"\v"
	"Exit status: 0, also with warnings; 1 failure; 2 usage; 3 something does not work.";

void ezprof_checkup_add(struct ezprof_checkup *checkup, const char *name, enum ezprof_health health,
			const char *fix, const char *format, ...)
{
	struct ezprof_check *check;
	va_list arguments;

	if (checkup->count == EZPROF_CHECKS_MAX)
		return;
	check = &checkup->list[checkup->count++];
	check->name = name;
	check->health = health;
	snprintf(check->fix, sizeof(check->fix), "%s", fix ? fix : "");
	va_start(arguments, format);
	vsnprintf(check->text, sizeof(check->text), format, arguments);
	va_end(arguments);
}

static void put_text(struct ez_buffer *out, const struct ezprof_checkup *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct ezprof_check *check = &c->list[i];

		ezprof_put(out, "%-4s  %-13s %s%s%s\n", words[check->health], check->name,
			   check->text, *check->fix ? "; fix: " : "", check->fix);
	}
}

static void put_json(struct ez_buffer *out, const struct ezprof_checkup *c, bool works)
{
	struct ez_json j;

	ez_json_init(&j, out);
	ez_json_object_begin(&j);
	ez_json_kv_bool(&j, "works", works);
	ez_json_key(&j, "checks");
	ez_json_array_begin(&j);
	for (size_t i = 0; i < c->count; i++) {
		const struct ezprof_check *check = &c->list[i];

		ez_json_object_begin(&j);
		ez_json_kv_str(&j, "name", check->name);
		ez_json_kv_str(&j, "status",
			       check->health == EZPROF_SICK ? "fail" : words[check->health]);
		ez_json_kv_str(&j, "text", check->text);
		ez_json_kv_str(&j, "fix", *check->fix ? check->fix : NULL);
		ez_json_object_end(&j);
	}
	ez_json_array_end(&j);
	ez_json_object_end(&j);
	ez_buffer_append_text(out, "\n");
}

static bool works(const struct ezprof_checkup *c)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->list[i].health == EZPROF_SICK)
			return false;
	}
	return true;
}

static int print(const struct ezprof_checkup *c, bool json)
{
	struct ez_buffer out;

	ez_buffer_init(&out, SIZE_MAX / 2);
	if (json)
		put_json(&out, c, works(c));
	else
		put_text(&out, c);
	return ezprof_output_buffer(PROGRAM, &out);
}

int ezprof_doctor_main(int argc, char **argv)
{
	static const struct argp argp = {option_table, ezprof_usual_parser, NULL, doc, NULL, NULL,
					 NULL};
	struct ezprof_checkup *checkup = calloc(1, sizeof(*checkup));
	struct ezprof_usual_options options = {0};
	int err, status;

	if (!checkup)
		return EZPROF_EXIT_FAILURE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &options)) {
		free(checkup);
		return EZPROF_EXIT_USAGE;
	}
	/* Each process with probes takes some descriptors. */
	ez_fd_limit_raise();
	ezprof_checkup_system(checkup);
	err = ezprof_checkup_graphs(checkup);
	if (err)
		ezprof_checkup_add(checkup, "processes", EZPROF_SICK, NULL,
				   "can't be looked at: %s", strerror(-err));
	status = print(checkup, options.json);
	if (!status && !works(checkup))
		status = EZPROF_EXIT_BROKEN;
	free(checkup);
	return status;
}
