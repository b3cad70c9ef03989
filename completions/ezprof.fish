# SPDX-License-Identifier: MIT
# fish: commands, options and files of ezprof's programs. Asks the programs themselves (--help), whose
# texts are made of their tables of options: there is no list here that could grow old.

function __ezprof_options
    $argv --help 2>/dev/null </dev/null |
        sed -nE 's/^ +(-[A-Za-z?], )?(--[a-z][a-z0-9-]*)[^ ]* *(.*)/\2\t\3/p' | sort -u
end

function __ezprof_commands
    $argv[1] --help 2>/dev/null </dev/null |
        sed -nE '/^Commands:/,/^$/s/^  ([a-z][a-z-]*) +(.*)/\1\t\2/p'
end

function __ezprof
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    if test (basename $words[1]) = ezprof-graphserver
        __ezprof_options $words[1]
    else if test (count $words) -eq 1
        __ezprof_commands $words[1]
        printf '%s\n' --help --version
    else if test $words[2] = serve
        __ezprof_options ezprof-graphserver
    else if test $words[2] = explain; and not string match -q -- '-*' $word
        $words[1] explain 2>/dev/null
    else if string match -q -- '-*' $word
        __ezprof_options $words[1] $words[2]
    else
        __fish_complete_path $word
    end
end

complete -c ezprof -f -a '(__ezprof)'
complete -c ezprof-bpf -f -a '(__ezprof)'
complete -c ezprof-graphserver -f -a '(__ezprof)'
