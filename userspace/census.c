/* SPDX-License-Identifier: MIT */
#include "census.h"
#include "clock.h"
#include "foreign_marks.h"
#include "graph_address.h"
#include "hello.h"
#include "process_table.h"
#include "proc_process.h"
#include "server_mark.h"
#include "socket_table.h"
#include "text.h"
#include "trusted_users.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOREIGN_MARKS_MAX 16u
/* What users name whose word doesn't count leaves room for the others'. */
#define FOREIGN_GRAPHS_MAX (EZPROF_CENSUS_GRAPHS_MAX / 2)

/* Is it an address of one of our network interfaces? */
static bool is_interface(const char *host)
{
	struct ifaddrs *all, *i;
	char text[INET6_ADDRSTRLEN];
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (i = all; i && !found; i = i->ifa_next) {
		const void *address = NULL;

		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET)
			address =
				&((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr;
		else if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET6)
			address = &((const struct sockaddr_in6 *)(const void *)i->ifa_addr)
					   ->sin6_addr;
		found = address && inet_ntop(i->ifa_addr->sa_family, address, text, sizeof(text)) &&
			strcmp(text, host) == 0;
	}
	freeifaddrs(all);
	return found;
}

static bool is_here(const struct ez_address *address)
{
	char own[HOST_NAME_MAX + 1];

	if (ez_address_is_loopback(address) || strcmp(address->host, "0.0.0.0") == 0 ||
	    strcmp(address->host, "::") == 0)
		return true;
	if (gethostname(own, sizeof(own)) == 0 && strcasecmp(own, address->host) == 0)
		return true;
	return is_interface(address->host);
}

static struct ezprof_census_graph *find_graph(struct ezprof_census *c, const char *text, bool here)
{
	for (size_t i = 0; i < c->n_graphs; i++) {
		if (c->graphs[i].here == here && ezprof_same_graph(c->graphs[i].address, text))
			return &c->graphs[i];
	}
	return NULL;
}

/*
 * other_network: its loopback is not ours. What is no address is none of a graph. A new one is
 * noted only where there are fewer than max.
 */
static struct ezprof_census_graph *note_graph(struct ezprof_census *c, const char *text,
					      bool other_network, size_t max)
{
	struct ezprof_census_graph *graph;
	struct ez_address address;
	bool here;

	if (ez_parse_address(text, &address) || !address.port)
		return NULL;
	here = !other_network && is_here(&address);
	graph = find_graph(c, text, here);
	if (graph)
		return graph;
	if (c->n_graphs >= max) {
		c->left_out++;
		return NULL;
	}
	graph = &c->graphs[c->n_graphs++];
	ez_address_format(&address, graph->address);
	graph->port = address.port;
	graph->here = here;
	return graph;
}

static struct ezprof_census_graph *note_mark(struct ezprof_census *c,
					     const struct ez_server_mark *mark, size_t max)
{
	struct ez_address address = {.host = "127.0.0.1", .port = mark->port};
	char text[EZ_ADDRESS_BYTES];

	ez_address_format(&address, text);
	return note_graph(c, text, false, max);
}

/* Somebody's word that doesn't count: it makes nothing of a graph that is known otherwise. */
static void note_foreign(struct ezprof_census_graph *graph, uid_t uid)
{
	if (!graph || graph->ours || graph->used || graph->named)
		return;
	graph->foreign = true;
	graph->foreign_uid = uid;
}

static void note_marks(struct ezprof_census *c)
{
	struct ez_server_mark marks[EZPROF_CENSUS_GRAPHS_MAX];
	int i, n = ez_server_mark_list(NULL, 0, marks, EZPROF_CENSUS_GRAPHS_MAX);
	struct ezprof_census_graph *graph;

	for (i = 0; i < n; i++) {
		graph = note_mark(c, &marks[i], EZPROF_CENSUS_GRAPHS_MAX);
		if (graph)
			graph->ours = true;
	}
}

/* The last ones: they must not take the place of others. */
static void note_foreign_marks(struct ezprof_census *c)
{
	struct ez_server_mark marks[FOREIGN_MARKS_MAX];
	size_t n = ezprof_foreign_marks(marks, FOREIGN_MARKS_MAX);

	for (size_t i = 0; i < n; i++)
		note_foreign(note_mark(c, &marks[i], FOREIGN_GRAPHS_MAX), marks[i].owner);
}

/* Of servers that are known without any process with probes: before anybody can take their place.
 */
static void note_known_graphs(struct ezprof_census *c)
{
	struct ez_address address;
	struct ezprof_census_graph *graph;
	char text[EZ_ADDRESS_BYTES];

	if (ez_address_from_env(&address) == 0) {
		ez_address_format(&address, text);
		graph = note_graph(c, text, false, EZPROF_CENSUS_GRAPHS_MAX);
		if (graph)
			graph->named = true;
	}
	note_graph(c, EZ_DEFAULT_ADDRESS, false, EZPROF_CENSUS_GRAPHS_MAX);
	note_marks(c);
}

/* What others say of a trusted user's server makes it nobody else's. */
static void correct_foreign(struct ezprof_census_graph *graph)
{
	struct ezprof_proc_info info;
	int dir;

	if (!graph->foreign || !graph->server_pid || ezprof_proc_open(graph->server_pid, &dir))
		return;
	if (!ezprof_proc_info(dir, &info) && ezprof_user_is_trusted(info.uid))
		graph->foreign = false;
	close(dir);
}

/* "" where it can't be read. */
static void read_comm(pid_t pid, char *ret_comm, size_t bytes)
{
	char path[32], text[32];
	char *repaired;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n <= 0)
		return;
	repaired = ezprof_text_repair(text, (size_t)n - 1, 0);
	snprintf(ret_comm, bytes, "%s", repaired ? repaired : "");
	free(repaired);
}

static struct ezprof_census_process *add_process(struct ezprof_census *c, pid_t pid)
{
	struct ezprof_census_process *p;

	if (c->count == EZPROF_CENSUS_PROCESSES_MAX) {
		c->left_out++;
		return NULL;
	}
	if (c->count == c->room) {
		size_t room = c->room ? 2 * c->room : 32;
		void *grown = reallocarray(c->list, room, sizeof(c->list[0]));

		if (!grown)
			return NULL;
		c->list = grown;
		c->room = room;
	}
	p = &c->list[c->count++];
	*p = (struct ezprof_census_process){.pid = pid};
	read_comm(pid, p->comm, sizeof(p->comm));
	return p;
}

static void note_graphs_of(struct ezprof_census *c, const struct ezprof_target *target)
{
	bool other_network = target->process->namespaces.other_network;
	bool trusted = ezprof_user_is_trusted(target->process->uid);
	size_t max = trusted ? EZPROF_CENSUS_GRAPHS_MAX : FOREIGN_GRAPHS_MAX;

	for (size_t i = 0; i < target->object_count; i++) {
		const struct ezprof_endpoints *found = target->objects[i].endpoints;
		struct ezprof_census_graph *graph = NULL;

		if (found && *found->graph_address)
			graph = note_graph(c, found->graph_address, other_network, max);
		if (!graph || other_network)
			continue;
		if (trusted) {
			graph->used = true;
			graph->foreign = false;
		} else {
			note_foreign(graph, target->process->uid);
		}
	}
}

static void note_refused(struct ezprof_census *c, pid_t pid, const struct ezprof_refusal *refusal)
{
	char comm[sizeof(c->list->comm)] = "";

	read_comm(pid, comm, sizeof(comm));
	ezprof_refused_note(&c->refused, pid, comm, refusal);
}

/* Somebody has this number wherever there are processes. */
static bool is_hidden(void)
{
	return access("/proc/1/stat", R_OK) != 0;
}

static int look_for_probes(struct ezprof_census *c, struct ezprof_opener *opener, pid_t pid)
{
	char sentence[EZPROF_SENTENCE_BYTES];
	struct ezprof_census_process *p;
	struct ezprof_refusal refusal = {0};
	struct ezprof_target *target;
	int err = ezprof_target_open(opener, pid, &target, &refusal, sentence);

	if (err == -EPERM || err == -EACCES)
		note_refused(c, pid, &refusal);
	if (err)
		return err == -EPIPE || err == -ENOMEM ? err : 0;
	ezprof_target_refresh(target, ez_clock_mono_ns());
	p = add_process(c, pid);
	if (!p) {
		ezprof_target_free(target);
		return c->count == EZPROF_CENSUS_PROCESSES_MAX ? 0 : -ENOMEM;
	}
	p->target = target;
	note_graphs_of(c, target);
	return 0;
}

static struct ezprof_census_process *find_process(struct ezprof_census *c, pid_t pid)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->list[i].pid == pid)
			return &c->list[i];
	}
	return NULL;
}

/* Processes come oldest first: later ones that listen there too have inherited the descriptor. */
static void note_use(struct ezprof_census *c, pid_t pid, struct ezprof_census_graph *graph,
		     const struct ezprof_socket_use *use)
{
	struct ezprof_census_process *p = find_process(c, pid);
	bool serves = use->listens && !graph->server_pid;

	if (!serves && (!use->connections || (p && p->target)))
		return;
	if (!p)
		p = add_process(c, pid);
	if (!p)
		return;
	if (serves) {
		graph->server_pid = pid;
		p->serves = graph;
	} else if (!p->connected) {
		p->connected = graph;
		p->connections = use->connections;
	}
}

/* A graph with a server of its own, which left no mark. */
static void note_segments(struct ezprof_census *c, pid_t pid, bool shares)
{
	struct ezprof_census_process *p;

	if (!shares || find_process(c, pid))
		return;
	p = add_process(c, pid);
	if (p)
		p->shares_memory = true;
}

static int look_at_sockets(struct ezprof_census *c, const struct ezprof_process_table *table)
{
	struct ezprof_socket_use uses[EZPROF_CENSUS_GRAPHS_MAX];
	uint16_t ports[EZPROF_CENSUS_GRAPHS_MAX];
	struct ezprof_socket_table sockets;
	bool shares;
	size_t i, k;
	int err;

	for (k = 0; k < c->n_graphs; k++)
		ports[k] = c->graphs[k].port;
	err = ezprof_socket_table_read(ports, c->n_graphs, &sockets);
	if (err)
		return err;
	for (k = 0; k < c->n_graphs; k++)
		c->graphs[k].listens =
			c->graphs[k].here && ezprof_socket_table_listens(&sockets, ports[k]);
	for (i = 0; i < table->count; i++) {
		pid_t pid = table->list[i].pid;

		if (pid == getpid() || ezprof_socket_table_uses(&sockets, pid, uses, &shares))
			continue;
		for (k = 0; k < c->n_graphs; k++) {
			if (c->graphs[k].listens)
				note_use(c, pid, &c->graphs[k], &uses[k]);
		}
		note_segments(c, pid, shares);
	}
	ezprof_socket_table_free(&sockets);
	for (k = 0; k < c->n_graphs; k++)
		correct_foreign(&c->graphs[k]);
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct ezprof_census_process *left = a, *right = b;

	return (left->pid > right->pid) - (left->pid < right->pid);
}

static int by_age(const void *a, const void *b)
{
	const struct ezprof_candidate *left = a, *right = b;
	int order = (left->start_time > right->start_time) - (left->start_time < right->start_time);

	return order ? order : (left->pid > right->pid) - (left->pid < right->pid);
}

static int look(struct ezprof_census *c, struct ezprof_opener *opener)
{
	struct ezprof_process_table table = {0};
	int err = ezprof_process_table_look(&table, true);

	note_known_graphs(c);
	for (size_t i = 0; !err && i < table.count; i++) {
		pid_t pid = table.list[i].pid;

		if (!table.list[i].size_bytes || pid == getpid() ||
		    pid == ezprof_opener_pid(opener))
			continue;
		err = look_for_probes(c, opener, pid);
	}
	c->hidden = is_hidden();
	note_foreign_marks(c);
	if (table.count)
		qsort(table.list, table.count, sizeof(table.list[0]), by_age);
	if (!err)
		err = look_at_sockets(c, &table);
	ezprof_process_table_free(&table);
	if (c->count)
		qsort(c->list, c->count, sizeof(c->list[0]), by_pid);
	return err;
}

bool ezprof_census_sees_any(void)
{
	DIR *proc = geteuid() ? opendir("/proc") : NULL;
	struct dirent *entry;
	struct stat st;
	bool found = geteuid() == 0;
	pid_t pid;

	while (proc && !found && (entry = readdir(proc)))
		found = ez_parse_pid(entry->d_name, &pid) == 0 && pid != getpid() &&
			fstatat(dirfd(proc), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			st.st_uid == geteuid();
	if (proc)
		closedir(proc);
	return found;
}

int ezprof_census_take(struct ezprof_census **ret_census)
{
	struct ezprof_census *c = calloc(1, sizeof(*c));
	struct ezprof_opener *opener;
	int err;

	if (!c)
		return -ENOMEM;
	err = ezprof_opener_start(&opener);
	if (!err) {
		err = look(c, opener);
		ezprof_opener_stop(opener);
	}
	if (err)
		ezprof_census_free(c);
	else
		*ret_census = c;
	return err;
}

void ezprof_census_free(struct ezprof_census *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->count; i++)
		ezprof_target_free(c->list[i].target);
	free(c->list);
	ezprof_refused_free(&c->refused);
	free(c);
}

const struct ezprof_census_graph *ezprof_census_graph(const struct ezprof_census *c,
						      const struct ezprof_target *target,
						      size_t object)
{
	const struct ezprof_endpoints *found = target->objects[object].endpoints;
	struct ez_address address;
	bool here;

	if (!found || ez_parse_address(found->graph_address, &address))
		return NULL;
	here = !target->process->namespaces.other_network && is_here(&address);
	for (size_t i = 0; i < c->n_graphs; i++) {
		if (c->graphs[i].here == here &&
		    ezprof_same_graph(c->graphs[i].address, found->graph_address))
			return &c->graphs[i];
	}
	return NULL;
}
