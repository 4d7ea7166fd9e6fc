# Completion for fish: files, the options that `tacit -h` names, and the words that --explain knows.
function __tacit_program
    set -l words (commandline -opc)
    command $words[1] $argv 2>&1
end

function __tacit_options
    __tacit_program -h | string match -arg -- '(?:^|\s)(--?[A-Za-z]+)'
end

function __tacit_words
    __tacit_program -dK all | string match -rg -- '^implemented *[GDFBL-]{5} ([a-z]\S*)' | sort -u
end

function __tacit_previous
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end

for program in tacit haproxy
    complete -c $program -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__tacit_options)'
    complete -c $program -n '__tacit_previous --explain' -f -a '(__tacit_words)'
    complete -c $program -n '__tacit_previous -C' -f -a '(__fish_complete_directories)'
    complete -c $program -n '__tacit_previous -n -N -m -L -cc' -f
end
