# Completion for bash: files, and the options that `tacit -h` names.
_tacit()
{
	local word=$2 options
	case $3 in
	-C) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
	-n | -N | -m | -L | -cc) COMPREPLY=() ;;
	*)
		if [[ $word == -* ]]; then
			options=$("$1" -h 2>&1 | grep -oE -- '(^|[[:space:]])--?[A-Za-z]+')
			mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
		fi
		;;
	esac
}
complete -o filenames -F _tacit tacit haproxy
