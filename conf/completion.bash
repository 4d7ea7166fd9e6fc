# Completion for bash: files, the options that `tacit -h` names, and the words that --explain knows.
_tacit()
{
	local word=$2 words
	case $3 in
	-C) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
	-n | -N | -m | -L | -cc) COMPREPLY=() ;;
	--explain)
		words=$("$1" -dK all 2>/dev/null | sed -n 's/^implemented *[GDFBL-]\{5\} \([a-z][^ ]*\).*/\1/p' | sort -u)
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
		;;
	*)
		if [[ $word == -* ]]; then
			words=$("$1" -h 2>&1 | grep -oE -- '(^|[[:space:]])--?[A-Za-z]+')
			mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
		fi
		;;
	esac
}
complete -o filenames -F _tacit tacit haproxy
