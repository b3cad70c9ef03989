# SPDX-License-Identifier: MIT
# bash: commands, options and files of ezprof's programs. Asks the programs themselves (--help), whose
# texts are made of their tables of options: there is no list here that could grow old.

_ezprof_options() {
	"$@" --help 2>/dev/null </dev/null |
		sed -nE 's/^ +(-[A-Za-z?], )?(--[a-z][a-z0-9-]*).*/\2/p' | sort -u
}

_ezprof_commands() {
	"$1" --help 2>/dev/null </dev/null |
		sed -nE '/^Commands:/,/^$/s/^  ([a-z][a-z-]*) .*/\1/p'
}

_ezprof() {
	local program=$1 word=$2 words
	COMPREPLY=()
	if [ "${program##*/}" = ezprof-graphserver ]; then
		words=$(_ezprof_options "$program")
	elif [ "$COMP_CWORD" -eq 1 ]; then
		words=$(_ezprof_commands "$program"; echo --help; echo --version)
	elif [ "${COMP_WORDS[1]}" = serve ]; then
		words=$(_ezprof_options ezprof-graphserver)
	elif [ "${COMP_WORDS[1]}" = explain ] && [ "${word#-}" = "$word" ]; then
		words=$("$program" explain 2>/dev/null)
	else
		words=$(_ezprof_options "$program" "${COMP_WORDS[1]}")
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o default -F _ezprof ezprof ezprof-bpf ezprof-graphserver
