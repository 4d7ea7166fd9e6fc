#compdef tacit haproxy
# Completion for zsh: files, the options that `tacit -h` names, and the words that --explain knows.
local program=${words[1]} previous=${words[CURRENT-1]}
case $previous in
-C) _directories ;;
-n | -N | -m | -L | -cc) _message 'a value' ;;
--explain) compadd -- ${(f)"$($program -dK all 2>/dev/null | sed -n 's/^implemented *[GDFBL-]\{5\} \([a-z][^ ]*\).*/\1/p' | sort -u)"} ;;
*)
	if [[ $PREFIX == -* ]]; then
		compadd -- ${(f)"$($program -h 2>&1 | grep -oE -- '(^|[[:space:]])--?[A-Za-z]+' | tr -d ' ')"}
	else
		_files
	fi
	;;
esac
