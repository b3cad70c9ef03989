# SPDX-License-Identifier: MIT
# bash: commands, options, their values, files and processes. Asks the programs themselves (--help), whose
# texts are made of their tables of options: there is no list here that could grow old.

_ezprof_commands() {
	"$1" --help 2>/dev/null </dev/null |
		sed -nE '/^Commands:/,/^$/s/^  ([a-z][a-z-]*) .*/\1/p'
}

_ezprof_options() {
	sed -nE 's/^ +(-[A-Za-z?], )?(--[a-z][a-z0-9-]*).*/\2/p' <<<"$1" | sort -u
}

# _ezprof_value HELP OPTION: what stands for its value there, such as FILE, or json|table; empty: it has none
_ezprof_value() {
	case $2 in
	--*) sed -nE "s/^ +(-., )?$2=([^ ]+).*/\2/p" <<<"$1" ;;
	-?) sed -nE "s/^ +$2, --[a-z0-9-]+=([^ ]+).*/\1/p" <<<"$1" ;;
	esac
}

# Of the graph servers of this machine, by their marks.
_ezprof_graphs() {
	local mark
	for mark in /run/ezprof/server-* "${XDG_RUNTIME_DIR:-/run/user/$UID}"/ezprof/server-* "/tmp/ezprof-$UID"/server-*; do
		[ -e "$mark" ] && echo "127.0.0.1:${mark##*-}"
	done
	[ -z "$EZMSG_GRAPHSERVER_ADDR" ] || echo "$EZMSG_GRAPHSERVER_ADDR"
}

# What a word of such a name may be: VALUE PROGRAM
_ezprof_words() {
	case $1 in
	*'|FILE'*) _ezprof_words PID "$2" ;;
	*'|'*) tr '|' '\n' <<<"$1" ;;
	HOST:PORT) _ezprof_graphs ;;
	PID) "${2%-bpf}" ps 2>/dev/null </dev/null | sed -nE 's/^([0-9]+) .* probes .*/\1/p' ;;
	KEY | RULE) "${2%-bpf}" explain 2>/dev/null </dev/null ;;
	esac
}

_ezprof() {
	local program=$1 line=${COMP_LINE:0:COMP_POINT} typed=() word option='' help value='' words=''
	# Not COMP_WORDS: there = and : are words of their own.
	read -ra typed <<<"$line"
	[[ $line == *[[:space:]] ]] && typed+=('')
	word=${typed[-1]}
	COMPREPLY=()
	if [[ ${program##*/} == ezprof-graphserver ]]; then
		help=$("$program" --help 2>/dev/null </dev/null)
	elif [ ${#typed[@]} -le 2 ]; then
		words=$(_ezprof_commands "$program"; echo --help; echo --version)
	elif [ "${typed[1]}" = serve ]; then
		help=$("$program-graphserver" --help 2>/dev/null </dev/null)
	else
		help=$("$program" "${typed[1]}" --help 2>/dev/null </dev/null)
	fi
	if [[ $word == --*=* ]]; then
		option=${word%%=*} word=${word#*=}
		value=$(_ezprof_value "$help" "$option")
	elif [[ -n $help && ${#typed[@]} -gt 1 ]]; then
		value=$(_ezprof_value "$help" "${typed[-2]}")
	fi
	if [[ -z $value && -z $words ]]; then
		if [[ $word == -* ]]; then
			words=$(_ezprof_options "$help")
		else # as the first line says: Usage: ezprof probes [OPTION...] PID|FILE
			value=${help%%$'\n'*}
			value=$(sed -nE 's/^Usage: .*[] ]\[?([A-Z|]+)(\.\.\.)?\]?$/\1/p' <<<"$value")
		fi
	fi
	[ -z "$value" ] || words=$(_ezprof_words "$value" "$program")
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	# Before the last = or : nothing is bash's to replace.
	[[ $word == *:* && $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
	case $value in
	FILE | *'|FILE' | AFTER | ARGUMENT)
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
		;;
	esac
}

complete -F _ezprof ezprof ezprof-bpf ezprof-graphserver
