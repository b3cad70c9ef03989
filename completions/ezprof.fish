# SPDX-License-Identifier: MIT
# fish: commands, options, their values, files and processes. Asks the programs themselves (--help), whose
# texts are made of their tables of options: there is no list here that could grow old.

function __ezprof_commands
    $argv[1] --help 2>/dev/null </dev/null |
        sed -nE '/^Commands:/,/^$/s/^  ([a-z][a-z-]*) +(.*)/\1\t\2/p'
end

function __ezprof_help
    $argv --help 2>/dev/null </dev/null
end

function __ezprof_options
    __ezprof_help $argv |
        sed -nE 's/^ +(-[A-Za-z?], )?(--[a-z][a-z0-9-]*)[^ ]* *(.*)/\2\t\3/p' | sort -u
end

# OPTION COMMAND...: what stands for its value in the help, such as FILE, or json|table
function __ezprof_value
    switch $argv[1]
        case '--*'
            __ezprof_help $argv[2..] | sed -nE "s/^ +(-., )?$argv[1]=([^ ]+).*/\2/p"
        case '-?'
            __ezprof_help $argv[2..] | sed -nE "s/^ +$argv[1], --[a-z0-9-]+=([^ ]+).*/\1/p"
    end
end

# Of the graph servers of this machine, by their marks.
function __ezprof_graphs
    set -l user (id -u)
    set -l runtime $XDG_RUNTIME_DIR /run/user/$user
    for mark in /run/ezprof/server-* $runtime[1]/ezprof/server-* /tmp/ezprof-$user/server-*
        string replace -r '.*-' '127.0.0.1:' -- $mark
    end
    test -z "$EZMSG_GRAPHSERVER_ADDR"; or echo $EZMSG_GRAPHSERVER_ADDR
end

# What a word of such a name may be: VALUE PROGRAM
function __ezprof_words
    set -l program (string replace -r -- '-bpf$' '' $argv[2])
    switch $argv[1]
        case '*|FILE'
            __ezprof_words PID $argv[2]
        case '*|*'
            string split '|' -- $argv[1]
        case HOST:PORT
            __ezprof_graphs
        case PID
            $program ps 2>/dev/null </dev/null | sed -nE 's/^([0-9]+) .* probes .*/\1/p'
        case KEY RULE
            $program explain 2>/dev/null </dev/null
    end
end

function __ezprof
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l command $words[1..2]
    set -l before ''
    set -l value
    if test (basename $words[1]) = ezprof-graphserver
        set command $words[1]
    else if test (count $words) -eq 1
        __ezprof_commands $words[1]
        printf '%s\n' --help --version
        return
    else if test $words[2] = serve
        set command $words[1]-graphserver
    end
    if string match -qr -- '^--.*=' $word
        set before (string replace -r '=.*' '=' -- $word)
        set value (__ezprof_value (string replace -r '=$' '' -- $before) $command)
        set word (string replace -r '^[^=]*=' '' -- $word)
    else if test (count $words) -gt 1
        set value (__ezprof_value $words[-1] $command)
    end
    if test -z "$value"
        if string match -q -- '-*' $word
            __ezprof_options $command
            return
        end
        # As the first line says: Usage: ezprof probes [OPTION...] PID|FILE
        set value (__ezprof_help $command | sed -nE '1s/^Usage: .*[] ]\[?([A-Z|]+)(\.\.\.)?\]?$/\1/p')
    end
    test -n "$value"; or return
    string replace -r '^' -- "$before" (__ezprof_words $value $words[1])
    if string match -qr '^(FILE|.*\|FILE|AFTER|ARGUMENT)$' -- $value
        string replace -r '^' -- "$before" (__fish_complete_path $word)
    end
end

complete -c ezprof -f -a '(__ezprof)'
complete -c ezprof-bpf -f -a '(__ezprof)'
complete -c ezprof-graphserver -f -a '(__ezprof)'
